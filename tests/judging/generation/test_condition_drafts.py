"""Drafts of conditions, their merging and answers in three settings: what is planned, and what is read of a reply."""

import json

import pytest

from judging.backends.base import Reply
from judging.backends.options import clean_options
from judging.generation.pipeline import Cast, KeptProduct, PlacedModel, QueryState, SourceQuery, UnitFacts
from judging.generation.pipelines import PIPELINES
from judging.generation.replies import read_products
from judging.parsing.rejection import ReplyRejected

PIPELINE = PIPELINES["condition_drafts"]
FRAGMENTS = [
    {
        "number": 1,
        "title": "Bridges of Ulm",
        "text": "The first bridge was opened in 1894.",
        "source": "Atlas",
    },
    {"number": 2, "title": "", "text": "A second one, for cars, followed in 1967.", "source": ""},
]
OLD = {"condition": "The first bridge", "answers": ["In 1894"], "citations": [1], "reason": ""}
NEW = {"condition": "The bridge for cars", "answers": ["In 1967"], "citations": [2], "reason": ""}
CAST = {
    role.key: Cast((PlacedModel("aspen"), PlacedModel("birch"), PlacedModel("aspen")), 0.0, 100)
    for role in PIPELINE.roles
}


def product(step, content, key=""):
    return KeptProduct(step=step, key=key, number=1, content=content, about={}, model="aspen", product=1)


def state(*made, sources=(), options=None, **query):
    return QueryState(
        query=SourceQuery(key="q", text="When was the bridge opened?", **query), seed=1,
        options=clean_options(PIPELINE.options, options or {}), casts=CAST, made=made,
        sources={"retrieval": list(sources)},
    )  # fmt: skip


def planned(step, *made, **more):
    return list(PIPELINE.step(step).plan(state(*made, **more)))


def asked_of(step, unit, **options):
    query = SourceQuery(key="q", text="When was the bridge opened?")
    return UnitFacts(query, unit.key, unit.about, clean_options(PIPELINE.options, options))


def read(step, unit, reply, **options):
    found, asked = PIPELINE.step(step), asked_of(step, unit, **options)
    return read_products(found, asked, found.prompt(asked), Reply(text=json.dumps(reply)))


YES = product("screening", {"ambiguous": True, "readings": ["a", "b"], "reason": ""})
NO = product("screening", {"ambiguous": False, "readings": ["a"], "reason": ""})
FOUND = product("fragments", {"fragments": FRAGMENTS})
DRAFTS = [product("drafts", {"entries": [OLD, NEW]}, "d1"), product("drafts", {"entries": [OLD]}, "d2")]
MERGED = product("merged", {"entries": [OLD, NEW]})


# --- screening and fragments ----------------------------------------------------------------------------------------


def test_earlier_answers_are_shown_to_the_screener():
    query = SourceQuery(key="q", text="When?", references=["In 1894.", {"entries": [OLD]}, " "])
    prompt = PIPELINE.step("screening").prompt(UnitFacts(query, "", {}, {}))
    assert "Earlier answer 1" in prompt.user
    assert "Earlier answer 2" not in prompt.user


@pytest.mark.parametrize(
    ("screened", "screening", "goes_on"),
    [
        (YES, "drop", True),
        (NO, "drop", False),
        (NO, "mark", True),
        (None, "drop", False),
        (None, "none", True),
    ],
)
def test_queries_that_are_not_ambiguous_are_left_out_unless_they_are_to_be_kept(screened, screening, goes_on):
    made = [screened] if screened else []
    documents = [{"title": "Ulm", "snippet": "In 1894."}]
    units = planned("fragments", *made, options={"screening": screening}, documents=documents)
    assert bool(units) is goes_on
    assert bool(planned("screening", options={"screening": screening})) is (screening != "none")


def test_fragments_that_were_retrieved_come_before_the_querys_documents():
    retrieved = [product("fragments", {**each, "score": 1.0, "id": "x"}) for each in FRAGMENTS]
    [unit] = planned("fragments", YES, sources=retrieved, documents=[{"text": "Other."}])
    assert unit.products == [{"fragments": FRAGMENTS}]
    [unit] = planned("fragments", YES, sources=retrieved, options={"fragments": 1})
    assert unit.products == [{"fragments": FRAGMENTS[:1]}]
    [unit] = planned("fragments", YES, documents=[{"text": "Other."}])
    assert unit.products[0]["fragments"][0]["text"] == "Other."
    assert planned("fragments", YES) == []


