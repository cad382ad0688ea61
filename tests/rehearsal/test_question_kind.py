"""One kind of question more: registered in one place, it is asked, imported, exported and reported."""

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from analytics.reports.files import report_markdown
from evaluation.forms.screen import build_screen
from evaluation.models import Answer, Study
from evaluation.protocols import get_protocol
from evaluation.protocols.base import Over
from evaluation.protocols.kinds import KINDS, QuestionKind
from evaluation.registry import EntryRefused
from evaluation.services.studies.launch import launch_study
from judging.backends.base import Reply
from judging.parsing.reply import read_reply
from judging.prompting.item_call import ItemCall
from judging.prompting.settings import Settings
from judging.services.judges import create_judge, heuristic_judge, preview_request
from tests.analytics.reports.reading import build_report
from tests.annotator.conftest import address, home, text
from tests.crowd import come
from tests.evaluation.dumps import build
from tests.judging.build import judged

pytestmark = pytest.mark.django_db


class Light(QuestionKind):
    """A traffic light: red, amber or green."""

    key = "light"
    storage = "number"
    form = "scale"
    overs = frozenset({Over.ITEM, Over.RESPONSE})
    rule = "mean"

    def offers(self, question):
        return (0, 1, 2)

    def level(self, question):
        return "ordinal"


class Flag(QuestionKind):
    """One of the colours of a flag that the question names."""

    key = "flag"
    storage = "label"
    form = "choice"
    rule = "majority"
    own_settings = frozenset({"colours"})

    def offers(self, question):
        return tuple(question.form["colours"])


LIGHT = {
    "key": "safe", "kind": "light", "prompt": "How safe is it?",
    "options": {"0": "Red", "1": "Amber", "2": "Green", "form": {"over": "response"}},
}  # fmt: skip
FLAG = {
    "key": "flag", "kind": "flag", "prompt": "Which colour has its flag?",
    "options": {"blue": "A deep blue", "form": {"colours": ["blue", "white"]}},
}  # fmt: skip


@pytest.fixture
def kinds():
    with KINDS.registered(Light()), KINDS.registered(Flag()):
        yield


def dump(tmp_path, *items, questions=(LIGHT, FLAG)):
    spec = {"protocol": "aspects", "title": "Lights", "questions": questions, "steps": {"consent": True}}
    return str(build.write(tmp_path / "lights.jsonl", build.header(spec=spec), *items))


def read_in(tmp_path, *items, **changes):
    call_command(
        "import_study", dump(tmp_path, *items, **changes), slug="lights", owner="owner", progress=False
    )
    return Study.objects.get(slug="lights")


@pytest.fixture
def lights(kinds, tmp_path, owner):
    """Live, from a file."""
    study = read_in(tmp_path, *map(build.item, range(1, 5)))
    study.redundancy, study.items_per_participant, study.steps = 3, 4, {"consent": True}
    study.save()
    launch_study(study)
    return study


def test_people_are_asked_it(lights, client):
    participant = come(lights, "a")
    shown = text(client.get(home(participant)))
    for words in ("How safe is it?", "Amber", "Which colour has its flag?", "A deep blue", "white"):
        assert words in shown
    where = address(client, participant)
    client.post(where, {"safe.r1": "3", "safe.r2": "1", "flag": "red"})
    assert not Answer.objects.exists()
    client.post(where, {"safe.r1": "2", "safe.r2": "0", "flag": "white"})
    answers = Answer.objects.values_list("kind", "question", "part", "number", "label").order_by(
        "question", "part"
    )
    assert list(answers) == [
        ("flag", "flag", "", None, "white"),
        ("light", "safe", "r1", 2, None),
        ("light", "safe", "r2", 0, None),
    ]


def test_judges_are_asked_it(lights, endpoint):
    judge = create_judge(lights, name="m", endpoint=endpoint, model="m")
    item = lights.items.first()
    request = preview_request(judge, item)
    prompt = str(request.messages)
    for words in ("How safe is it?", "Amber", "Which colour has its flag?", "A deep blue"):
        assert words in prompt
    spec = lights.revisions.get().spec
    said = '{"answers": {"safe": {"response_1": "2", "response_2": "0"}, "flag": "blue"}}'
    reading = read_reply(
        ItemCall(lights.protocol_object, spec, item.stimulus, Settings(model="m"), order="r2,r1"),
        Reply(text=said),
    )
    assert reading.data == {"safe": {"r1": 0, "r2": 2}, "flag": "blue"}


