"""Revisions of a study under way: who sees which words, what may not change, and that all of it is pooled."""

import json
import re
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command
from django.http import Http404

from analytics.reports.markdown import report_markdown
from annotator.models import Participant, Step
from annotator.services.work.skip import skip, skips_left
from annotator.services.work.submit import advance_participant
from evaluation.models import Judgment, Revision, Status, Study, StudyMember
from evaluation.permissions import NoRight
from evaluation.refusals import Refused, WrongState
from evaluation.services.studies.compilation import compile_spec
from evaluation.services.studies.creation import PAPER_ARMS
from evaluation.services.studies.launch import close_study, pause_study
from evaluation.services.studies.revision import revise_study
from evaluation.services.studies.verification import verify_study
from tests.analytics.reports.reading import build_report
from tests.annotator.conftest import text
from tests.crowd import before, come, hand_in, make_crowd_study
from tests.evaluation.dumps.build import content, export_bytes, read_in
from tests.factories import NO_STEPS, admit, launch, make_item, make_query, make_study

pytestmark = pytest.mark.django_db
ONE_ARM = PAPER_ARMS[1:2]
NEW_WORDS = {
    "title": "Second try",
    "texts": {"guideline": "Prefer the **shorter** response.", "thanks": "Many thanks."},
    "questions": [
        {"key": "preference", "prompt": "Which one would you keep?", "options": {"tie": "Neither"}},
        {"key": "justification", "help": "One sentence is enough.", "required": False},
    ],
}


@pytest.fixture(scope="module")
def made(around_module):
    owner = get_user_model().objects.create_user("owner", password="owner-password", is_staff=True)
    return make_crowd_study("live", owner=owner, queries=6, arms=ONE_ARM).pk


@pytest.fixture
def owner(db, made):
    return get_user_model().objects.get(username="owner")


@pytest.fixture
def live(made, owner):
    return Study.objects.get(pk=made)


def revise(study, **changes):
    return revise_study(study=study, changes=changes)


def page(client, participant):
    return text(client.get(f"/p/{participant.token}/"))


def stored(study):
    study.refresh_from_db()
    return study.study_hash, list(study.revisions.values_list("number", "spec_hash")), compile_spec(study)


# --- who sees what --------------------------------------------------------------------------------------------


def test_who_was_there_goes_on_with_the_old_words_and_who_comes_sees_the_new(client, live):
    old = come(live, "old")
    revise(live, **NEW_WORDS)
    new = come(live, "new")
    for participant, seen, unseen in [
        (old, ("Which response is better overall?", "Tie", "Two or three sentences"), "Which one would you keep?"),
        (new, ("Which one would you keep?", "Neither", "One sentence is enough."), "Which response is better"),
    ]:  # fmt: skip
        shown = page(client, participant)
        assert all(words in shown for words in seen)
        assert unseen not in shown
        hand_in(participant.token)
    assert "Which response is better overall?" in page(client, old), "to their end"
    assert "Second try" in text(client.get("/s/live/"))
    judged = dict(Judgment.objects.values_list("rater__participant__external_id", "revision__number"))
    assert judged == {"old": 1, "new": 2}
    while before(old.token):
        hand_in(old.token)
    assert "Your judgments have been recorded." in page(client, old)


def test_rules_of_the_way_change_for_newcomers_only(live):
    old = come(live, "old")
    revise(live, skips={"per_participant": 1}, steps={"instructions": True, "comments": True})
    new = come(live, "new")
    assert (skips_left(old), skips_left(new)) == (3, 1)
    assert (old.step, new.step) == (Step.ITEMS, Step.INSTRUCTIONS)
    advance_participant(new.token)
    for participant in (old, new):
        while before(participant.token):
            hand_in(participant.token)
    steps = dict(Participant.objects.values_list("external_id", "step"))
    assert steps == {"old": Step.DONE, "new": Step.COMMENTS}
    assert list(verify_study(live)) == []


def test_a_second_revision_builds_on_the_first(live):
    first, second = revise(live, texts={"thanks": "One."}), revise(live, texts={"guideline": "Two."})
    assert (first.number, second.number) == (2, 3)
    assert second.spec["texts"]["thanks"] == "One."
    assert live.revisions.get(number=1).spec["texts"]["thanks"].startswith("Thank you.")


