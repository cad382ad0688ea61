"""Attributes of a study: named by items, several on a line, followed while a draft, frozen, and there and back."""

import json
import re
from pathlib import Path

import orjson
import pytest

from evaluation.dumps.imports.draft_items import import_items
from evaluation.dumps.lines import FileSource
from evaluation.models import Response
from evaluation.protocols.attributes import ATTRIBUTES
from evaluation.refusals import Refused
from evaluation.services.studies.creation import create_study
from evaluation.services.studies.launch import launch_study
from evaluation.services.studies.verification import verify_study
from tests.evaluation.dumps.build import (
    ARM,
    content,
    export_bytes,
    header,
    judgment,
    nothing_left,
    read_in,
    write,
)

pytestmark = pytest.mark.django_db

DOC = (Path(__file__).resolve().parents[3] / "docs" / "protocols" / "relevance.md").read_text("utf-8")
SEASON = {"key": "season", "question": "Which season is it for?", "values": ["Summer", "Winter"]}
PLACE = {"key": "place", "question": "Where is it for?", "values": ["Indoors", "Outdoors", "Both"]}
RELEVANCE = {"protocol": "relevance", "title": "Gardens", "arms": [ARM]}


def study_line(**spec):
    return header(spec=RELEVANCE | {"attributes": [SEASON, PLACE]} | spec)


def item_of(*follow_ups, number=1, **changes):
    context = {"key": "c", "follow_ups": list(follow_ups)}
    return {
        "key": f"i{number}",
        "arm": "plain",
        "query": {"key": f"q{number}", "text": "How do I begin a garden?"},
        "context": context,
        "responses": [{"system": "aspen", "text": f"With soil, {number}."}],
        **changes,
    }


def with_attributes(*keys, **changes):
    item = item_of(**changes)
    del item["context"]
    return item | {"attributes": list(keys)}


def lines(study):
    return [json.loads(line) for line in export_bytes(study).splitlines()]


def follow_ups_of(item):
    return [{k: v for k, v in each.items() if k != "part"} for each in item.stimulus["context"]["follow_ups"]]


def refused(tmp_path, *records):
    with pytest.raises(Refused) as error:
        read_in(write(tmp_path / "bad.jsonl", *records))
    assert nothing_left()
    return error.value.problems


# --- what a study has ---------------------------------------------------------------------------------------------


def test_a_relevance_study_begins_with_those_of_the_paper_and_no_other_study_has_any():
    study = create_study(slug="r", title="R", protocol="relevance")
    assert list(study.attributes.values_list("key", "question")) == [
        (key, each.question) for key, each in ATTRIBUTES.items()
    ]
    assert not create_study(slug="p", title="P", protocol="pairwise").attributes.exists()


def test_a_line_written_by_hand_has_those_of_the_paper_and_a_compiled_one_has_those_that_it_says(tmp_path):
    by_hand = read_in(write(tmp_path / "a.jsonl", header(spec=RELEVANCE), item_of({"attribute": "age"})))
    assert by_hand.attributes.count() == 12
    assert lines(by_hand)[0]["spec"]["attributes"][0] == ATTRIBUTES["detail"].as_json()
    compiled = header(spec=RELEVANCE | {"format": 1})
    own = item_of({"question": "When?", "answers": ["Now", "Later"]})
    old = read_in(write(tmp_path / "b.jsonl", compiled, own), slug="old")
    assert not old.attributes.exists()
    assert "attributes" not in lines(old)[0]["spec"]


def test_a_study_without_attributes_keeps_the_hash_that_it_had_before_there_were_any(tmp_path):
    """As an export of that time has it: without a word of attributes."""
    own = item_of({"question": "When?", "answers": ["Now", "Later"]})
    judged = own | {"judgments": [judgment(answers={"relevance": {"f1.v1": 4, "f1.v2": 2}})]}
    study = read_in(write(tmp_path / "a.jsonl", header(spec=RELEVANCE | {"format": 1}), judged))
    spec = study.revisions.get().spec
    assert "attributes" not in spec
    dump = lines(study)
    assert dump[0]["study_hash"] == study.study_hash
    again = read_in(write(tmp_path / "b.jsonl", *dump), slug="again")
    assert content(again) == content(study)