def test_what_is_known_of_a_query_keeps_the_documents_that_it_cites():
    retrieved = [product("fragments", {**FRAGMENTS[0], "score": 1.0, "id": "x"})]
    documents = [{"text": "First."}, {"text": "Second."}]
    for known in ({"settled": [NEW]}, {"references": [{"entries": [NEW]}]}):
        [unit] = planned("fragments", YES, sources=retrieved, documents=documents, **known)
        assert [each["text"] for each in unit.products[0]["fragments"]] == ["First.", "Second."]


# --- drafts ---------------------------------------------------------------------------------------------------------


def test_each_drafter_drafts_and_one_that_is_named_twice_gives_two_samples():
    units = planned("drafts", YES, FOUND)
    assert [(each.key, str(each.model), each.sample) for each in units] == [
        ("d1", "aspen", 0), ("d2", "birch", 0), ("d3", "aspen", 1),
    ]  # fmt: skip
    assert planned("drafts", YES) == []
    assert planned("drafts", YES, FOUND, settled=[OLD]) == []
    assert planned("drafts", YES, FOUND, settled=[OLD], options={"conditions": "drafted"}) != []


def test_what_the_fragments_are_silent_about_stays_blank():
    [unit, *_] = planned("drafts", YES, FOUND)
    silent = {"condition": "The footbridge", "answers": [], "citations": [], "reason": "No fragment says it."}
    assert read("drafts", unit, {"entries": [OLD, silent]}) == [{"entries": [OLD, silent]}]
    assert read("drafts", unit, {"entries": []}) == [{"entries": []}]
    doubled = {**OLD, "answers": ["In 1894", "In  1894"], "citations": [2, 1]}
    assert read("drafts", unit, {"entries": [doubled]})[0]["entries"][0]["citations"] == [1, 2]


@pytest.mark.parametrize(
    "wrong",
    [
        {**OLD, "citations": [3]},
        {**OLD, "citations": [0]},
        {**OLD, "citations": ["1"]},
        {**OLD, "answers": "In 1894"},
        {**OLD, "answers": [""]},
        {**OLD, "source": "me"},
        {"condition": "", "answers": [], "citations": [], "reason": ""},
    ],
)
def test_a_draft_that_is_not_what_was_asked_for_is_none(wrong):
    [unit, *_] = planned("drafts", YES, FOUND)
    with pytest.raises(ReplyRejected):
        read("drafts", unit, {"entries": [wrong]})


# --- merging --------------------------------------------------------------------------------------------------------


def test_several_drafts_are_merged_and_a_single_one_is_taken_as_it_is():
    [unit] = planned("merged", *DRAFTS)
    assert str(unit.model) == "aspen"
    [alone] = planned("merged", DRAFTS[1], product("drafts", {"entries": []}, "d3"))
    assert (alone.model, alone.products) == (None, [{"entries": [OLD]}])
    assert planned("merged", product("drafts", {"entries": []}, "d1")) == []


def test_a_merged_set_cites_what_the_drafts_cite():
    [unit] = planned("merged", *DRAFTS)
    merged = [{name: each[name] for name in ("condition", "answers", "citations")} for each in (OLD, NEW)]
    assert read("merged", unit, {"entries": merged}) == [{"entries": [OLD, NEW]}]
    for wrong in ([{**merged[0], "citations": [3]}], [], [{**merged[0], "reason": "So."}]):
        with pytest.raises(ReplyRejected):
            read("merged", unit, {"entries": wrong})


def test_drafts_that_cite_nothing_merge_into_a_set_that_cites_nothing():
    silent = product("drafts", {"entries": [{**OLD, "citations": []}]}, "d1")
    [unit] = planned("merged", silent, silent)
    entry = {"condition": "The first bridge", "answers": ["In 1894"], "citations": []}
    assert read("merged", unit, {"entries": [entry]})[0]["entries"][0]["citations"] == []
    with pytest.raises(ReplyRejected):
        read("merged", unit, {"entries": [{**entry, "citations": [1]}]})


# --- answers --------------------------------------------------------------------------------------------------------


