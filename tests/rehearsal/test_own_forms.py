"""A form of one's own, from a file to the report: summaries of a document, conversations turn by turn, claims."""

import pytest
from django.core.management import call_command

from evaluation.models import Answer, Study
from evaluation.services import launch_study
from judging.services import create_judge, preview_request
from tests.annotator.conftest import address, home
from tests.crowd import come
from tests.evaluation.dumps import build
from tests.rehearsal import own_forms

pytestmark = pytest.mark.django_db


def read_in(path, header, *items, slug="own"):
    file = build.write(path / f"{slug}.jsonl", header, *items)
    call_command("import_study", str(file), slug=slug, owner="owner", progress=False)
    return Study.objects.get(slug=slug)


def live(study, **fields):
    study.redundancy, study.items_per_participant, study.steps = 4, 4, {"consent": False}
    for name, value in fields.items():
        setattr(study, name, value)
    study.save()
    launch_study(study)
    return study


@pytest.fixture
def summaries(tmp_path, owner):
    rows = own_forms.aspect_rows()
    head = own_forms.header(rows, own_forms.SUMMARIES)
    return live(read_in(tmp_path, head, *map(own_forms.article, range(1, 5))))


def test_the_document_has_a_place_of_its_own(summaries, client, endpoint):
    participant = come(summaries, "a")
    page = client.get(home(participant)).content.decode()
    assert page.index("News article") < page.index("The council of town") < page.index("Response 1")
    assert 'class="source" tabindex="0"' in page
    assert "<strong>Tuesday</strong>" in page
    client.post(
        address(client, participant),
        {f"{key}.r{n}": str(n + 2) for key in own_forms.ASPECTS for n in (1, 2)},
    )
    assert Answer.objects.filter(part="r2", number=4).count() == 4
    judge = create_judge(summaries, name="m", endpoint=endpoint, model="m")
    prompt = str(preview_request(judge, summaries.items.first()).messages)
    assert "=== News article [" in prompt
    assert "It voted for the bridge." in prompt
    assert "Does it say only what the document says?" in prompt  # the guideline is written from the questions
