"""Hashes: what they are stable under and what changes them; and what `verify` finds."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.models import Assignment, Slot, SlotState
from annotator.services.slots.in_play import recount
from annotator.services.work.skip import skip
from evaluation.canonical import canonical_hash, study_hash
from evaluation.models import (
    AnswerLayout,
    AnswerText,
    Arm,
    Context,
    Item,
    Judgment,
    Query,
    Question,
    Response,
    Revision,
    Study,
    Text,
)
from evaluation.protocols.answers.layout import Layout
from evaluation.services.studies.creation import PAPER_ARMS
from evaluation.services.studies.freeze import compute_study_hash
from evaluation.services.studies.verification import verify_study
from tests.crowd import before, come, hand_in, make_crowd_study
from tests.factories import launch, make_study

pytestmark = pytest.mark.django_db
SEALED = ("is not what was recorded", "past the application", "judgments were recorded")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(), children, max_size=4),
    max_leaves=12,
)


@given(value=st.dictionaries(st.text(), JSON, max_size=6))
def test_a_hash_does_not_depend_on_the_order_of_keys_or_on_spelling(value):
    assert canonical_hash(dict(reversed(value.items()))) == canonical_hash(value)
    spelled_out = json.loads(json.dumps(value, indent=2, ensure_ascii=True))
    assert canonical_hash(spelled_out) == canonical_hash(value)


@given(one=JSON, other=JSON)
def test_different_values_have_different_hashes(one, other):
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (canonical_hash(one) == canonical_hash(other)) == same


def test_what_is_not_a_number_is_refused():
    with pytest.raises(ValueError, match="Out of range"):
        canonical_hash({"score": float("nan")})


def test_study_hash_can_be_recomputed_with_sha256sum():
    """One line per revision and item: printf '["spec","s1"]\\n["item","a","h1"]\\n["item","b","h2"]\\n' | sha256sum"""
    assert study_hash(["s1"], [("a", "h1"), ("b", "h2")]) == (
        "1af33b5729f33ca153d32507777bdc433dd51cca4bb6fc06dc50173ef5a8c3c5"
    )


def hashes(study):
    spec_hash = study.revisions.get().spec_hash
    return study.study_hash, spec_hash, dict(study.items.values_list("key", "stimulus_hash"))


def test_the_same_study_has_the_same_hashes():
    one, two = (launch(make_study(slug), title="Same") for slug in ("one", "two"))
    assert hashes(one) == hashes(two)


@pytest.mark.parametrize("rule", ["redundancy", "items_per_participant", "lease_minutes", "pay", "contact"])
def test_rules_that_may_change_are_not_hashed(rule):
    one = launch(make_study("one"), title="Same")
    two = launch(make_study("two"), title="Same", **{rule: 61})
    assert hashes(one) == hashes(two)


@pytest.mark.parametrize(
    ("model", "key", "field", "value"),
    [
        (Response, "birch", "text", "Another answer."),
        (Query, "q1", "text", "Another question?"),
        (Query, "q1", "references", ["A person's answer."]),
        (Context, "c", "follow_ups", [{"question": "Other?", "answers": [], "answer": "Yes"}]),
        (Text, "guideline", "body", "Judge otherwise."),
        (Question, "preference", "prompt", "Which is worse?"),
        (Arm, "CtxGen-CtxEval", "label", "Other"),
        (Study, None, "seed", 2),
        (Study, None, "skips", {"per_participant": 0}),
    ],
)
def test_what_participants_see_is_hashed(model, key, field, value):
    reference = launch(make_study("one"), title="Same")
    study = make_study("two")
    rows = model.objects.filter(pk=study.pk) if model is Study else model.objects.filter(key=key)
    (rows if model is Study else rows.exclude(**owned_by(model, reference))).update(**{field: value})
    assert launch(Study.objects.get(slug="two"), title="Same").study_hash != reference.study_hash


def owned_by(model, study):
    return {"query__study" if model in (Response, Context) else "study": study}


def test_stored_hashes_are_those_of_what_is_read_back():
    """JSON goes through the database's own type: numbers, letters and order must come back as they were hashed."""
    study = make_study("stored")
    documents = [
        {"title": "Ä \U0001f600 \u202e", "score": 0.1, "n": 3, "small": 1e-7, "half": 2.50, "b": 1, "a": 0}
    ]
    Query.objects.filter(study=study).update(documents=documents)
    assert list(verify_study(launch(study))) == []


