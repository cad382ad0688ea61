"""An export is imported as an equal study, and exporting that gives the same bytes."""

from datetime import UTC, datetime
from decimal import Decimal

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluation.canonical import canonical_hash
from evaluation.dumps.imports.draft_items import import_items
from evaluation.dumps.lines import FileSource
from evaluation.models import Context, Rater, Response, Revision, Role, Status
from evaluation.protocols import AnswerValue, Kind
from evaluation.refusals import Refused
from evaluation.selectors import settled_judgments
from evaluation.services.exclusions import exclude, restore
from evaluation.services.imports import discard_import
from evaluation.services.judgments import JudgmentInput, record_judgments
from evaluation.services.notes import add_note
from evaluation.services.settling import settle_item
from evaluation.services.studies.freeze import compute_study_hash
from evaluation.services.studies.verification import verify_study
from tests import factories
from tests.evaluation.dumps.build import content, export_bytes, header, item, judgment, read_in, write

pytestmark = pytest.mark.django_db
MOMENT = datetime(2024, 5, 6, 7, 8, 9, 123456, UTC)


def preference(label, number=None):
    return AnswerValue("preference", Kind.PREFERENCE, label=label, number=number)


def answers_for(row, label="r1"):
    answers = [
        preference(label),
        AnswerValue("justification", Kind.TEXT, text=f"=About {row.key},\nand \u202emore"),
    ]
    if row.arm.context_at_judging:
        cells = [("f1.r1", 1.0), ("f1.r2", 0.0), ("f2.r1", 0.0), ("f2.r2", 1.0)]
        answers += [AnswerValue("satisfied", Kind.CHECKLIST, part, number=value) for part, value in cells]
    return answers


@pytest.fixture
def judged(study):
    """Three arms, checklists, graded preferences, failures, surplus, replicates, gold and every kind of exclusion."""
    revision = study.revisions.get()
    kinds = [("person", "live"), ("person", "imported"), ("judge", "live"), ("simulated", "live")]
    raters = [
        Rater.objects.create(study=study, kind=kind, source=source, label=f"label {n}" if n % 2 else "")
        for n, (kind, source) in enumerate(kinds)
    ]
    raters[2].in_figures, raters[2].about = False, ABOUT
    raters[2].save()
    batch = []
    for n, row in enumerate(study.items.select_related("arm")):
        ids = {"item_id": row.pk, "revision_id": revision.pk}
        batch += [
            JudgmentInput(
                rater_id=raters[0].pk, answers=answers_for(row), shown="r2,r1" if n % 2 else "r1,r2",
                duration_ms=61_001 + n, visible_ms=50_000, judged_at=MOMENT, trace={"edits": [n, {"b": 1, "a": [0.5]}]},
                **ids,
            ),
            JudgmentInput(rater_id=raters[1].pk, answers=answers_for(row, "tie"), surplus=n % 3 == 0, **ids),
            JudgmentInput(
                rater_id=raters[2].pk, answers=[preference("r2", 0.1 + 0.2 * (n % 4))], replicate=n % 2, **ids
            ),
            JudgmentInput(rater_id=raters[3].pk, outcome="unparsed" if n % 2 else "skipped", trace={"raw": "?"}, **ids),
        ]  # fmt: skip
    judgments = record_judgments(study=study, batch=batch)
    exclude(study=study, reason="Too fast", rater=raters[1])
    exclude(study=study, reason="Distracted", judgment=judgments[0])
    exclude(study=study, reason="Also wrong", judgment=judgments[1])  # beside that of its rater
    restore(exclude(study=study, reason="By mistake", judgment=judgments[4]))
    study.simulated = True
    study.save()
    return study


# How a judge was asked, with a key that this version knows nothing of.
ABOUT = {
    "judge": "cedar", "version": 2, "model": "tree-7b", "reference": True, "orders": "both", "samples": 2,
    "reduction": "both_ways", "questions": ["preference"], "purpose": "trial", "temperature": 0.5,
}  # fmt: skip