def test_a_system_answers_in_each_setting_once():
    units = planned("answers", FOUND, MERGED, options={"settings": "all"})
    assert [each.key for each in units] == [
        f"{model}:{setting}" for model in ("aspen", "birch") for setting in ("self", "rag", "given")
    ]
    assert PIPELINE.step("answers").most(state(options={"settings": "all"}).options, CAST) == len(units)
    assert [each.key for each in planned("answers", FOUND, options={"settings": "all"})][-1] == "birch:rag"
    assert planned("answers", FOUND, MERGED) == []
    assert planned("answers", MERGED, options={"settings": "all"}) == []


@pytest.mark.parametrize(
    ("known", "conditions", "given"),
    [
        ({"settled": [NEW]}, "known", "The bridge for cars"),
        ({"settled": [NEW]}, "drafted", "The first bridge"),
        ({"references": ["In 1967.", {"entries": [NEW]}]}, "known", "The bridge for cars"),
        ({}, "known", "The first bridge"),
    ],
)
def test_the_conditions_given_are_those_that_are_known_or_else_the_drafted_ones(known, conditions, given):
    merged = product("merged", {"entries": [OLD]})
    options = {"settings": "given", "conditions": conditions}
    unit = planned("answers", FOUND, merged, options=options, **known)[0]
    assert unit.about["conditions"] == [given]


def test_answers_are_sets_of_entries_in_every_setting():
    found_itself, direct, given = planned("answers", FOUND, MERGED, options={"settings": "all"})[:3]
    entry = {"condition": "Cars", "answers": ["In 1967"], "citations": [2]}
    [made] = read("answers", found_itself, {"entries": [entry]})
    assert made == {"system": "aspen-self", "setting": "self", "entries": [{**entry, "reason": ""}]}
    [made] = read("answers", direct, {"answers": [{"answer": "In 1894", "citations": [1]}]})
    assert made["entries"] == [{**OLD, "condition": ""}]
    under = {
        "condition_1": {"answers": ["In 1894"], "citations": [1]},
        "condition_2": {"answers": [], "citations": []},
    }
    [made] = read("answers", given, under)
    assert made["entries"] == [OLD, {**NEW, "answers": [], "citations": []}]


def test_answers_that_are_not_what_was_asked_for_are_none():
    found_itself, direct, given = planned("answers", FOUND, MERGED, options={"settings": "all"})[:3]
    entry = {"condition": "Cars", "answers": ["In 1967"], "citations": [2]}
    four = [{**entry, "condition": f"Case {number}"} for number in range(4)]
    for unit, wrong in (
        (found_itself, {"entries": four}),
        (found_itself, {"entries": [{**entry, "condition": ""}]}),
        (direct, {"answers": [{"answer": "In 1894", "citations": [3]}]}),
        (given, {"condition_1": {"answers": ["In 1894"], "citations": [1]}}),
    ):
        with pytest.raises(ReplyRejected):
            read("answers", unit, wrong)
    assert len(read("answers", found_itself, {"entries": four}, most_conditions=4)[0]["entries"]) == 4


def test_only_the_setting_with_conditions_shows_them():
    units = planned("answers", FOUND, MERGED, options={"settings": "all"})[:3]
    step = PIPELINE.step("answers")
    shown = ["The bridge for cars" in step.prompt(asked_of("answers", each)).user for each in units]
    assert shown == [False, False, True]


# --- edits ----------------------------------------------------------------------------------------------------------


def test_what_a_researcher_edits_is_held_to_the_same_form():
    for step, fine, wrong in (
        ("screening", {"ambiguous": False}, {"ambiguous": "no"}),
        ("fragments", {"fragments": FRAGMENTS}, {"fragments": FRAGMENTS[1:]}),
        ("drafts", {"entries": [{"condition": "Cars"}]}, {"entries": [{"condition": 3}]}),
        ("merged", {"entries": []}, {"condition": "Cars"}),
        ("answers", {"system": "a", "setting": "rag", "entries": [OLD]}, {"entries": [OLD]}),
    ):
        assert PIPELINE.step(step).problems(fine) == []
        assert PIPELINE.step(step).problems(wrong)
    [unit] = planned("merged", product("drafts", {"entries": [{"condition": "Cars"}]}, "d1"))
    assert unit.products[0]["entries"][0]["answers"] == []