# --- verify ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def made(around_module):
    """Live, with one judged and one skipped item, and one at work."""
    study = make_crowd_study("judged", queries=6, arms=PAPER_ARMS[1:2])
    participant = come(study, "a")
    hand_in(participant.token)
    skip(participant.token, before(participant.token).pk)
    assert list(verify_study(study)) == []
    return study.pk


@pytest.fixture
def judged(db, made):
    return Study.objects.get(pk=made)


def found(study):
    return list(verify_study(Study.objects.get(pk=study.pk)))


def beside_seals(study):
    """What is found by other checks than seals, which find what was changed, but not what it breaks."""
    sentences = found(study)
    others = [each for each in sentences if not any(said in each for said in SEALED)]
    assert len(others) < len(sentences)
    return others


def judged_item():
    return Judgment.objects.get(outcome="ok").item


def test_verify_finds_a_tampered_stimulus(judged):
    item = judged_item()
    item.stimulus["responses"][0]["text"] += " And more."
    item.save()
    assert found(judged) == [f"Item {item.key}: the stimulus was changed after it was frozen."]


def test_verify_finds_a_stimulus_whose_hash_was_mended(judged):
    item = judged_item()
    item.stimulus["query"]["text"] = "Something else?"
    item.stimulus_hash = canonical_hash(item.stimulus)
    item.save()
    assert beside_seals(judged) == ["The study hash does not cover the revisions and items that are there."]
    assert compute_study_hash(judged) != judged.study_hash


@pytest.mark.parametrize("responses", [None, [], [{}], "r1", [1]], ids=repr)
def test_verify_goes_on_when_a_stimulus_is_broken(judged, responses):
    item = judged_item()
    item.stimulus["responses"] = responses
    item.save()
    sentences = found(judged)
    assert f"Item {item.key}: the stimulus was changed after it was frozen." in sentences
    assert sum("is not an order of its responses" in sentence for sentence in sentences) == 1


def test_verify_finds_an_item_that_is_gone_or_new_or_thawed(judged):
    free = judged.items.exclude(judgments__isnull=False).exclude(assignments__isnull=False)
    gone, thawed = free[0], free[1]
    Slot.objects.filter(item=gone).delete()
    gone.item_responses.all().delete()
    gone.delete()
    recount(judged)
    assert beside_seals(judged) == ["The study hash does not cover the revisions and items that are there."]
    Item.objects.filter(pk=thawed.pk).update(stimulus=None, stimulus_hash="")
    assert f"Item {thawed.key}: not frozen." in found(judged)


def test_verify_finds_a_tampered_spec(judged):
    revision = Revision.objects.get()
    revision.spec["texts"]["guideline"] = "Prefer the first."
    revision.save()
    assert found(judged) == ["Revision 1: the spec was changed after it was frozen."]


@pytest.mark.parametrize("shown", ["r1", "r1,r1", "r1,r3", "r1,r2,r3"])
def test_verify_finds_a_tampered_order(judged, shown):
    judgment = Judgment.objects.get(outcome="ok")
    Judgment.objects.filter(pk=judgment.pk).update(shown=shown)
    sentences = found(judged)
    assert (
        f"Judgment {judgment.pk}: the presented order {shown!r} is not an order of its responses."
        in sentences
    )


def test_verify_finds_a_judgment_shown_in_another_order_than_its_place(judged):
    slot = Slot.objects.get(state=SlotState.FILLED)
    other = {"r1,r2": "r2,r1", "r2,r1": "r1,r2"}[slot.order]
    Judgment.objects.filter(outcome="ok").update(shown=other)
    assert beside_seals(judged) == [
        f"Slot {slot}: the judgment was shown {other!r} instead of {slot.order!r}."
    ]


def test_verify_finds_unbalanced_orders(judged):
    item = judged.items.exclude(judgments__isnull=False).first()
    Slot.objects.filter(item=item).update(order="r1,r2")
    assert f"Item {item.key}: its presentation orders differ by 3." in found(judged)