# --- items that name them -----------------------------------------------------------------------------------------


def test_a_named_attribute_is_judged_like_one_that_an_item_brings(tmp_path):
    brought = {"question": SEASON["question"], "answers": SEASON["values"]}
    study = read_in(
        write(
            tmp_path / "a.jsonl",
            study_line(),
            item_of({"attribute": "season"}, {"attribute": "place", "answer": "Both"}),
            item_of(brought, {"question": PLACE["question"], "answers": PLACE["values"], "answer": "Both"},
                    number=2, query={"key": "q1", "text": "How do I begin a garden?"},
                    context={"key": "c2", "follow_ups": [
                        brought, {"question": PLACE["question"], "answers": PLACE["values"], "answer": "Both"}]},
                    responses=[{"system": "aspen", "text": "With soil, 1."}]),
        )
    )  # fmt: skip
    launch_study(study)
    named, own = study.items.order_by("key")
    assert follow_ups_of(named) == follow_ups_of(own) == [
        brought | {"answer": ""},
        {"question": PLACE["question"], "answers": PLACE["values"], "answer": "Both"},
    ]  # fmt: skip
    assert list(verify_study(study)) == []


def test_items_of_a_draft_follow_what_is_edited_and_a_launch_ends_that(tmp_path):
    study = read_in(write(tmp_path / "a.jsonl", study_line(), item_of({"attribute": "season"})))
    study.attributes.filter(key="season").update(values=["Summer", "Autumn", "Winter"])
    launch_study(study)
    item = study.items.get()
    assert follow_ups_of(item)[0]["answers"] == ["Summer", "Autumn", "Winter"]
    assert study.revisions.get().spec["attributes"][0]["values"] == ["Summer", "Autumn", "Winter"]


def test_what_was_edited_away_is_named_when_the_study_is_launched(tmp_path):
    adapted = item_of({"attribute": "season", "answer": "Winter"}, number=2)
    study = read_in(write(tmp_path / "a.jsonl", study_line(), item_of({"attribute": "place"}), adapted))
    study.attributes.filter(key="place").delete()
    study.attributes.filter(key="season").update(values=["Spring", "Summer"])
    with pytest.raises(Refused) as error:
        launch_study(study)
    assert error.value.problems == [
        "Item i1: context: the study has no attribute 'place'; it has: season",
        "Item i2: context: the chosen answer of follow-up question 1 is not in its set",
    ]
    study.attributes.filter(key="season").update(values=["only one"])
    with pytest.raises(Refused, match="season: needs 2 to 30 values, has 1"):
        launch_study(study)


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (item_of({"attribute": "colour"}), "context: the study has no attribute 'colour'; it has: season, place"),
        (
            item_of({"attribute": "season", "answer": "Spring"}),
            "context: the chosen answer of follow-up question 1 is not in its set",
        ),
        (
            item_of({"attribute": "season", "answers": ["Spring", "Summer"]}),
            "context: follow-up question 1 names an attribute and brings answers of its own",
        ),
        (item_of({"answer": "Summer"}), "context.follow_ups[0]: 'question' is a required property"),
        (with_attributes("season", "colour"), "context: the study has no attribute 'colour'"),
        (with_attributes("season", "season"), "attributes: 'season' appears twice"),
        (with_attributes("season", gold={"relevance": {"f1.v1": 5}}), "gold: can't stand beside attributes"),
        (with_attributes("season") | {"context": None}, "context: can't stand beside attributes"),
        (with_attributes("season", key="k" * 114), "is longer than 120"),
        (with_attributes(), "attributes: [] should be non-empty"),
        (
            item_of({"attribute": "season"},
                    responses=[{"system": "a", "text": "t",
                                "context": {"key": "x", "follow_ups": [{"attribute": "colour"}]}}]),
            "context: the study has no attribute 'colour'",
        ),
    ],
)  # fmt: skip
def test_a_line_that_names_what_there_is_not(item, said, tmp_path):
    (problem,) = refused(tmp_path, study_line(), item_of({"attribute": "place"}, number=9), item)
    assert problem.startswith("line 3: ")
    assert said in problem