def test_nobody_agrees_to_a_text_that_they_have_not_read(client, live):
    def hidden():
        return re.search(r'name="consent" value="([0-9a-f]{64})"', client.get("/s/live/").content.decode())[1]

    read = hidden()
    revise(live, texts={"consent": "We also keep your shoe size."})
    refused = client.post("/s/live/", {"choice": "agree", "consent": read})
    assert refused.status_code == 303, "so that loading it again agrees to nothing"
    answer = client.get(refused["Location"])
    assert "has changed since you opened it" in text(answer)
    assert "shoe size" in text(answer)
    assert not Participant.objects.exists()
    assert client.post("/s/live/", {"choice": "agree", "consent": hidden()}).status_code == 303
    assert Participant.objects.get().consent_version == hidden() != read


def test_other_words_keep_the_consent_that_was_read(client, live):
    read = re.search(r'name="consent" value="([0-9a-f]+)"', client.get("/s/live/").content.decode())[1]
    revise(live, **NEW_WORDS)
    assert client.post("/s/live/", {"choice": "agree", "consent": read}).status_code == 303
    assert Participant.objects.get().revision.number == 2


# --- what holds afterwards ------------------------------------------------------------------------------------


@pytest.fixture
def pooled(live):
    """Judged in two revisions."""
    people = [come(live, "a"), come(live, "b")]
    revise(live, **NEW_WORDS)
    people += [come(live, "c"), come(live, "d")]
    skip(people[3].token, before(people[3].token).pk)
    for participant in people:
        while before(participant.token):
            hand_in(participant.token)
    return live


def test_hashes_and_rows(live):
    before_it = live.study_hash
    revision = revise(live, **NEW_WORDS)
    assert live.study_hash != before_it
    assert compile_spec(live) == revision.spec, "the rows say what the latest revision says"
    assert set(live.items.exclude(stimulus_hash="").values_list("pk")) == set(live.items.values_list("pk"))
    assert list(verify_study(live)) == []


def test_verify_finds_a_revision_that_was_tampered_with(pooled):
    assert list(verify_study(pooled)) == []
    revision = Revision.objects.get(number=2)
    revision.spec["texts"]["guideline"] = "Prefer the first."
    revision.save()
    assert list(verify_study(pooled)) == ["Revision 2: the spec was changed after it was frozen."]


def test_items_may_be_added_after_a_revision(pooled):
    query, context = make_query(pooled, "late")
    admit(
        pooled, make_item(pooled, query, context, pooled.arms.get(), list(pooled.systems.all()), key="late-1")
    )
    assert list(verify_study(pooled)) == []


def test_round_trip(pooled, tmp_path):
    path = tmp_path / "dump.jsonl"
    path.write_bytes(export_bytes(pooled))
    copy = read_in(path, slug="again")
    copy.refresh_from_db()
    found, wanted = content(copy), content(pooled)
    for judgments in (found["judgments"], wanted["judgments"]):
        judgments.sort(key=str)  # a dump holds them by item
    assert found == wanted
    assert {row[2] for row in found["judgments"]} == {1, 2}
    assert export_bytes(copy).replace(b'"slug":"again"', b'"slug":"live"', 1) == path.read_bytes()
    assert list(verify_study(copy)) == []


def test_the_report_pools_both_and_names_them(pooled):
    report = build_report(pooled, replicates=20)
    assert report["counts"]["judgments"] == Judgment.objects.filter(outcome="ok").count() == 12
    assert set(Judgment.objects.values_list("revision__number", flat=True)) == {1, 2}
    one, two = (revision.spec_hash[:12] for revision in pooled.revisions.all())
    assert f"Judgments made under revisions 1 ({one}) and 2 ({two}) are pooled" in report_markdown(report)


def test_the_report_of_one_revision_says_nothing_of_pooling(live):
    hand_in(come(live, "a").token)
    assert "are pooled;" not in report_markdown(build_report(live, replicates=20))


# --- what may not change --------------------------------------------------------------------------------------