@pytest.fixture
def read_back(tmp_path):
    def read(study, slug="again"):
        path = tmp_path / f"{slug}.jsonl"
        path.write_bytes(export_bytes(study))
        copy = read_in(path, slug=slug)
        copy.refresh_from_db()
        return copy

    return read


def without_slug(dump: bytes, slug: str) -> bytes:
    return dump.replace(b'"slug":"%s"' % slug.encode(), b"", 1)


def assert_equal(copy, study):
    assert content(copy) == content(study)
    again, first = export_bytes(copy), export_bytes(study)
    assert without_slug(again, copy.slug) == without_slug(first, study.slug)


def test_judged_study(judged, read_back):
    copy = read_back(judged)
    assert_equal(copy, judged)
    assert copy.status == Status.CLOSED
    assert len(content(copy)["judgments"]) == 4 * judged.items.count()
    assert len(content(copy)["exclusions"]) == 3
    assert not list(verify_study(copy))


def test_what_is_known_of_a_judge(judged, read_back):
    line = orjson.loads(export_bytes(judged).splitlines()[0])
    (judge,) = judged.raters.filter(kind="judge")
    assert line["raters"] == [{"rater": judge.pseudonym, "in_figures": False, "about": ABOUT}]
    copy = read_back(judged).raters.get(pseudonym=judge.pseudonym)
    assert (copy.in_figures, copy.about) == (False, ABOUT)


def test_settled_labels_come_back_as_such(study, read_back, owner):
    item = study.items.filter(role="main", arm__context_at_judging=False)[0]
    answers = {"preference": "r2", "justification": "It names the source."}
    settled = settle_item(item, answers, reason="Only it is true.", by=owner, shown=["people"])
    copy = read_back(study)
    assert_equal(copy, study)
    [again] = settled_judgments(copy)
    assert again.trace == settled.trace == {"settled": {"reason": "Only it is true.", "shown": ["people"]}}
    assert (again.rater.kind, again.rater.label, again.rater.in_figures) == ("settled", "owner", False)
    assert again.rater.settled_by is None
    assert not list(verify_study(copy))


def test_notes_come_back_without_who_wrote_them(judged, read_back, owner):
    item = judged.items.order_by("position", "pk")[1]
    given = item.judgments.order_by("pk")[2]
    for text, on in (("Look again.", None), ("=Why?\nNobody says.", given), ("And again.", None)):
        add_note(item, text=text, judgment=on, by=owner)
    line = orjson.loads(export_bytes(judged).splitlines()[2])
    today = datetime.now(UTC).date().isoformat()
    assert line["notes"] == [{"text": "Look again.", "day": today}, {"text": "And again.", "day": today}]
    assert line["judgments"][2]["notes"] == [{"text": "=Why?\nNobody says.", "day": today}]
    copy = read_back(judged)
    assert_equal(copy, judged)
    found = copy.notes.order_by("judgment_id", "pk").values_list(
        "item__key", "judgment__rater__pseudonym", "text", "by"
    )
    assert sorted(found, key=str) == sorted(
        [
            (item.key, None, "Look again.", None),
            (item.key, None, "And again.", None),
            (item.key, given.rater.pseudonym, "=Why?\nNobody says.", None),
        ],
        key=str,
    )


def test_notes_on_a_drafts_items_come_with_them(study, read_back, owner, tmp_path):
    draft = factories.make_study("draft", owner=owner, queries=1)
    add_note(draft.items.first(), text="Check the second response.", by=owner)
    assert_equal(copy := read_back(draft), draft)
    path = tmp_path / "draft.jsonl"
    path.write_bytes(export_bytes(draft))
    assert import_items(FileSource(path), copy) == draft.items.count()
    assert list(copy.notes.values_list("item__study", "text")) == [(copy.pk, "Check the second response.")]