def test_verify_finds_judgments_without_answers_and_answers_without_a_verdict(judged):
    ok, skipped = Judgment.objects.get(outcome="ok"), Judgment.objects.get(outcome="skipped")
    stored = {"answer_layout": ok.answer_layout, "answer_values": ok.answer_values}
    ok.texts.update(judgment=skipped)
    Judgment.objects.filter(pk=skipped.pk).update(**stored)
    Judgment.objects.filter(pk=ok.pk).update(answer_layout=None, answer_values="")
    assert beside_seals(judged) == [
        f"Judgment {ok.pk}: is ok but has no answer.",
        f"Judgment {skipped.pk}: has answers though its outcome is skipped.",
    ]


@pytest.mark.parametrize("array", ["[]", '["r1",1]', "[1]", "[null]", '{"a":1}', "[", '["r1"]]'])
def test_verify_finds_answers_that_their_layout_does_not_say(judged, array):
    ok = Judgment.objects.get(outcome="ok")
    Judgment.objects.filter(pk=ok.pk).update(answer_values=array)
    assert beside_seals(judged) == [f"Judgment {ok.pk}: its answers are not what their layout says."]


def test_verify_finds_a_text_that_is_gone_and_one_that_came(judged):
    ok = Judgment.objects.get(outcome="ok")
    text = ok.texts.get()
    text.delete()
    assert beside_seals(judged) == [f"Judgment {ok.pk}: its answers are not what their layout says."]
    AnswerText.objects.create(judgment=ok, question=text.question, part=text.part, text="Another.")
    assert beside_seals(judged) == []
    AnswerText.objects.create(judgment=ok, question="comments", text="And more.")
    assert beside_seals(judged) == [f"Judgment {ok.pk}: its answers are not what their layout says."]


@pytest.mark.parametrize(
    "change",
    [
        lambda places: places[0].update(question="another"),
        lambda places: places[0].update(surprise=1),
        lambda places: places.append("r1"),
    ],
)
def test_verify_finds_a_layout_that_was_changed(judged, change):
    layout = Judgment.objects.get(outcome="ok").answer_layout
    change(layout.places)
    layout.save()
    assert found(judged) == [f"Layout {layout.pk}: was changed."]


@pytest.mark.parametrize(
    "changes", [{"kind": "scale"}, {"label": 5}, {"number": 0, "label": None}, {"question": "justification"}]
)
def test_verify_finds_a_layout_whose_key_was_mended(judged, changes):
    """Values of another kind, in another place of the array, or twice for one part."""
    ok = Judgment.objects.get(outcome="ok")
    places = ok.answer_layout.places
    next(each for each in places if each["kind"] == "preference").update(changes)
    made = AnswerLayout.objects.create(pk=Layout.from_json(places).key, places=places)
    Judgment.objects.filter(pk=ok.pk).update(answer_layout=made)
    assert beside_seals(judged) == [f"Layout {made.pk}: was changed."]


def test_verify_finds_places_whose_holder_does_not_fit(judged):
    filled, reserved = Slot.objects.get(state=SlotState.FILLED), Slot.objects.get(state=SlotState.RESERVED)
    Assignment.objects.filter(pk=reserved.holder_id).update(state="returned")
    assert found(judged) == [f"Slot {reserved}: reserved by an assignment that is returned."]
    Assignment.objects.filter(pk=reserved.holder_id).update(state="reserved")
    Slot.objects.filter(pk=filled.pk).update(holder=reserved.holder)
    assert found(judged) == [f"Slot {filled}: its holder is an assignment of another slot."]
    Slot.objects.filter(pk=filled.pk).update(holder=filled.holder)
    Assignment.objects.filter(pk=filled.holder_id).update(surplus=True)
    assert found(judged) == [f"Slot {filled}: filled without a counting judgment."]


def test_verify_finds_work_that_holds_no_place(judged):
    reserved = Slot.objects.get(state=SlotState.RESERVED)
    Slot.objects.filter(pk=reserved.pk).update(state=SlotState.OPEN, holder=None, leased_until=None)
    assert found(judged) == [f"Assignment {reserved.holder_id}: reserved, but its slot is not held by it."]


def test_verify_finds_too_many_places(judged):
    item = judged.items.first()
    Study.objects.filter(pk=judged.pk).update(redundancy=2)
    assert f"Item {item.key}: 3 places where the redundancy is 2." in found(judged)


def test_verify_says_nothing_of_a_draft():
    assert list(verify_study(make_study("draft"))) == []
