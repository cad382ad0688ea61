"""Seals: whatever is changed past the application is found and named, and whatever an act changes is not."""

import json
from datetime import timedelta

import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from evaluation.models import (
    Arm,
    Context,
    Exclusion,
    Item,
    ItemResponse,
    Judgment,
    Outcome,
    Query,
    Rater,
    Response,
    Seal,
    Study,
    System,
)
from evaluation.seals import SealKey, new_seal_key, open_seal_key, stable_json
from evaluation.services.answers import load_answers
from evaluation.services.exclusions import exclude, restore
from evaluation.services.judgments import JudgmentInput, record_judgments, revise_judgment
from evaluation.services.seals import JUDGMENT_FIELDS, judgment_content, own_digest
from evaluation.services.studies.creation import PAPER_ARMS
from evaluation.services.studies.items import withdraw_item
from evaluation.services.studies.sealing import rotate_secret, seal_study
from evaluation.services.studies.verification import verify_study
from tests.answers import change_answers
from tests.crowd import come, hand_in, make_crowd_study
from tests.factories import make_study

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def made(around_module):
    """Live, judged by two people, one of whom is excluded and one judgment of the other, too."""
    study = make_crowd_study("judged", queries=6, arms=PAPER_ARMS[1:2], redundancy=2)
    for name in ("a", "b"):
        token = come(study, name).token
        for _ in range(3):
            hand_in(token)
    first, second = study.raters.order_by("pk")
    exclude(study=study, rater=first, reason="Too fast.")
    exclude(study=study, judgment=second.judgments.first(), reason="Broken page.")
    assert found(study) == []
    return study.pk


@pytest.fixture
def judged(db, made):
    return Study.objects.get(pk=made)


def found(study):
    return list(verify_study(Study.objects.get(pk=study.pk)))


def one(study):
    return study.judgments.order_by("pk").last()


def recorded(study):
    """A judgment's own row, so that a change is one of it alone."""
    return Judgment.objects.filter(pk=one(study).pk)


# --- what nobody may change unseen -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        lambda study: change_answers([one(study)], "preference", label="tie"),
        lambda study: one(study).texts.update(text="Because."),
        lambda study: one(study).texts.all().delete(),
        lambda study: recorded(study).update(surplus=True),
        lambda study: recorded(study).update(duration_ms=1_000_000),
        lambda study: recorded(study).update(visible_ms=0),
        lambda study: recorded(study).update(judged_at=timezone.now() - timedelta(days=1)),
        lambda study: recorded(study).update(trace={"revised": 2}),
        lambda study: recorded(study).update(replicate=1),
        lambda study: recorded(study).update(shown=",".join(reversed(one(study).shown.split(",")))),
        lambda study: recorded(study).update(seal=1),
        lambda study: recorded(study).update(outcome=Outcome.SKIPPED, answer_layout=None, answer_values=""),
    ],
)
def test_a_judgment_that_was_changed_is_named(judged, change):
    pk = one(judged).pk
    change(judged)
    assert f"Judgment {pk}: is not what was recorded." in found(judged)


def test_a_judgment_given_to_another_rater_is_named_with_both(judged):
    judgment = one(judged)
    other = judged.raters.exclude(pk=judgment.rater_id).get()
    recorded(judged).update(rater=other, replicate=5)
    sentences = "\n".join(found(judged))
    assert f"Judgment {judgment.pk}: is not what was recorded." in sentences
    assert f"Rater {other.pk} ({other.pseudonym}): 3 judgments were recorded, and 4 are there." in sentences
    assert (
        f"Rater {judgment.rater_id} ({judgment.rater.pseudonym}): 3 judgments were recorded, and 2"
        in sentences
    )


def test_a_judgment_given_to_a_rater_of_another_study_is_named(judged, imported):
    judgment = one(judged)
    recorded(judged).update(rater=imported.raters.first())
    sentences = "\n".join(found(judged))
    assert f"Judgment {judgment.pk}: is of a rater of another study." in sentences
    assert f"({judgment.rater.pseudonym}): 3 judgments were recorded, and 2 are there." in sentences