@pytest.mark.parametrize(
    ("attributes", "said"),
    [
        ([SEASON, SEASON], "attributes: the attribute 'season' appears twice"),
        ([{**SEASON, "values": ["Summer"]}], "attributes.season: needs 2 to 30 values, has 1"),
        ([{"key": "season"}], "spec.attributes[0]: 'question' is a required property"),
    ],
)
def test_a_study_s_line_with_attributes_that_can_t_be_asked_of(attributes, said, tmp_path):
    problems = refused(tmp_path, study_line(attributes=attributes), item_of({"attribute": "season"}))
    assert f"line 1: {said}" in problems


def test_attributes_are_of_relevance_alone(tmp_path):
    line = header(spec={"attributes": [SEASON]})
    assert refused(tmp_path, line) == ["line 1: attributes: no item of this protocol is about attributes"]


# --- several on a line --------------------------------------------------------------------------------------------


def test_one_line_is_an_item_per_attribute_with_one_response(tmp_path):
    path = write(tmp_path / "a.jsonl", study_line(), with_attributes("place", "season"))
    study = read_in(path)
    assert list(study.items.values_list("key", "context__key")) == [
        ("i1-place", "place"),
        ("i1-season", "season"),
    ]
    assert Response.objects.filter(query__study=study).count() == 1
    launch_study(study)
    assert [follow_ups_of(item)[0]["answers"] for item in study.items.all()] == [
        PLACE["values"], SEASON["values"],
    ]  # fmt: skip


def test_the_same_key_from_a_line_of_several_and_from_one_of_its_own(tmp_path):
    (problem,) = refused(
        tmp_path,
        study_line(),
        with_attributes("place"),
        item_of({"attribute": "season"}, number=2, key="i1-place"),
    )
    assert problem == "line 3: an item with the same key stands at line 2 and differs"


def test_the_line_of_the_docs(tmp_path):
    (block,) = re.findall(r"<!-- lines -->\n```json\n(.*?)\n```", DOC, re.DOTALL)
    spec = RELEVANCE | {"arms": [ARM | {"key": "all"}]}
    study = read_in(write(tmp_path / "a.jsonl", header(spec=spec), orjson.loads(block)))
    assert list(study.items.values_list("key", flat=True)) == ["inflation-expertise", "inflation-age"]
    keys = re.search(r"twelve attributes of ContextEval's Table 8: (.*?)\. ", DOC, re.DOTALL)[1]
    assert re.findall(r"`(\w+)`", keys) == list(ATTRIBUTES)


# --- there and back -----------------------------------------------------------------------------------------------


def test_a_draft_is_exported_with_the_names_and_read_back_equal(tmp_path):
    given = item_of(
        {"attribute": "season", "answer": "Winter"}, number=2,
        responses=[{"system": "aspen", "text": "Snow.", "context":
                    {"key": "other", "follow_ups": [{"attribute": "place", "answer": "Indoors"}]}}],
    )  # fmt: skip
    study = read_in(write(tmp_path / "a.jsonl", study_line(), with_attributes("place", "season"), given))
    dump = lines(study)
    assert dump[0]["spec"]["attributes"] == [SEASON, PLACE]
    assert [each["context"]["follow_ups"] for each in dump[1:]] == [
        [{"attribute": "place", "answer": ""}],
        [{"attribute": "season", "answer": ""}],
        [{"attribute": "season", "answer": "Winter"}],
    ]
    again = read_in(write(tmp_path / "b.jsonl", *dump), slug="again")
    assert lines(again) == [dump[0] | {"slug": "again"}, *dump[1:]]
    again.attributes.filter(key="place").update(question="Where?")
    launch_study(again)
    assert follow_ups_of(again.items.get(key="i1-place"))[0]["question"] == "Where?"


def test_a_draft_whose_attributes_were_all_deleted_stays_without(tmp_path):
    own = item_of({"question": "When?", "answers": ["Now", "Later"]})
    study = read_in(write(tmp_path / "a.jsonl", study_line(), own))
    study.attributes.all().delete()
    again = read_in(write(tmp_path / "b.jsonl", *lines(study)), slug="again")
    assert not again.attributes.exists()


