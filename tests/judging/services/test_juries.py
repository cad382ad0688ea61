"""Juries: made in one act, run as judges, a group among themselves and one rater beside people."""

import io
import re

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from analytics.frames.rows import VOTES
from analytics.frames.study import study_frame
from analytics.reports.build import build_report
from evaluation.filters import TOGETHER, Filters
from evaluation.models import Answer, Judgment, Rater, Study
from evaluation.refusals import FieldsRefused
from evaluation.services.studies.verification import verify_study
from judging.models import Judge, Jury
from judging.services.estimates.run_estimate import estimate
from judging.services.judges import edit_judge
from judging.services.juries import PERSONAS, Persona, create_jury, read_persona
from judging.services.runs.judge_runs import start_run
from judging.services.runs.work import work_on
from tests.analytics.frames.test_pairs import record
from tests.answers import change_answers
from tests.judging import endpoint
from tests.judging.build import make_judge
from tests.judging.generating import make_endpoint
from tests.judging.questions_study import ASPECTS, make_questions_study

OWN = re.compile(r"^(\w+)\.response_1: (\d+)$", re.MULTILINE)


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


def make_jury(study, served, name="crowd", **fields):
    like = make_judge(study, served, "coin", name="like")
    return create_jury(study, name=name, endpoint=like.endpoint, model="coin", **fields)


def run_all(jury):
    runs = [start_run(jury.study, judge) for judge in jury.judges.order_by("pk")]
    for run in runs:
        work_on(run.pk)
    return runs


def text(request):
    return "\n".join(each["content"] for each in request.body["messages"])


def test_the_jury_of_agent_cq_on_25_questions(owner, served):
    study = make_questions_study(owner)
    jury = make_jury(
        study, served, one_call_per_question=True, options={"last_question": "overall"}, combination="mean"
    )
    judges = list(jury.judges.order_by("pk"))
    assert [(each.name, each.temperature) for each in judges] == [
        ("crowd-conservative", 0.2), ("crowd-balanced", 0.5), ("crowd-creative", 0.7),
    ]  # fmt: skip
    assert sum(estimate(study, judge).calls for judge in judges) == 525
    runs = run_all(jury)
    assert served.total == 525
    assert all(run.calls.filter(outcome="ok").count() == 175 for run in runs)
    by_text = {persona.text: run for persona, run in zip(PERSONAS, runs, strict=True)}
    last = [each for each in served.log if "\noverall: " in text(each)]
    assert len(last) == 75
    for item in study.items.all():
        for persona, run in by_text.items():
            answers = Answer.objects.filter(judgment__rater=run.judging.rater, judgment__item=item)
            given = {each.question: f"{each.number:g}" for each in answers}
            [asked] = [
                each
                for each in last
                if persona in text(each) and item.stimulus["responses"][0]["text"] in text(each)
            ]
            assert dict(OWN.findall(text(asked))) == {key: given[key] for key in ASPECTS}
            assert served.log.index(asked) > max(
                place for place, each in enumerate(served.log)
                if persona in text(each) and item.stimulus["responses"][0]["text"] in text(each) and each is not asked
            )  # fmt: skip
    assert list(verify_study(study)) == []
    groups = {group.key: group for group in study_frame(study).answers.groups}
    assert {key: (group.kind, len(group.raters)) for key, group in groups.items()} == {
        "jury-crowd-members": ("jury", 3), "jury-crowd": ("judge", 1),
    }  # fmt: skip
    members, one = groups["jury-crowd-members"].answers["overall"], groups["jury-crowd"].answers["overall"]
    means = [members.value[members.item == item].mean() for item in range(25)]
    assert np.allclose(one.value[np.argsort(one.item)], means)


def test_personas_and_settings_can_be_given(study, served):
    jury = make_jury(
        study, served, personas=[Persona("a", 0.1, "You are kind."), Persona("b", 1.0, "")], samples=2
    )
    first, second = jury.judges.order_by("pk")
    assert (first.name, first.samples, second.temperature) == ("crowd-a", 2, 1.0)
    edited = edit_judge(first, samples=1)
    assert edited.jury == jury
    run = run_all(jury)[0]
    assert run.judging.rater.about["jury"] == {"name": "crowd", "combination": "majority"}
    assert sum("The kind of judge that you are: You are kind." in text(each) for each in served.log) == 12
    assert edit_judge(edited, samples=3).jury == jury, "a new version is a member in its place"