def test_a_judgment_that_is_gone_is_missed_at_its_rater(imported):
    judgment = one(imported)
    assert found(imported) == []
    judgment.texts.all().delete()
    recorded(imported).delete()
    name, n = judgment.rater.pseudonym, judgment.rater.recorded_count
    assert found(imported) == [
        f"Rater {judgment.rater_id} ({name}): {n} judgments were recorded, and {n - 1} are there."
    ]
    # Nor does it help to count one less.
    Rater.objects.filter(pk=judgment.rater_id).update(recorded_count=n - 1)
    assert found(imported) == [
        f"Rater {judgment.rater_id} ({name}): the judgments that are there are not those that were recorded."
    ]


def test_a_judgment_that_nobody_recorded_is_named(imported):
    judgment = one(imported)
    judgment.pk, judgment.replicate, judgment.seal = None, 9, None
    judgment.save()
    assert f"Judgment {judgment.pk}: has no seal, so it was not recorded by the application." in found(
        imported
    )
    other = imported.judgments.order_by("pk")[0]
    Judgment.objects.filter(pk=judgment.pk).update(seal=other.seal)
    assert f"Judgment {judgment.pk}: is not what was recorded." in found(imported)


@pytest.mark.parametrize(
    "change",
    [
        lambda item: Item.objects.filter(pk=item.pk).update(role="attention", gold={"preference": "r1"}),
        lambda item: Item.objects.filter(pk=item.pk).update(gold={"preference": "r2"}),
        lambda item: Item.objects.filter(pk=item.pk).update(lengths="1,1"),
        lambda item: Item.objects.filter(pk=item.pk).update(systems_key="a | b"),
        lambda item: Item.objects.filter(pk=item.pk).update(withdrawn_at=timezone.now()),
        lambda item: Item.objects.filter(pk=item.pk).update(origin={"item": "other"}),
        lambda item: Query.objects.filter(pk=item.query_id).update(category="Sports"),
        lambda item: Query.objects.filter(pk=item.query_id).update(split="dev"),
        lambda item: Query.objects.filter(pk=item.query_id).update(text="Something else?"),
        lambda item: Response.objects.filter(items=item).update(text="Another response."),
        lambda item: System.objects.filter(study=item.study_id).update(family="other"),
        lambda item: Context.objects.filter(pk=item.context_id).update(source="somebody"),
        lambda item: Arm.objects.filter(pk=item.arm_id).update(context_at_judging=False),
        lambda item: ItemResponse.objects.filter(item=item)[0].delete(),
    ],
)
def test_an_item_is_named_whatever_around_it_was_changed(judged, change):
    item = judged.items.select_related("query", "context").order_by("pk")[0]
    change(item)
    changed = f"Item {item.key} with its query, context, arm, responses and systems: was changed past the application."
    assert changed in found(judged)


@pytest.mark.parametrize(
    "values",
    [
        {"in_figures": False},
        {"kind": "judge"},
        {"group": "experts"},
        {"about": {"judge": "other"}},
        {"label": "A"},
    ],
)
def test_a_rater_that_was_changed_is_named(judged, values):
    rater = judged.raters.order_by("pk")[0]
    judged.raters.filter(pk=rater.pk).update(**values)
    assert found(judged) == [f"Rater {rater.pk} ({rater.pseudonym}): was changed past the application."]


def test_exclusions_that_were_changed_deleted_or_made_up_are_named(judged):
    of_rater, of_judgment = judged.exclusions.order_by("pk")
    judged.exclusions.filter(pk=of_rater.pk).update(undone_at=timezone.now())
    assert found(judged) == [f"Exclusion {of_rater.pk}: was changed past the application."]
    of_rater.save()
    assert found(judged) == []
    judged.exclusions.filter(pk=of_judgment.pk).delete()
    assert found(judged) == [f"Exclusion {of_judgment.pk}: was deleted past the application."]
    # Nor does it help to delete its seal, too.
    Seal.objects.filter(kind="exclusion", row=of_judgment.pk).delete()
    [said] = found(judged)
    assert "The seals of items, raters and exclusions are not those that were made" in said
    of_judgment.save()
    made_up = Exclusion.objects.create(study=judged, judgment=one(judged), reason="None.")
    assert f"Exclusion {made_up.pk}: has no seal, so the application has not made it." in found(judged)