def test_it_is_imported_with_its_judgments_and_exported(kinds, owner, tmp_path):
    given = build.judgment(answers={"safe": {"r1": 2, "r2": 1}, "flag": "blue"})
    study = read_in(tmp_path, build.with_judgments(given))
    assert b",safe,light,r1,aspen,2.0," in build.export_bytes(study, "csv")
    (tmp_path / "again.jsonl").write_bytes(build.export_bytes(study))
    again = build.read_in(tmp_path / "again.jsonl", slug="again")
    assert again.study_hash == study.study_hash
    assert again.judgments.get().answers.count() == 3


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        ({"safe": {"r1": 3}}, "safe.r1: 3 is not one of 0, 1, 2"),
        ({"safe": {"r7": 1}}, "safe: no such part: 'r7'"),
        ({"flag": "red"}, "flag: 'red' is not one of blue, white"),
    ],
)
def test_what_it_does_not_offer_is_refused(kinds, owner, tmp_path, answers, sentence):
    with pytest.raises(CommandError, match=sentence):
        read_in(tmp_path, build.with_judgments(build.judgment(answers=answers)))
    assert build.nothing_left()


def test_it_is_reported_with_its_values(lights, admin, client):
    judged(lights, heuristic_judge(lights, "random"))
    for name in ("a", "b"):
        participant = come(lights, name)
        for _ in range(4):
            client.post(address(client, participant), {"safe.r1": "2", "safe.r2": "0", "flag": "white"})
    report = build_report(lights)
    safe, flag = report["questions"]
    assert [point["label"] for point in safe["points"]] == ["Red", "Amber", "Green"]
    assert (safe["form"], safe["level"], flag["form"], flag["level"]) == (
        "rated",
        "ordinal",
        "choice",
        "nominal",
    )
    people = safe["groups"][0]
    assert [(each["system"], each["mean"]["value"]) for each in people["by_system"]] == [
        ("aspen", 2),
        ("birch", 0),
    ]
    assert [each["n"] for each in flag["groups"][0]["distribution"]] == [0, 8]
    assert "A deep blue" in report_markdown(report)
    page = admin.get(reverse("analytics:study-report", args=["lights"])).content.decode()
    assert "How safe is it?" in page
    assert "Amber" in page


def test_a_draft_is_given_one(kinds, admin, owner, tmp_path):
    study = read_in(tmp_path, build.item())
    where = reverse("admin:evaluation_study_change", args=[study.slug])
    page = admin.get(where, {"page": "questions"}).content.decode()
    assert '<option value="light">' in page
    assert "How safe is it?" in page


def test_an_unknown_kind_and_an_unknown_setting_are_refused_at_import(kinds, owner, tmp_path):
    with pytest.raises(CommandError, match="'siren' is not one of"):
        read_in(tmp_path, build.item(), questions=[LIGHT | {"kind": "siren"}])
    with pytest.raises(CommandError, match="form has 'colours', which no question has"):
        read_in(tmp_path, build.item(), questions=[LIGHT | {"options": {"form": {"colours": ["red"]}}}])


# --- what was forgotten -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("forgotten", "sentence"),
    [
        ({"storage": ""}, r"it lacks storage \(the column that its answers fill"),
        ({"form": ""}, r"it lacks form \(how it is answered"),
        ({"offers": QuestionKind.offers}, r"it lacks offers \(the values to choose from\) or clean"),
        ({"key": "a_very_long_name"}, r"it lacks a key of at most 12 characters"),
    ],
)
def test_a_forgotten_part_is_named(forgotten, sentence):
    with pytest.raises(EntryRefused, match=sentence):
        KINDS.register(type("Hasty", (Light,), {"key": "hasty", **forgotten})())


def test_a_form_that_nothing_draws_or_asks_is_named(tmp_path, owner):
    class Map(Light):
        key = "map"
        form = "map"

    with KINDS.registered(Map()):
        study = read_in(tmp_path, build.item(), questions=[LIGHT | {"kind": "map"}])
        launch_study(study)
        item, spec = study.items.get(), study.revisions.get().spec
        with pytest.raises(
            EntryRefused, match=r"No field draws .* 'map': .* templates/evaluation/_map\.html"
        ):
            build_screen(get_protocol("aspects"), spec, item.stimulus, "r1,r2")
        judge = create_judge(study, name="random", backend="random")
        with pytest.raises(
            EntryRefused, match=r"No judge can be asked .* 'map': .* judging\.prompting\.cells"
        ):
            preview_request(judge, item)
