"""One protocol more: registered in one place, it is begun, imported, judged by people and judges, and reported."""

import json

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from analytics.reports.files import report_markdown
from evaluation.models import Answer, Study
from evaluation.protocols import PROTOCOLS, Kind, Problem, Protocol, QuestionSpec
from evaluation.protocols.requirements.items import check_arm, check_query, check_response_count
from evaluation.registry import EntryRefused
from evaluation.services.studies.launch import launch_study
from judging.services.judges import create_judge, heuristic_judge, preview_request
from tests.analytics.reports.reading import build_report
from tests.annotator.conftest import address, home, text
from tests.crowd import come
from tests.evaluation.dumps import build
from tests.judging.build import judged

pytestmark = pytest.mark.django_db


class Tone(Protocol):
    """How friendly answers sound."""

    key = "tone"
    label = "Tone of voice"

    def default_questions(self):
        form = {"over": "response", "low": 1, "high": 5}
        choices = {"a": "A friend", "b": "A clerk", "form": {"choices": ["a", "b"]}}
        return (
            QuestionSpec(
                "warmth", Kind.SCALE, "How warm is it?", options={"1": "Cold", "5": "Warm", "form": form}
            ),
            QuestionSpec("voice", Kind.CHOICE, "Who speaks?", options=choices),
        )

    def default_texts(self):
        return {
            "consent": "You will rate tones.",
            "guideline": "Listen to the words.",
            "thanks": "Thank you.",
        }

    def check_item(self, spec, stimulus):
        if any("ice" in each["text"] for each in stimulus["responses"]):
            return [Problem("response_empty", "responses", {"part": "the ice"})]
        return [*check_arm(spec, stimulus), *check_query(stimulus), *check_response_count(stimulus, 1, 2)]


@pytest.fixture
def tone():
    with PROTOCOLS.registered(Tone()) as protocol:
        yield protocol


def dump(tmp_path, *items):
    spec = {"protocol": "tone", "title": "Tones", "steps": {"consent": True}}
    return str(build.write(tmp_path / "tones.jsonl", build.header(spec=spec), *items))


@pytest.fixture
def tones(tone, tmp_path, owner):
    """Live, from a file."""
    call_command(
        "import_study",
        dump(tmp_path, *map(build.item, range(1, 5))),
        slug="tones",
        owner="owner",
        progress=False,
    )
    study = Study.objects.get(slug="tones")
    study.redundancy, study.items_per_participant, study.steps = 2, 4, {"consent": True}
    study.save()
    launch_study(study)
    return study


def test_a_study_of_it_is_begun_with_its_questions_and_texts(tone, admin):
    new = reverse("admin:evaluation_study_add")
    assert "Tone of voice" in admin.get(new).content.decode()
    fields = {"title": "Tones", "slug": "tones", "protocol": "tone", "arms": "plain"}
    assert admin.post(new, fields).status_code == 302
    study = Study.objects.get(slug="tones")
    assert list(study.questions.values_list("key", flat=True)) == ["warmth", "voice"]
    assert study.texts.get(key="guideline").body == "Listen to the words."


def test_its_check_of_an_item_speaks_at_import(tone, tmp_path):
    icy = build.item(1, responses=[{"system": "aspen", "text": "ice"}])
    with pytest.raises(CommandError, match="the ice is empty"):
        call_command("import_study", dump(tmp_path, icy), slug="tones", progress=False)
    assert build.nothing_left()


def test_a_person_and_judges_answer_the_same_form(tones, client, endpoint):
    participant = come(tones, "a")
    shown = text(client.get(home(participant)))
    for words in ("How warm is it?", "Warm", "Who speaks?", "A clerk", "Listen to the words."):
        assert words in shown
    where = address(client, participant)
    assert client.post(where, {"warmth.r1": "6", "voice": "a"}, follow=True).redirect_chain
    assert not Answer.objects.exists()
    client.post(where, {"warmth.r1": "5", "warmth.r2": "2", "voice": "b"})
    answers = Answer.objects.values_list("question", "part", "number", "label").order_by("question", "part")
    assert list(answers) == [("voice", "", None, "b"), ("warmth", "r1", 5, None), ("warmth", "r2", 2, None)]

    judge = create_judge(tones, name="m", endpoint=endpoint, model="m")
    prompt = str(preview_request(judge, tones.items.first()).messages)
    for words in ("How warm is it?", "Who speaks?", "A clerk", "Listen to the words."):
        assert words in prompt
    run, _ = judged(tones, heuristic_judge(tones, "random"))
    assert tones.judgments.filter(rater=run.judging.rater, outcome="ok").count() == 4


def test_it_is_exported_and_read_in_again(tones, tmp_path):
    judged(tones, heuristic_judge(tones, "random"))
    lines = build.export_bytes(tones)
    assert json.loads(lines.splitlines()[0])["spec"]["protocol"] == "tone"
    assert b"warmth" in build.export_bytes(tones, "csv")
    (tmp_path / "again.jsonl").write_bytes(lines)
    again = build.read_in(tmp_path / "again.jsonl", slug="again")
    assert again.study_hash == tones.study_hash
    assert build.export_bytes(again, "csv").count(b"warmth") == build.export_bytes(tones, "csv").count(
        b"warmth"
    )


def test_its_answers_are_reported(tones, admin):
    judged(tones, heuristic_judge(tones, "random"))
    report = build_report(tones)
    assert [each["key"] for each in report["questions"]] == ["warmth", "voice"]
    assert "How warm is it?" in report_markdown(report)
    page = admin.get(reverse("analytics:study-report", args=["tones"]))
    assert page.status_code == 200
    assert "Who speaks?" in page.content.decode()


def test_a_forgotten_part_is_named():
    class Hasty(Tone):
        key = "hasty"
        default_texts = Protocol.default_texts

    with pytest.raises(
        EntryRefused, match=r"The protocol 'hasty' .* lacks default_texts \(the texts that a new"
    ):
        PROTOCOLS.register(Hasty())
