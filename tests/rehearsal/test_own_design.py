"""Two designs without a line of code: put together on the design page, judged by people and judges, and reported."""

import re

import orjson
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotator.models import Participant
from annotator.panels.services.personal_links import make_links
from evaluation.admin.design.sections import PAGES
from evaluation.models import Answer, Rater, Study
from evaluation.protocols import QuestionSpec
from evaluation.services.studies.compilation import compile_spec
from judging.services.judges import heuristic_judge
from tests.annotator.conftest import address, home
from tests.evaluation.admin.test_forms import values_of
from tests.evaluation.dumps import build
from tests.judging import endpoint as endpoints
from tests.judging.build import judged, make_judge
from tests.rehearsal import own_forms

pytestmark = pytest.mark.django_db


@pytest.fixture
def served():
    with endpoints.serve() as server:
        yield server


def begin(admin):
    """A draft from the form for new studies."""
    new = reverse("admin:evaluation_study_add")
    data = {"title": "Own", "slug": "own", "protocol": "custom", "arms": "plain"}
    assert admin.post(new, data).status_code == 302
    return Study.objects.get(slug="own")


def save(admin, study, change):
    """The design's pages as they are, with these changes."""
    for part in PAGES:
        where = design(study, part)
        page = admin.get(where)
        data = {name: value for name, value in values_of(page).items() if not name.startswith("step_")}
        change(page, data)
        answer = admin.post(where, data)
        assert answer.status_code == 302, answer.context["errors"]


def design(study, page):
    return reverse("admin:evaluation_study_change", args=[study.slug]) + f"?page={page}"


def add(*questions):
    """Rows of questions: key, kind and prompt."""

    def change(page, data):
        for number, (key, kind, prompt) in enumerate(questions):
            row = {
                "key": key,
                "kind": kind,
                "prompt": prompt,
                "shown": "always",
                "required": "on",
                "position": number,
            }
            data.update({f"questions-{number}-{name}": str(value) for name, value in row.items()})
        data["questions-TOTAL_FORMS"] = str(len(questions))

    return change


def answered(key, **options):
    """How a question is answered: fields of its options by how their labels begin."""

    def change(page, data):
        for inline in page.context["inline_admin_formsets"]:
            for form in inline.formset.forms:
                if getattr(form.instance, "kind", None) and form.instance.key == key:
                    labels = [part.label for part in form.fields["options"].keys]
                    for label, value in options.items():
                        (place,) = (n for n, each in enumerate(labels) if each.startswith(label))
                        data[f"{form['options'].html_name}_{place}"] = value

    return change


def needs(**values):
    def change(page, data):
        data.pop("needs_query", None)
        data.update({name: str(value) for name, value in values.items() if value is not None})

    return change


def launch(admin, study, items, work_on_jobs):
    lines = b"\n".join(map(orjson.dumps, items))
    file = SimpleUploadedFile("items.jsonl", lines)
    work_on_jobs(
        lambda: admin.post(reverse("admin:evaluation_study_upload", args=[study.slug]), {"file": file})
    )
    assert study.items.count() == len(items)
    work_on_jobs(
        lambda: admin.post(reverse("admin:evaluation_study_launch", args=[study.slug]), {"confirmed": "1"})
    )
    study.refresh_from_db()
    assert study.status == "live"


def enter(study, group=""):
    """Somebody who comes by the study's address, with a group at its end."""
    client = Client()
    door = reverse("annotator:entry", args=[study.slug])
    page = client.get(door, {"group": group}).content.decode()
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page))
    client.post(door, {**fields, "choice": "agree"})
    return client, Participant.objects.latest("pk")