@pytest.mark.parametrize(
    ("notes", "said"),
    [
        ([{"text": " "}], "notes[0]: has no text"),
        (
            [{"text": "a"}, {"text": "b", "day": "2026-02-30"}],
            "notes[1]: '2026-02-30' is not a date that exists",
        ),
        ([{"day": "2026-02-03"}], "notes"),
    ],
)
def test_notes_that_can_not_be_read_are_refused_with_their_place(tmp_path, notes, said):
    on_judgment = item(2, judgments=[judgment(notes=notes)])
    path = write(tmp_path / "soups.jsonl", header(), item(notes=notes), on_judgment)
    with pytest.raises(Refused) as refused:
        read_in(path)
    ours = [problem for problem in refused.value.problems if said in problem]
    assert len(ours) == 2


def test_raters_without_judgments_are_not_named(judged, read_back):
    Rater.objects.create(study=judged, kind="judge", about=ABOUT)
    assert len(orjson.loads(export_bytes(judged).splitlines()[0])["raters"]) == 1
    read_back(judged)


def test_exact_times_only_where_permitted(judged, read_back):
    assert b'"day":"2024-05-06"' in export_bytes(judged)
    assert b"07:08" not in export_bytes(judged)
    judged.exact_times = True
    judged.save()
    copy = read_back(judged)
    assert_equal(copy, judged)
    assert MOMENT in set(copy.judgments.values_list("judged_at", flat=True))


def test_what_people_are_promised_comes_along(draft, read_back):
    assert (
        not {"erases_withdrawn", "retention_days", "people_budget"}
        & orjson.loads(export_bytes(draft).splitlines()[0])["rules"].keys()
    )
    draft.erases_withdrawn, draft.retention_days, draft.texts_language = True, 30, "de"
    draft.people_budget = Decimal("250.50")
    draft.save()
    copy = read_back(draft)
    assert copy.people_budget == Decimal("250.50")
    assert (copy.erases_withdrawn, copy.retention_days, copy.texts_language) == (True, 30, "de")
    assert_equal(copy, draft)


def test_draft(draft, read_back):
    copy = read_back(draft)
    assert (copy.status, copy.study_hash) == (Status.DRAFT, "")
    assert_equal(copy, draft)
    factories.launch(draft)
    factories.launch(copy, title=draft.title)
    assert copy.study_hash == draft.study_hash


@pytest.mark.parametrize("frozen", [False, True])
def test_what_wrote_a_context_is_kept_beside_what_is_hashed(draft, read_back, frozen):
    context = Context.objects.filter(query__study=draft).first()
    Context.objects.filter(pk=context.pk).update(source="aspen")
    if frozen:
        factories.launch(draft)
        draft.refresh_from_db()
    copy = read_back(draft)
    assert Context.objects.get(query__study=copy, source="aspen").key == context.key
    assert not any("aspen" in str((item.stimulus or {}).get("context")) for item in copy.items.all())
    if frozen:
        assert copy.study_hash == draft.study_hash


@pytest.mark.parametrize("frozen", [False, True])
def test_what_asks_a_question_is_kept_beside_what_is_hashed(draft, read_back, frozen):
    asked = draft.items.filter(role=Role.MAIN).order_by("pk")[0]
    asked.clarifying_question, asked.clarifying_source = "For how many?", "aspen"
    asked.save()
    if frozen:
        factories.launch(draft)
        draft.refresh_from_db()
    copy = read_back(draft)
    assert copy.items.get(clarifying_source="aspen").key == asked.key
    if frozen:
        assert "clarifying_source" not in copy.items.get(key=asked.key).stimulus
        assert copy.study_hash == draft.study_hash


def test_frozen_study_without_judgments_stays_frozen(study, read_back):
    copy = read_back(study)
    assert copy.status == Status.CLOSED
    assert_equal(copy, study)


def test_withdrawn_item(study, read_back):
    study.items.filter(role=Role.MAIN).update(withdrawn_at=MOMENT)
    copy = read_back(study)
    assert copy.items.filter(withdrawn_at=None).count() == study.items.filter(withdrawn_at=None).count()
    assert_equal(copy, study)