REFUSED = {
    "arms": ({"arms": []}, "arms: can't change"),
    "seed": ({"seed": 5}, "seed: can't change"),
    "once per": ({"once_per": "item"}, "once_per: can't change"),
    "protocol": ({"protocol": "aspects"}, "protocol: can't change"),
    "rendering": ({"render_as": "plain"}, "render_as: can't change"),
    "references": ({"show_references": True}, "show_references: can't change"),
    "baseline": ({"baseline": "aspen"}, "baseline: can't change"),
    "new question": (
        {"questions": [{"key": "mood", "kind": "text", "prompt": "?"}]},
        "questions.mood: there is no such question",
    ),
    "kind": ({"questions": [{"key": "preference", "kind": "text"}]}, "questions.preference.kind: can't change"),
    "arms that ask": (
        {"questions": [{"key": "preference", "shown": "with_context"}]},
        "questions.preference.shown: can't change",
    ),
    "choices": (
        {"questions": [{"key": "preference", "options": {"tie": "Tie", "both": "Both"}}]},
        "questions.preference.options: only labels can change",
    ),
    "scale": (
        {"questions": [{"key": "preference", "options": {"tie": 5}}]},
        "questions.preference.options: only labels can change",
    ),
    "question twice": ({"questions": [{"key": "preference"}] * 2}, "'preference' appears twice"),
    "part of a question": ({"questions": [{"key": "preference", "colour": "red"}]}, "a question has no such part"),
    "empty prompt": ({"questions": [{"key": "preference", "prompt": ""}]}, "prompt: This field cannot be blank"),
    "long prompt": ({"questions": [{"key": "preference", "prompt": "?" * 301}]}, "at most 300"),
    "no title": ({"title": ""}, "title: This field cannot be blank"),
    "text that is none": ({"texts": {"thanks": 5}}, "texts.thanks: must be text"),
    "key of a text": ({"texts": {"many thanks": "Thanks."}}, "texts.many thanks.key: Enter a valid"),
    "no texts": ({"texts": []}, "texts: must be an object"),
    "no questions": ({"questions": {}}, "questions: must be a list"),
    "part of a spec": ({"colour": "red"}, "colour: a spec has no such part"),
    "attributes as nothing": ({"attributes": None}, "attributes: can't change in a study that is under way"),
    "unknown step": ({"steps": {"dance": True}}, "steps.dance: there is no such step"),
    "step": ({"steps": {"comments": "yes"}}, "steps.comments: must be true or false"),
    "pass mark": ({"steps": {"qualification": {"pass_mark": "all"}}}, "steps.qualification: must be null or"),
    "pass mark out of reach": (
        {"steps": {"qualification": {"pass_mark": 1}}},
        "The pass mark is 1, but there are 0 qualification items.",
    ),
    "attention": ({"steps": {"attention": {"checks": 0}}}, "steps.attention: must be null or"),
    "skips": ({"skips": {"per_participant": -1}}, "skips: per_participant must be a number"),
    "unknown skip rule": ({"skips": {"never": 1}}, "skips.never: there is no such rule"),
    "nothing": ({}, "nothing would change"),
    "nothing new": ({"title": "Live", "seed": 1, "skips": {"per_participant": 3}}, "nothing would change"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(live, name):
    changes, expected = REFUSED[name]
    there = stored(live)
    with pytest.raises(Refused) as refused:
        revise_study(study=live, changes=changes)
    assert any(expected in problem for problem in refused.value.problems), refused.value.problems
    assert stored(live) == there


def test_every_reason_is_named_at_once(live):
    with pytest.raises(Refused) as refused:
        revise(live, seed=7, once_per="item", questions=[{"key": "preference", "kind": "text"}])
    assert len(refused.value.problems) == 3


def test_rules_that_are_allowed(draft):
    """Steps that the study has items for."""
    study = launch(draft, steps=NO_STEPS)
    revise(study, steps={"attention": {"checks": 1, "allowed_failures": 0}, "training": True}, asker="Kim")
    revise(study, steps={"attention": None, "training": False}, skips={"flag_after": None})
    assert study.asker == "Kim"
    assert list(verify_study(study)) == []


def test_only_what_is_under_way_is_revised(live):
    with pytest.raises(WrongState, match="this one is draft"):
        revise(make_study("draft"), title="New")
    pause_study(live)
    assert revise(live, title="New").number == 2
    close_study(live)
    with pytest.raises(WrongState, match="this one is closed"):
        revise(live, title="Newer")
    assert live.revisions.count() == 2


def test_only_who_may_write_revises(live, owner, colleague, outsider):
    there = stored(live)
    StudyMember.objects.create(study=live, user=colleague, role=StudyMember.Role.VIEWER)
    for user, error in ((colleague, NoRight), (outsider, Http404)):
        with pytest.raises(error):
            revise_study(study=live, changes={"title": "Mine"}, by=user)
    assert stored(live) == there
    StudyMember.objects.filter(user=colleague).update(role=StudyMember.Role.EDITOR)
    for user, title in ((owner, "Ours"), (colleague, "Ours, too")):
        assert revise_study(study=live, changes={"title": title}, by=user).spec["title"] == title


# --- the command ----------------------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path):
    def write(value):
        path = tmp_path / "revision.json"
        path.write_text(value if isinstance(value, str) else json.dumps(value, indent=2))
        return str(path)

    return write


def test_dry_run_says_what_would_change_and_changes_nothing(live, file, capsys):
    there = stored(live)
    call_command("revise", "live", file({"spec": NEW_WORDS}), dry_run=True)
    said = capsys.readouterr().out
    assert "title\n@@ -1 +1 @@\n-Live\n+Second try\n" in said
    assert "-Which response is better overall?\n+Which one would you keep?" in said
    assert 'questions.preference.options\n@@ -1 +1 @@\n-{"tie":"Tie"}\n+{"tie":"Neither"}' in said
    assert "texts.consent" not in said, "only what changes"
    assert "Nothing was written. This would be revision 2." in said
    assert stored(live) == there


def test_command(live, file, capsys):
    call_command("revise", "live", file({"assay": 1, "spec": NEW_WORDS}), by="owner")
    said = capsys.readouterr().out
    revision = live.revisions.get(number=2)
    assert f"Revision 2 of Second try ({revision.spec_hash[:12]})" in said
    assert "+Prefer the **shorter** response." in said
    assert list(verify_study(Study.objects.get())) == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("{", "not JSON"),
        ("[]", "not a JSON object"),
        ({"title": "Bare"}, "'spec' is a required property"),
        ({"spec": {"texts": {"thanks": 5}}}, "spec.texts.thanks: 5 is not of type 'string'"),
        ({"spec": {"texts": {"thanks": "\x00"}}}, "U+0000"),
        ({"spec": {"questions": [{"prompt": "?"}]}}, "spec.questions[0]: 'key' is a required property"),
        ({"spec": {"title": "New"}, "rules": {"redundancy": 5}}, "'rules' was unexpected"),
        ({"spec": {"seed": 5}}, "seed: can't change"),
    ],
    ids=str,
)
def test_bad_file(live, file, value, expected):
    with pytest.raises(CommandError, match=r"Nothing was revised\.$") as refused:
        call_command("revise", "live", file(value))
    assert expected in str(refused.value)
    assert live.revisions.count() == 1