def test_a_spec_with_all_its_hashes_mended_is_found(judged):
    """Hashes that anybody can compute prove nothing by themselves."""
    from evaluation.canonical import canonical_hash
    from evaluation.services.studies.freeze import compute_study_hash

    revision = judged.revisions.get()
    revision.spec["texts"]["guideline"] = "Prefer the first."
    revision.spec_hash = canonical_hash(revision.spec)
    revision.save()
    Study.objects.filter(pk=judged.pk).update(study_hash=compute_study_hash(judged))
    assert found(judged) == ["The study hash: was changed past the application."]


# --- what acts may change --------------------------------------------------------------------------------------------


def test_every_act_renews_what_it_touches(judged):
    restore(judged.exclusions.order_by("pk")[0], reason="Not so fast after all.")
    judgment = one(judged)
    answers = [
        each
        if each.question != "preference"
        else type(each)(each.question, each.kind, each.part, label="tie")
        for each in load_answers(judgment)
    ]
    assert revise_judgment(study=judged, judgment=judgment, answers=answers)
    withdraw_item(judgment.item)
    assert found(judged) == []


def test_a_failure_that_becomes_ok_is_sealed_as_what_it_is_now(imported):
    judgment = one(imported)
    failed = JudgmentInput(
        rater_id=judgment.rater_id, item_id=judgment.item_id, revision_id=judgment.revision_id, replicate=7,
        outcome=Outcome.FAILED, trace={"raw": "?", "numbers": [1.0, 1e16, -0.0, 0.1, 1e-7]},
    )  # fmt: skip
    record_judgments(study=imported, batch=[failed])
    assert found(imported) == []
    ok = JudgmentInput(
        rater_id=judgment.rater_id, item_id=judgment.item_id, revision_id=judgment.revision_id, replicate=7,
        answers=load_answers(judgment),
    )  # fmt: skip
    record_judgments(study=imported, batch=[ok])
    record_judgments(study=imported, batch=[ok])
    assert found(imported) == []


@pytest.fixture
def imported(tmp_path, judged):
    path = tmp_path / "study.jsonl"
    call_command("export", "judged", format="jsonl", out=str(path))
    call_command("import_study", str(path), slug="copy")
    return Study.objects.get(slug="copy")


def test_a_study_that_is_read_in_passes_on_the_digest_of_where_it_was_judged(tmp_path, imported, judged):
    theirs = json.loads((tmp_path / "study.jsonl").read_text().split("\n")[0])["sealed"]
    assert theirs == own_digest(judged) == {"judgments": 6, "digest": theirs["digest"]}
    table = tmp_path / "study.parquet"
    call_command("export", "judged", format="parquet", out=str(table))
    assert json.loads(pq.read_metadata(table).metadata[b"assay.sealed"]) == theirs
    again = tmp_path / "again.jsonl"
    call_command("export", "copy", format="jsonl", out=str(again))
    assert json.loads(again.read_text().split("\n")[0])["sealed"] == theirs
    # Once it is another study, its digest is its own.
    exclude(study=imported, judgment=one(imported), reason="Here.")
    imported.refresh_from_db()
    call_command("export", "copy", format="jsonl", out=str(again))
    assert json.loads(again.read_text().split("\n")[0])["sealed"] == own_digest(imported) != theirs


def test_the_digest_changes_with_every_change_and_with_nothing_else(judged):
    seen = [own_digest(judged)]
    assert own_digest(judged) == seen[0]
    for act in (
        lambda: hand_in(come(judged, "c").token),
        lambda: restore(judged.exclusions.order_by("pk")[0]),
        lambda: withdraw_item(judged.items.order_by("pk")[0]),
    ):
        act()
        judged.refresh_from_db()
        seen.append(own_digest(judged))
    assert len({each["digest"] for each in seen}) == 4


# --- keys ------------------------------------------------------------------------------------------------------------