def test_members_have_models_of_their_own(study, served):
    make_endpoint(served, "there", models=("first",))
    jury = make_jury(
        study, served, own_system="aspen", self_preference="none", price_prompt=3,
        personas=[
            Persona("coin", 0.0, ""), Persona("first", 0.0, "", "first", "there"), Persona("longer", 0.1, "", "longer"),
        ],
    )  # fmt: skip
    coin, first, longer = jury.judges.order_by("pk")
    assert [(each.model, each.endpoint.name) for each in (coin, first, longer)] == [
        ("coin", "here"), ("first", "there"), ("longer", "here"),
    ]  # fmt: skip
    assert [(each.own_system, each.price_prompt) for each in (coin, first)] == [("aspen", 3), ("", None)]
    runs = run_all(jury)
    assert {seen.model for seen in served.log} == {"coin", "first", "longer"}
    assert all(run.calls.exclude(outcome="ok").count() == 0 for run in runs)
    groups = {group.key: len(group.judgments.raters) for group in study_frame(study).pairs[0].groups}
    assert groups == {"jury-crowd-members": 3, "jury-crowd": 1}
    said = [
        each for each in build_report(study, replicates=50)["methods"] if "a member of the jury crowd" in each
    ]
    assert [each.split(";")[0] for each in said] == [
        "Judge crowd-coin v1: the model coin", "Judge crowd-first v1: the model first",
        "Judge crowd-longer v1: the model longer",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("a=0.2: You are kind.", Persona("a", 0.2, "You are kind.")),
        ("creative=1", Persona("creative", 1.0, PERSONAS[2].text)),
        ("b=0 by llama3:8b", Persona("b", 0.0, "", "llama3:8b")),
        ("b=0 by llama3:8b @ here: Be: kind.", Persona("b", 0.0, "Be: kind.", "llama3:8b", "here")),
        ("b=0 by org/m@here:Be kind.", Persona("b", 0.0, "Be kind.", "org/m", "here")),
        ("b=0 by org/m: Be kind.", Persona("b", 0.0, "Be kind.", "org/m")),
    ],
)
def test_a_member_is_read_from_a_line(line, read):
    assert read_persona(line) == read


@pytest.mark.parametrize("line", ["creative", "a=x", "a=0.2 by", "a=0.2 by two words", "a=0 by m @ no where"])
def test_a_line_that_is_no_member_is_refused(line):
    with pytest.raises(ValueError, match="a member is NAME=TEMPERATURE, and if need be by MODEL @ ENDPOINT"):
        read_persona(line)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (
            {"personas": [PERSONAS[0], Persona("b", 0.0, "", "m", "nowhere")]},
            "b: there is no endpoint 'nowhere'",
        ),
        ({"personas": PERSONAS[:1]}, "at least two members"),
        ({"personas": [PERSONAS[0]] * 2}, "a name of its own"),
        ({"temperature": 0.3}, "comes from their personas"),
        ({"combination": "lottery"}, "lottery"),
        ({"backend": "longer"}, "by chat completions"),
        ({"personas": [*PERSONAS, Persona("wild", 9.0, "")]}, "less than or equal to 2"),
    ],
)
def test_what_is_no_jury_is_refused_and_leaves_nothing_behind(study, served, fields, said):
    with pytest.raises(FieldsRefused, match=said):
        make_jury(study, served, **fields)
    assert not Jury.objects.exists()
    assert not Judge.objects.exclude(name="like").exists()


# --- in the figures ---------------------------------------------------------------------------------------------------


def say(rater, labels):
    """The rater's preferences on the first items, as imported ones are."""
    study = rater.study
    items = study.items.filter(role="main", arm__context_at_judging=False).order_by("pk")
    for item, label in zip(items, labels, strict=False):
        record(study, rater, item, label)


@pytest.fixture
def jury_study(study):
    """Two people, a judge, and a jury of three: its majority is r1, r2, tie and, where all differ, tie."""
    facts = {"reduction": "majority", "jury": {"name": "crowd", "combination": "majority"}}
    for name, said in (("p1", "r1 r2 tie r1"), ("p2", "r1 r2 r1 r2")):
        person = Rater.objects.create(study=study, kind="person", pseudonym=name)
        say(person, said.split())
    for name, about, said in (
        ("alone", {"reduction": "majority"}, "r2 r2 r2 r2"),
        ("j1", facts, "r1 r2 tie r1"), ("j2", facts, "r1 r2 tie r2"), ("j3", facts, "r2 r2 r1 tie"),
    ):  # fmt: skip
        rater = Rater.objects.create(study=study, kind="judge", pseudonym=name, label=name, about=about)
        say(rater, said.split())
    return study


def test_a_jury_is_a_group_among_itself_and_one_rater_beside_others(jury_study):
    frame = study_frame(jury_study, Filters(judges=TOGETHER))
    groups = {group.key: group for group in frame.pairs[0].groups}
    assert {key: group.judgments.raters for key, group in groups.items()} == {
        "person": ("p1", "p2"),
        "judges": ("alone", "jury-crowd"),
        "jury-crowd-members": ("j1", "j2", "j3"),
        "jury-crowd": ("jury-crowd",),
        "alone": ("alone",),
    }
    one = groups["jury-crowd"].judgments
    assert one.label[np.argsort(one.item)].tolist() == [VOTES[each] for each in ("r1", "r2", "tie", "tie")]
    assert sum(len(group.per_rater) for group in frame.judges_apart) == 6, "nobody counts twice"