def test_command_refuses(live, file, colleague, outsider):
    StudyMember.objects.create(study=live, user=colleague, role=StudyMember.Role.VIEWER)
    make_study("raw")
    path = file({"spec": {"title": "New"}})
    for slug, options, expected in [
        ("nothing", {}, "There is no study 'nothing'"),
        ("raw", {}, "this one is draft"),
        ("live", {"by": "outsider"}, "There is no study 'live'"),
        ("live", {"by": "colleague"}, "colleague may read this study, but not change it"),
        ("live", {"by": "nobody"}, "There is no user 'nobody'"),
    ]:
        with pytest.raises(CommandError, match=expected):
            call_command("revise", slug, path, **options)
    with pytest.raises(CommandError, match="can't be read"):
        call_command("revise", "live", f"{path}.missing")
    assert Study.objects.get(slug="live").status == Status.LIVE
    assert live.revisions.count() == 1


def test_the_example_in_the_docs_revises(live, file):
    page = (Path(__file__).resolve().parents[4] / "docs" / "formats.md").read_text()
    example = re.search(r"<!-- revision -->\n```json\n(.+?)```", page, re.DOTALL)[1]
    call_command("revise", "live", file(example))
    spec = live.revisions.get(number=2).spec
    assert spec["questions"][1]["prompt"] == "Which response would you keep?"