def test_a_launched_study_is_exported_with_the_words_and_read_back_with_its_hashes(tmp_path):
    given = item_of(
        {"attribute": "season", "answer": "Winter"}, number=2,
        responses=[{"system": "aspen", "text": "Snow.", "context":
                    {"key": "other", "follow_ups": [{"attribute": "place", "answer": "Indoors"}]}}],
    )  # fmt: skip
    study = read_in(write(tmp_path / "a.jsonl", study_line(), with_attributes("place", "season"), given))
    launch_study(study)
    dump = lines(study)
    assert dump[0]["spec"]["attributes"] == [SEASON, PLACE]
    assert dump[3]["context"]["follow_ups"] == [
        {"question": SEASON["question"], "answers": SEASON["values"], "answer": "Winter"}
    ]
    assert dump[3]["responses"][0]["context"]["follow_ups"][0]["answers"] == PLACE["values"]
    again = read_in(write(tmp_path / "b.jsonl", *dump), slug="again")
    assert content(again) == content(study)
    assert lines(again) == [dump[0] | {"slug": "again"}, *dump[1:]]


def test_an_attribute_that_only_a_response_s_own_context_names_is_missed_at_launch(tmp_path):
    given = item_of(
        {"attribute": "season"},
        responses=[{"system": "aspen", "text": "Snow.", "context":
                    {"key": "other", "follow_ups": [{"attribute": "place", "answer": "Indoors"}]}}],
    )  # fmt: skip
    study = read_in(write(tmp_path / "a.jsonl", study_line(), given))
    study.attributes.filter(key="place").delete()
    with pytest.raises(Refused, match="no attribute 'place'; it has: season"):
        launch_study(study)
    assert not study.items.exclude(stimulus=None).exists()


def test_judged_lines_that_name_attributes_are_read_and_come_back(tmp_path):
    judged = item_of({"attribute": "season"}) | {
        "judgments": [judgment(answers={"relevance": {"f1.v1": 4, "f1.v2": 2}})]
    }
    study = read_in(write(tmp_path / "a.jsonl", study_line(), judged))
    assert study.status == "closed"
    assert list(verify_study(study)) == []
    again = read_in(write(tmp_path / "b.jsonl", *lines(study)), slug="again")
    assert content(again) == content(study)


def test_a_changed_attribute_is_seen_by_the_study_s_hash(tmp_path):
    study = read_in(write(tmp_path / "a.jsonl", study_line(), item_of({"attribute": "place"})))
    launch_study(study)
    first, *items = lines(study)
    first["spec"]["attributes"][0]["values"].append("Autumn")
    with pytest.raises(Refused, match="study_hash is"):
        read_in(write(tmp_path / "b.jsonl", first, *items), slug="again")


# --- items for a draft that exists --------------------------------------------------------------------------------


def test_an_upload_s_items_name_the_draft_s_attributes_and_bring_those_that_it_lacks(tmp_path):
    study = create_study(slug="mine", title="Mine", protocol="relevance")
    study.arms.create(key="plain", label="Plain")
    study.attributes.exclude(key="age").delete()
    study.attributes.filter(key="age").update(values=["Young", "Old"])
    theirs = study_line(attributes=[SEASON, ATTRIBUTES["age"].as_json()])
    source = FileSource(write(tmp_path / "a.jsonl", theirs, with_attributes("age", "season")))
    assert import_items(source, study) == 2
    assert list(study.attributes.values_list("key", "values")) == [
        ("age", ["Young", "Old"]), ("season", ["Summer", "Winter"]),
    ]  # fmt: skip
    launch_study(study)
    assert follow_ups_of(study.items.get(key="i1-age"))[0]["answers"] == ["Young", "Old"]
    without = create_study(slug="other", title="Other", protocol="relevance")
    without.arms.create(key="plain", label="Plain")
    without.attributes.all().delete()
    with pytest.raises(Refused, match="line 1: context: the study has no attribute 'age'; it has: none"):
        import_items(FileSource(write(tmp_path / "b.jsonl", with_attributes("age"))), without)