def test_summaries_rated_by_experts_and_crowd(admin, owner, served, work_on_jobs):
    study = begin(admin)
    save(admin, study, add(*((key, "scale", key.capitalize()) for key in own_forms.ASPECTS)))
    save(
        admin,
        study,
        needs(
            needs_least=2, needs_most=2, needs_document="News article", groups="experts, crowd", redundancy=4
        ),
    )
    study.refresh_from_db()
    assert study.needs == {"query": False, "least": 2, "most": 2, "document": "News article"}
    assert [question.form["over"] for question in _specs(study)] == ["response"] * 4
    items = [own_forms.article(n, arm=study.arms.get().key) for n in range(1, 4)]
    launch(admin, study, items, work_on_jobs)

    links = make_links(study, ["Ines"], group="experts")
    assert "Ines" in admin.get(reverse("admin:evaluation_study_links", args=[study.slug])).content.decode()
    door = reverse("annotator:entry", args=[study.slug])
    Client().post(door, {"personal": links[0].key, "choice": "agree", "group": "crowd"})
    people = [enter(study, group) for group in ("experts", "crowd", "nobody")]
    groups = Rater.objects.filter(kind="person").order_by("pk").values_list("group", flat=True)
    assert list(groups) == [
        "experts",
        "experts",
        "crowd",
        "",
    ]  # a link keeps its group, an unknown name is none
    for lower, (client, participant) in zip((0, 1, 1), people, strict=True):
        for _ in items:
            fields = {f"{key}.r{n}": str(n + lower) for key in own_forms.ASPECTS for n in (1, 2)}
            client.post(address(client, participant), fields)
    assert Answer.objects.filter(judgment__rater__kind="person").count() == 3 * 3 * 8
    judged(study, heuristic_judge(study, "random"))
    run, _ = judged(study, make_judge(study, served))
    assert study.judgments.filter(rater=run.judging.rater, outcome="ok").count() == 3
    table = build.export_bytes(study, "csv").decode().splitlines()
    assert ",experts," in table[1]
    report = admin.get(reverse("analytics:study-report", args=[study.slug])).content.decode()
    assert "Groups of people" in report
    assert "People, experts" in report


def test_facts_with_a_precision_by_experts_and_crowd(admin, owner, work_on_jobs):
    study = begin(admin)
    kinds = [("relevant", "checklist", "Is it relevant?"), ("correct", "choice", "Is it correct?")]
    save(admin, study, needs(needs_query="on", needs_least=1, needs_most=1, needs_document=""))
    save(admin, study, add(*kinds))
    save(admin, study, answered("relevant", Asked="claim"))
    save(admin, study, answered("correct", Asked="claim", Choices="yes | Yes\nno | No\nunsure | Can't say"))
    where = design(study, "questions")
    data = {
        name: value for name, value in values_of(admin.get(where)).items() if not name.startswith("step_")
    }
    wrong = admin.post(where, data | {"shares": "precision, correct = yes"})
    assert "Line 1: 1 parts, and a share has 4" in wrong.content.decode()
    save(
        admin,
        study,
        needs(shares="p | Precision | correct = right | relevant = yes", groups="experts, crowd"),
    )
    assert any("&#x27;right&#x27; is no answer to" in line for line in overview(admin, study))
    line = "precision | Precision | correct = yes | relevant = yes"
    save(admin, study, needs(shares=line, redundancy=2))
    assert line in admin.get(where).content.decode()
    items = [
        {
            "key": f"f{n}",
            "arm": study.arms.get().key,
            "query": {"key": f"q{n}", "text": f"What of {n}?"},
            "responses": [{"system": "aspen", "text": "So.", "claims": ["One.", "Two.", "Three."]}],
        }
        for n in range(1, 4)
    ]
    launch(admin, study, items, work_on_jobs)
    assert study.revisions.get().spec["shares"] == study.shares
    assert "correct = yes among relevant = yes" in admin.get(where).content.decode()
    # One comes by a personal link, one from Prolific with the group at the end of the address.
    link, *_ = make_links(study, ["Ines"], group="experts")
    expert = Client()
    door = reverse("annotator:entry", args=[study.slug])
    expert.post(door, {"personal": link.key, "choice": "agree"})
    at_expert = Participant.objects.latest("pk")
    visit = {"PROLIFIC_PID": "5f" * 12, "STUDY_ID": "6a" * 12, "SESSION_ID": "7b" * 12, "group": "crowd"}
    crowd = Client()
    page = crowd.get(door, visit).content.decode()
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page))
    crowd.post(door, {**fields, "choice": "agree"})
    at_crowd = Participant.objects.latest("pk")
    assert [at.rater.group for at in (at_expert, at_crowd)] == ["experts", "crowd"]
    for client, participant, said in ((expert, at_expert, "yes"), (crowd, at_crowd, "no")):
        for _ in items:
            parts = {f"correct.c{n}.r1": "yes" for n in (1, 2, 3)} | {"correct.c2.r1": said}
            relevant = {f"relevant.c{n}.r1": value for n, value in ((1, "1"), (2, "1"), (3, "0"))}
            client.post(address(client, participant), parts | relevant)
    assert Answer.objects.filter(question="correct").count() == 2 * 3 * 3
    report = admin.get(reverse("analytics:study-report", args=[study.slug])).content.decode()
    assert "Shares among chosen answers" in report
    assert "The share of “Yes” to “Is it correct?” among “Yes” to “Is it relevant?”" in report
    found = admin.get(reverse("analytics:study-report-json", args=[study.slug])).json()
    shares = {
        each["group"]: each["shares"][0]["overall"]["pooled"]["value"]
        for each in found["records"]
        if each["figure"] == "ratings/chosen_shares"
    }
    assert shares == {"person": 0.75, "person-crowd": 0.5, "person-experts": 1}