def test_by_mean_a_jury_prefers_what_its_members_prefer_on_average(jury_study):
    for rater in jury_study.raters.filter(pseudonym__startswith="j"):
        rater.about["jury"]["combination"] = "mean"
        rater.save()
    change_answers(Judgment.objects.filter(rater__pseudonym="j1"), number=0.0)
    one = {group.key: group for group in study_frame(jury_study).pairs[0].groups}["jury-crowd"].judgments
    # 0, 0 and 1; 0, 1 and 1; 0, 1/2 and 0; 0, 1 and 1/2.
    assert one.number[np.argsort(one.item)].round(6).tolist() == [0.333333, 0.666667, 0.166667, 0.5]
    assert one.label[np.argsort(one.item)].tolist() == [VOTES[each] for each in ("r1", "r2", "r1", "tie")]


def test_what_most_of_a_jury_checked_is_its_checklist(study):
    item = study.items.filter(role="main", arm__context_at_judging=True).order_by("pk")[0]
    for name, checks in (("j1", (1, 0)), ("j2", (1, 1)), ("j3", (0, 0))):
        about = {"jury": {"name": "crowd", "combination": "majority"}}
        rater = Rater.objects.create(study=study, kind="judge", pseudonym=name, about=about)
        record(study, rater, item, "r1", checks=dict(zip(("f1.r1", "f1.r2"), checks, strict=True)))
    one = {group.key: group for group in study_frame(study).pairs[0].groups}["jury-crowd"]
    assert dict(zip(one.checks.response.tolist(), one.checks.value.tolist(), strict=True)) == {0: 1, 1: 0}


def test_the_report_holds_the_jury_against_people_once(jury_study):
    report = build_report(jury_study, replicates=50)
    compared = {each["group"] for each in report["records"] if each["figure"] == "judges/labels_vs_people"}
    assert compared == {"jury-crowd", "alone"}
    agreeing = {each["group"] for each in report["records"] if each["figure"] == "agreement/percentage"}
    assert "jury-crowd-members" in agreeing
    assert sorted(each["rater"] for each in report["raters"]) == ["alone", "j1", "j2", "j3", "p1", "p2"]
    [said] = [each for each in report["methods"] if each.startswith("Jury crowd")]
    assert said.startswith("Jury crowd: j1, j2 and j3.")
    assert "combined by majority" in said


def test_one_member_alone_is_a_judge_like_others(jury_study):
    jury_study.raters.filter(pseudonym__in=["j2", "j3"]).update(in_figures=False)
    groups = {group.key for group in study_frame(jury_study).pairs[0].groups}
    assert groups == {"person", "j1", "alone"}


def test_a_dump_keeps_the_jury(jury_study, tmp_path):
    path = tmp_path / "dump.jsonl"
    call_command("export", jury_study.slug, "--out", str(path))
    call_command("import_study", str(path), slug="again", protocol="pairwise")
    again = Study.objects.get(slug="again")
    assert {group.key for group in study_frame(again).pairs[0].groups} >= {"jury-crowd", "jury-crowd-members"}


# --- by the command and on the page -----------------------------------------------------------------------------------


def test_the_command_makes_a_jury(study, served):
    make_judge(study, served, "coin", name="like")
    out = io.StringIO()
    call_command("add_jury", study.slug, "crowd", endpoint="here", model="coin", samples=2, stdout=out)
    assert "has the jury crowd: crowd-conservative, crowd-balanced, crowd-creative." in out.getvalue()
    call_command(
        "add_jury", study.slug, "pair", "--endpoint", "here", "--model", "coin", "--combination", "mean",
        "--persona", "creative=1", "--persona", "dry=0: You are dry.", stdout=out,
    )  # fmt: skip
    creative, dry = Jury.objects.get(name="pair").judges.order_by("pk")
    assert (creative.temperature, creative.options["persona"]) == (1.0, PERSONAS[2].text)
    assert dry.options["persona"] == "You are dry."
    with pytest.raises(CommandError, match="a member is NAME=TEMPERATURE"):
        call_command("add_jury", study.slug, "bad", "--persona", "creative")


def test_the_page_makes_a_jury_of_a_judge_s_settings(study, served, owner, client):
    client.force_login(owner)
    like = make_judge(study, served, "coin", name="like", samples=3)
    page = reverse("admin:judging_judge_jury", args=[study.slug])
    shown = client.get(page).content.decode()
    assert "conservative=0.2: You are strict." in shown
    lines = "a=0.2: You are kind.\nb=x"
    refused = client.post(page, {"name": "crowd", "like": like.pk, "combination": "mean", "personas": lines})
    assert refused.status_code == 422
    assert "b=x: a member is NAME=TEMPERATURE" in refused.content.decode()
    made = client.post(
        page, {"name": "crowd", "like": like.pk, "combination": "mean", "personas": "a=0.2: Be kind.\nb=0.9"}
    )
    jury = Jury.objects.get()
    assert "crowd-b" in client.get(made["Location"]).content.decode(), "to be started together"
    assert [(each.name, each.samples) for each in jury.judges.order_by("pk")] == [
        ("crowd-a", 3),
        ("crowd-b", 3),
    ]
    again = client.post(
        page, {"name": "crowd", "like": like.pk, "combination": "mean", "personas": "a=0\nb=1"}
    )
    assert "The study already has a jury crowd." in again.content.decode()