def test_later_revision(judged, read_back):
    first = judged.revisions.get()
    spec = {**first.spec, "texts": {**first.spec["texts"], "thanks": "Thanks!"}}
    second = Revision.objects.create(study=judged, number=2, spec=spec, spec_hash=canonical_hash(spec))
    judged.judgments.filter(rater__kind="judge").update(revision=second)
    judged.study_hash = compute_study_hash(judged)
    judged.save()
    copy = read_back(judged)
    assert_equal(copy, judged)
    assert copy.texts.get(key="thanks").body == "Thanks!"


def test_response_given_another_context_than_the_item_shows(draft, read_back):
    row = draft.items.filter(arm__key="CtxGen-CtxEval", role=Role.MAIN).first()
    other = Context.objects.create(
        query=row.query, key="other", follow_ups=[{"question": "Spicy?", "answer": "No"}]
    )
    Response.objects.filter(item_responses__item=row).update(context=other)
    copy = read_back(draft)
    assert_equal(copy, draft)
    found = set(copy.items.get(key=row.key).responses.values_list("key", "context__key"))
    assert found == {("aspen@c", "other"), ("birch@c", "other")}


def test_changed_text_is_found(judged, tmp_path):
    path = tmp_path / "dump.jsonl"
    path.write_bytes(export_bytes(judged).replace(b"**birch** answers q1", b"**birch** replies q1"))
    with pytest.raises(Exception, match="stimulus_hash is") as refused:
        read_in(path, slug="again")
    assert all("stimulus_hash is" in problem for problem in refused.value.problems)


def test_no_platform_ids_and_no_volatile_fields(judged):
    dump = export_bytes(judged)
    lines = [orjson.loads(line) for line in dump.splitlines()]
    assert lines[0]["study_hash"] == judged.study_hash
    assert not {"id", "pk", "created_at", "exported_at"} & set(lines[0])
    assert export_bytes(judged) == dump


SEPARATORS = "\u2028\u2029\x85\x0b\x0c\x1c\ufeff\u200f\U0001f9c2"
texts = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), st.sampled_from(SEPARATORS)
    ),
    max_size=40,
)
keys = texts.filter(lambda key: key != "")
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts, lambda v: st.lists(v, max_size=3)
)


# Each example is imported and exported twice.
@settings(
    max_examples=max(10, settings.default.max_examples // 8),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_odd_texts(data, tmp_path):
    """Whatever is in texts, keys and labels, the second export is the first."""
    draw = data.draw
    systems = draw(st.lists(keys, min_size=2, max_size=2, unique=True))
    query = {
        "key": draw(keys),
        "text": f"{draw(texts)}?",
        "category": draw(texts),
        "information_need": draw(texts),
    }
    query["documents"] = [{"title": draw(texts), "more": draw(values)}]
    first = item(
        key=draw(keys),
        query=query,
        responses=[{"system": system, "text": draw(texts)} for system in systems],
        judgments=[
            judgment(draw(keys), label=draw(texts), answers={"preference": "r2", "justification": draw(texts)}),
        ],
    )  # fmt: skip
    arms = [{"key": "plain", "label": "A", "context_at_generation": False, "context_at_judging": False}]
    study = read_in(
        write(tmp_path / "odd.jsonl", header(spec={"title": "Odd", "arms": arms}), first), slug="odd"
    )
    study.refresh_from_db()
    path = tmp_path / "again.jsonl"
    path.write_bytes(export_bytes(study))
    copy = read_in(path, slug="again")
    copy.refresh_from_db()
    try:
        assert_equal(copy, study)
        assert not list(verify_study(copy))
    finally:
        discard_import(study)
        discard_import(copy)


def test_settings_of_systems_come_back(tmp_path):
    of_aspen = [
        {"key": f"aspen-{n}", "label": "", "family": "", "kind": "model", "setting": setting, "base": "aspen"}
        for n, setting in enumerate(("with documents", "without"))
    ]
    path = write(tmp_path / "dump.jsonl", header(systems=of_aspen), item(1))
    study = read_in(path)
    written = orjson.loads(export_bytes(study).splitlines()[0])["systems"]
    assert [each for each in written if "setting" in each] == of_aspen
    assert all("base" not in each for each in written if each not in of_aspen)