def test_a_study_from_before_there_were_seals_says_so_until_it_is_sealed(judged):
    Study.objects.filter(pk=judged.pk).update(seal_key="", sealed_count=0, sealed_digest=0)
    judged.raters.update(recorded_count=0, recorded_digest=0)
    judged.judgments.update(seal=None)
    judged.seals.all().delete()
    judged.refresh_from_db()
    [said] = found(judged)
    assert "It has no seals" in said
    assert "`manage.py seal judged`" in said
    hand_in(come(judged, "c").token)
    call_command("seal", "judged")
    assert found(judged) == []
    hand_in(come(judged, "d").token)
    assert found(judged) == []
    assert seal_study(judged) == 0


def test_sealing_anew_takes_over_what_was_changed_on_purpose(judged):
    recorded(judged).update(duration_ms=1_000_000)
    judged.exclusions.all().delete()
    Query.objects.filter(study=judged).update(category="Sports")
    assert len(found(judged)) > 2
    assert seal_study(judged) == 1
    assert found(judged) == []


def test_a_key_that_somebody_knows_is_replaced(judged):
    before = judged.seal_key
    call_command("seal", "judged", new_key=True)
    assert found(judged) == []
    # What is sealed under the key before is no longer taken.
    seal = SealKey.seal(open_seal_key(before), judgment_content_of(one(judged)))
    recorded(judged).update(seal=seal)
    assert f"Judgment {one(judged).pk}: is not what was recorded." in found(judged)


def judgment_content_of(judgment):
    texts = judgment.texts.values_list("question", "part", "text")
    return judgment_content([getattr(judgment, name) for name in JUDGMENT_FIELDS], texts)


def test_a_draft_is_not_sealed():
    make_study("draft")
    with pytest.raises(CommandError, match="A draft has no seals"):
        call_command("seal", "draft")


def test_secrets_are_rotated(settings, judged):
    settings.ASSAY_SEAL_SECRETS = ["first"]
    [said] = found(judged)
    assert "built-in secret" in said
    call_command("seal", rotate=True)
    assert found(judged) == []
    settings.ASSAY_SEAL_SECRETS = ["second", "first"]
    assert found(judged) == []
    assert rotate_secret() == (1, [])
    settings.ASSAY_SEAL_SECRETS = ["second"]
    assert found(judged) == []


def test_without_the_secret_people_go_on_and_verify_says_what_it_cannot_check(settings, judged):
    settings.ASSAY_SEAL_SECRETS = ["first"]
    rotate_secret()
    settings.ASSAY_SEAL_SECRETS = ["another"]
    hand_in(come(judged, "c").token)
    [said] = found(judged)
    assert "Its seals can't be checked" in said
    with pytest.raises(CommandError, match="not at hand: judged"):
        call_command("seal", rotate=True)
    seal_study(judged)
    assert found(judged) == []


def test_a_key_is_of_use_to_nobody_without_the_secret(settings):
    settings.ASSAY_SEAL_SECRETS = ["a secret"]
    stored = new_seal_key()
    assert open_seal_key(stored) is not None
    settings.ASSAY_SEAL_SECRETS = ["another"]
    assert open_seal_key(stored) is None
    assert open_seal_key("nothing of the kind") is None
    assert open_seal_key("") is None


def test_the_command_wants_a_study_or_a_rotation(judged):
    for arguments in ([], ["judged", "--rotate"], ["--rotate", "--new-key"]):
        with pytest.raises(CommandError, match="Name a study, or give --rotate"):
            call_command("seal", *arguments)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(), children, max_size=4),
    max_leaves=12,
)


@given(value=JSON)
def test_what_is_sealed_is_the_same_after_it_is_stored(value):
    """PostgreSQL writes whole floats of great size as whole numbers, and forgets the order of keys."""

    def stored(value):
        if isinstance(value, float):
            return int(value) if value.is_integer() else value
        if isinstance(value, dict):
            return {name: stored(value[name]) for name in sorted(value, reverse=True)}
        return [stored(each) for each in value] if isinstance(value, list) else value

    assert stable_json(stored(value)) == stable_json(value)


@given(st.integers(0, 2**63 - 1), st.integers(0, 2**63 - 1))
def test_marks_differ_where_seals_do(one, other):
    key = SealKey(b"a key")
    assert (key.mark(one) == key.mark(other)) == (one == other)
    assert 0 <= key.mark(one) < 2**63