def overview(admin, study):
    page = admin.get(reverse("admin:evaluation_study_overview", args=[study.slug]))
    return page.content.decode().splitlines()


def test_conversations_with_a_vote_per_turn(admin, owner, served, work_on_jobs):
    study = begin(admin)
    kinds = [
        ("vote", "preference", "Which reply?"),
        ("flaw", "choice", "What is wrong?"),
        ("all", "preference", "All?"),
    ]
    save(admin, study, needs(needs_query="on", needs_least=2, needs_most=2, needs_document=""))
    save(admin, study, add(*kinds))
    save(admin, study, answered("vote", Asked="turn"))
    save(admin, study, answered("flaw", Asked="turn.response", Choices="none | Nothing\nwrong | Something"))
    assert [str(question.over) for question in _specs(study)] == ["turn", "turn.response", "item"]
    items = [own_forms.conversation(n, arm=study.arms.get().key) for n in range(1, 4)]
    launch(admin, study, items, work_on_jobs)
    client, participant = enter(study)
    page = client.get(home(participant)).content.decode()
    assert page.index("How do I boil") < page.index("Turn 2") < page.index("And if I live on a mountain?")
    fields = {"vote.t1": "r1", "vote.t2": "r2", "all": "tie"} | {
        f"flaw.t{turn}.r{number}": "none" for turn in (1, 2) for number in (1, 2)
    }
    client.post(address(client, participant), fields | {"vote.t2": "r3"})
    assert not Answer.objects.exists()
    for _ in items:
        client.post(address(client, participant), fields)
    assert Answer.objects.filter(question="vote", part="t2", label="r2").count() == 3
    judged(study, heuristic_judge(study, "longer"))
    run, _ = judged(study, make_judge(study, served))
    assert study.judgments.filter(rater=run.judging.rater, outcome="ok").count() == 3
    assert "Turn 2, said to it: And if I live on a mountain?" in str(served.log[-1].body)
    report = admin.get(reverse("analytics:study-report", args=[study.slug])).content.decode()
    assert "Which reply? (turn 2)" in report


def _specs(study):
    return [QuestionSpec.from_json(each) for each in compile_spec(study)["questions"]]
