"""A set of entries as a page draws it: what is drafted, what was filled in, what can be taken over, what is wrong."""

import json
import re

import pytest
from django.template.loader import render_to_string

from annotator.services.work.drafts import MAX_DRAFT
from evaluation.forms.feedback import build_feedback
from evaluation.forms.input.posted_fields import read_fields, read_trace
from evaluation.forms.screen import build_screen
from evaluation.protocols import AnswersInvalid, get_protocol
from evaluation.protocols.answers.trace import MAX_MOVES, possible_moves, read_moves
from evaluation.protocols.entries.sets import add_origins, decisions, merge_entries, read_answers
from tests.calibrations import FERRY, FRAGMENTS, NEW, OLD, form, kept

RUDE = '<b onclick="x">"Rude" & co.</b>'
CALIBRATION = get_protocol("condition_calibration")
SPEC = {
    "asker": "Person X",
    "show_references": False,
    "arms": [{"key": "all", "context_at_generation": False, "context_at_judging": False}],
    "questions": [question.as_json() for question in CALIBRATION.default_questions()],
    "texts": {},
}


def stimulus(*sets, documents=FRAGMENTS):
    drafted = [
        [{name: each[name] for name in each if name != "origins"} for each in entries] for entries in sets
    ]
    return {
        "arm": "all",
        "query": {"text": "When?", "information_need": "", "references": [], "documents": list(documents)},
        "clarifying_question": "",
        "context": None,
        "responses": [
            {"part": f"r{n}", "system": str(n), "text": json.dumps(entries), "html": ""}
            for n, entries in enumerate(drafted, 1)
        ],
    }


def screen_of(item, *, order="", fields=None, problems=(), **options):
    data = read_fields(fields) if fields is not None else None
    return build_screen(CALIBRATION, SPEC, item, order, data=data, problems=problems, **options)


def set_of(item, **options):
    return screen_of(item, **options)["fields"][0]["entries"]


def drawn(item, **options):
    screen = screen_of(item, **options)
    return render_to_string(screen["template"], {"screen": screen})


def rows_of(item, **options):
    return [(row["key"], row["origins"], row["status"]) for row in set_of(item, **options)["rows"]]


def drafting(*rounds, name="a-model"):
    return {
        "name": name,
        "revise": "/revise/",
        "rounds_url": "/rounds/",
        "look": "/draft/",
        "page": "/page/",
        "left": 8 - len(rounds),
        "instruction": "",
        "rounds": [
            {"number": n, "state": "done", "instruction": "Shorter.", "problem": "", "after": after}
            for n, after in enumerate(rounds, 1)
        ],
    }


def refused(item, fields):
    """The problems of the form, and the page that shows them."""
    with pytest.raises(AnswersInvalid) as invalid:
        CALIBRATION.clean(SPEC, item, read_fields(fields))
    problems = invalid.value.problems
    return problems, screen_of(item, fields=fields, problems=problems)


# --- drafts -------------------------------------------------------------------------------------------------------


def test_a_draft_is_undecided_and_its_fields_hold_what_it_says():
    html = drawn(stimulus([OLD, NEW]))
    assert rows_of(stimulus([OLD, NEW])) == [("e1", "r1.e1", "draft"), ("e2", "r1.e2", "draft")]
    assert 'data-open="2"' in html
    assert re.search(r'name="entries.e2.condition"[^>]*>\nThe bridge for cars</textarea>', html)
    ticked = re.findall(r'name="(entries[^"]*cite[^"]*)"[^>]* checked', html)
    assert ticked == ["entries.e1.cite.1", "entries.e2.cite.2"]
    ids = re.findall(r' id="([^"]+)"', html)
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(("lines", "high"), [(1, 1), (3, 3), (40, 14)])
def test_a_field_is_as_high_as_its_text_and_no_higher(lines, high):
    [row] = set_of(stimulus([OLD | {"reason": "\n".join(["So it says."] * lines)}]))["rows"]
    assert row["heights"]["reason"] == high


def test_without_a_draft_there_is_nothing_to_decide_but_an_entry_to_add():
    found = set_of(stimulus())
    assert (found["rows"], found["still_open"]) == ([], 1)
    assert [row["key"] for row in found["spare"]] == ["e1", "e2"]


def test_whatever_a_draft_says_is_text():
    rude = OLD | {"condition": RUDE, "answers": [RUDE], "citations": [{"title": RUDE, "text": RUDE}]}
    documents = [{"title": RUDE, "text": RUDE}]
    for item in (stimulus([rude], documents=documents), stimulus([rude], [NEW], documents=documents)):
        assert RUDE not in drawn(item, drafting=drafting([rude], name=RUDE))


def test_entries_without_fragments_keep_their_quotations():
    quoted = OLD | {"citations": [{"title": "Harbour Bridge", "text": "Opened in 1894."}]}
    [row] = set_of(stimulus([quoted], documents=[]))["rows"]
    assert [each["title"] for each in row["quoted"]] == ["Harbour Bridge"]
    assert [json.loads(each["json"]) for each in row["quoted"]] == quoted["citations"]
    assert json.loads(row["quotations"]) == quoted["citations"]
    assert "open-fragments" not in drawn(stimulus([quoted], documents=[]))


# --- what was filled in ---------------------------------------------------------------------------------------------


def test_every_status_is_told_by_what_was_filled_in():
    item = stimulus([OLD, NEW, FERRY])
    fields = form(
        kept(OLD, "r1.e1"),
        kept(NEW, "r1.e2", answers=["In 1962"]),
        kept(FERRY),
        kept(OLD, "r1.e1", "r1.e3"),
        kept(FERRY, "r1.e3"),
        **{"entries.e5.keep": "0"},
    )
    rows = set_of(item, fields=fields)["rows"]
    assert [(row["key"], row["status"], row["number"]) for row in rows] == [
        ("e1", "accepted", "1"),
        ("e2", "edited", "2"),
        ("e3", "added", "3"),
        ("e4", "merged", "4"),
        ("e5", "gone", ""),
    ]
    assert rows[-1]["says"] == "Merged into entry 4"
    again = set_of(item, fields=form(kept(OLD, "r1.e1", **{}), **{"entries.e1.keep": "0"}))
    assert [row["status"] for row in again["rows"]] == ["rejected", "rejected", "rejected"]
    assert again["still_open"] == 1


def test_a_draft_comes_back_in_its_order():
    fields = form(
        kept(OLD, "r1.e1"), kept(NEW, "r1.e2"), **{"entries.e1.place": "7", "entries.e9.place": "8"}
    )
    assert rows_of(stimulus([OLD, NEW]), fields=fields) == [
        ("e2", "r1.e2", "accepted"),
        ("e1", "r1.e1", "accepted"),
    ]


@pytest.mark.parametrize(
    ("moved", "to", "order"),
    [("e3", "1", ["r1.e3", "r1.e1", "r1.e2"]), ("e1", "3", ["r1.e2", "r1.e3", "r1.e1"])],
)
def test_a_row_that_was_given_the_place_of_another_gets_it(moved, to, order):
    item = stimulus([OLD, NEW, FERRY])
    shown = {f"entries.{row['key']}.was": str(row["place"]) for row in set_of(item)["rows"]}
    fields = form(kept(OLD, "r1.e1"), kept(NEW, "r1.e2"), kept(FERRY, "r1.e3"), **shown)
    fields[f"entries.{moved}.place"] = to
    assert [row["origins"] for row in set_of(item, fields=fields)["rows"]] == order
    answers = CALIBRATION.clean(SPEC, item, read_fields(fields))
    settled = [json.loads(each.text) for each in answers if each.question == "entries"]
    assert [entry["origins"] for entry in settled] == [[each] for each in order]


def test_what_nobody_decided_is_refused_where_it_stands():
    item = stimulus([OLD, NEW])
    fields = form(kept(OLD, "r1.e1"), kept(NEW, "r1.e2", condition="Mine"), **{"entries.e2.keep": ""})
    problems, screen = refused(item, fields)
    assert [(problem.code, problem.where) for problem in problems] == [("undecided", "entries.e2")]
    assert screen["summary"] == [
        {"href": "#q-entries.e2", "text": "Entry 2: Please accept or reject this entry."}
    ]
    html = render_to_string(screen["template"], {"screen": screen})
    assert html.count('id="q-entries.e2"') == 1
    assert ">\nMine</textarea>" in html


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"entries.e1.keep": "0"}, "Please keep, take over or add at least one entry."),
        (
            {"entries.e1.condition": " ", "entries.e1.answers": "\n", "entries.e1.reason": ""},
            "Entry 1: This entry is empty. Please fill it in or reject it.",
        ),
        ({"entries.e1.condition": "x" * 20_001}, "Entry 1: This is too long"),
    ],
)
def test_what_is_wrong_is_said_in_words(changes, said):
    fields = form(kept(OLD, "r1.e1", citations=[]), **changes)
    _, screen = refused(stimulus([OLD]), fields)
    [line] = screen["summary"]
    assert said in line["text"]
    assert f'id="{line["href"][1:]}"' in render_to_string(screen["template"], {"screen": screen})


@pytest.mark.parametrize(
    "changes",
    [
        {"entries.e1.cite.99": "on"},
        {"entries.e1.quoted": "{"},
        {"entries.e1.origins": "r9.e9"},
        {"entries.x": "1"},
        {"entries.e1.place": "last"},
    ],
)
def test_a_form_that_no_page_sends_can_still_be_drawn(changes):
    assert ">\nThe first bridge</textarea>" in drawn(
        stimulus([OLD]), fields=form(kept(OLD, "r1.e1"), **changes)
    )


# --- several sets ---------------------------------------------------------------------------------------------------


def test_sets_stand_side_by_side_in_the_order_shown_and_nothing_is_taken_yet():
    other = NEW | {"answers": ["1962 or 1963"]}
    found = set_of(stimulus([OLD, NEW], [other, FERRY]), order="r2,r1")
    assert [head["part"] for head in found["sets"]] == ["r2", "r1"]
    assert [line["says"] for line in found["lines"]] == [
        "They differ in: answers",
        "Only in Set 1",
        "Only in Set 2",
    ]
    theirs, mine = (cell["offer"] for cell in found["lines"][0]["cells"])
    assert [(piece["text"], piece["differs"]) for piece in theirs["answers"][0]] == [
        ("1962 ", False),
        ("or 1963", True),
    ]
    assert not any(piece["differs"] for piece in mine["answers"][0])
    # A row stands for each, by the same name in whatever order the sets are shown.
    assert (theirs["row"], mine["row"]) == ("e3", "e2")
    assert all(row["is_offered"] and row["keep"] == "0" for row in found["rows"])
    assert found["still_open"] == 1


def test_what_was_taken_over_is_in_the_set_and_says_from_where():
    item = stimulus([OLD], [NEW])
    rows = set_of(item, order="r1,r2", fields=form(kept(NEW, "r2.e1")))["rows"]
    assert [(row["origins"], row["status"], row["is_offered"], row["source"]) for row in rows] == [
        ("r2.e1", "accepted", False, "Set 2, entry 1"),
        ("r1.e1", "rejected", True, "Set 1, entry 1"),
    ]
    keys = [row["key"] for row in rows]
    assert len(set(keys)) == 2


def test_what_was_merged_away_is_offered_by_the_row_that_has_it():
    item = stimulus([OLD], [NEW])
    merged = form(kept(OLD, "r1.e1", "r2.e1"), **{"entries.e1.keep": "0"})
    found = set_of(item, order="r1,r2", fields=merged)
    offers = [cell["offer"]["row"] for line in found["lines"] for cell in line["cells"] if cell["offer"]]
    assert offers == ["e1", "e1"]
    both = form(kept(OLD, "r1.e1", "r2.e1"), kept(NEW, "r2.e1"), **{"entries.e2.keep": "0"})
    found = set_of(item, order="r1,r2", fields=both)
    offers = [cell["offer"]["row"] for line in found["lines"] for cell in line["cells"] if cell["offer"]]
    assert offers == ["e1", "e2"]


# --- the model ------------------------------------------------------------------------------------------------------


def test_the_model_is_offered_only_where_there_is_one():
    item = stimulus([OLD])
    assert "ask-model" not in drawn(item)
    assert "ask-model" in drawn(item, drafting=drafting())
    gone = drawn(item, drafting=drafting([NEW], name=""))
    assert "ask-model" not in gone
    assert "Revision 1" in gone


def test_each_revision_is_kept_and_can_be_taken_over():
    item = stimulus([OLD])
    found = set_of(item, drafting=drafting([OLD, NEW], [FERRY]))
    assert [(row["key"], row["origins"], row["is_offered"]) for row in found["rows"]] == [
        ("e1", "r1.e1", False),
        ("e101", "m1.e1", True),
        ("e102", "m1.e2", True),
        ("e201", "m2.e1", True),
    ]
    assert [offer["row"] for offer in found["rounds"][1]["offers"]] == ["e201"]
    html = drawn(item, drafting=drafting([OLD, NEW], [FERRY]))
    assert html.index("<b>Revision 2</b>") < html.index("<b>Revision 1</b>")
    taken = form(kept(FERRY, "m2.e1", condition="By ferry"))
    [row, *_] = set_of(item, fields=taken, drafting=drafting([OLD, NEW], [FERRY]))["rows"]
    assert (row["status"], row["source"]) == ("edited", "Revision 2, entry 1")
    answers = CALIBRATION.clean(SPEC, item, read_fields(taken))
    assert json.loads(answers[0].text)["origins"] == ["m2.e1"]


def test_a_round_that_waits_lets_nobody_ask_again():
    waiting = drafting([OLD])
    waiting["rounds"][0] |= {"state": "waiting", "after": []}
    html = drawn(stimulus([OLD]), drafting=waiting)
    assert re.search(r"ask-model\"[^>]* disabled", html)
    assert "data-waiting" in html


# --- what was done --------------------------------------------------------------------------------------------------

ACTS = [
    {"act": "accept", "row": "e1", "ms": 10},
    {"act": "edit", "row": "e1", "field": "condition", "ms": 20},
    {"act": "cite", "row": "e1", "fragment": 2, "ms": 30},
    {"act": "move", "row": "e1", "from": 1, "to": 2, "ms": 40},
    {"act": "merge", "row": "e1", "with": "e2", "ms": 50},
    {"act": "add", "row": "e101", "of": "m1.e1", "ms": 60},
    {"act": "revise", "row": "", "ms": 70},
]


def test_what_was_done_is_read_and_drawn_again():
    trace = read_trace({"trace.entries": json.dumps(ACTS)})
    assert trace == {"entries": ACTS}
    questions = CALIBRATION.questions(SPEC, stimulus([OLD]))
    assert possible_moves(questions, stimulus([OLD]), trace) == trace
    assert json.loads(set_of(stimulus([OLD]), trace=trace)["acts"]) == ACTS


@pytest.mark.parametrize(
    "change",
    [
        {"act": "burn"},
        {"row": "1"},
        {"row": "e0"},
        {"row": ""},
        {"ms": -1},
        {"ms": True},
        {"act": ["accept"]},
    ],
)
def test_what_is_no_act_is_left_out(change):
    assert read_moves(json.dumps([ACTS[0] | change, ACTS[0]])) == [ACTS[0]]


def test_what_cannot_have_been_done_is_left_out():
    questions = CALIBRATION.questions(SPEC, stimulus([OLD]))
    odd = [ACTS[0] | {"field": "x" * 99, "more": "?"}, ACTS[2] | {"fragment": 4}]
    read = read_moves(json.dumps(odd))
    assert read[0] == ACTS[0]
    assert possible_moves(questions, stimulus([OLD]), {"entries": read, "checks": read}) == {
        "entries": [ACTS[0]]
    }


def test_a_long_history_is_kept_whole_and_a_longer_one_says_what_it_lacks():
    """The longest history that is kept leaves room for the entries in what a draft may have."""
    longest = {"act": "uncite", "row": "e999", "ms": 10**9, "fragment": 999, "from": 999, "to": 999}
    item = stimulus([OLD], documents=[{"title": "x", "text": "y"}] * 60)
    acts = [longest | {"fragment": 60}] * MAX_MOVES
    text = json.dumps(acts, separators=(",", ":"))
    assert len(json.dumps(text)) < MAX_DRAFT / 3
    assert read_moves(text) == acts
    cut = read_moves(json.dumps([*acts, *acts[:5]]))
    assert cut == [*acts, {"dropped": 5}]
    questions = CALIBRATION.questions(SPEC, item)
    assert possible_moves(questions, item, {"entries": cut})["entries"][-1] == {"dropped": 5}


# --- merging without scripts --------------------------------------------------------------------------------------

THIRD = {**NEW, "condition": "The third", "answers": ["2001", "1894"], "citations": [1], "reason": ""}


def merged_by(*ticked, rows=(), **changes):
    """The set that comes of a form of three drafted entries in which these are ticked, and the form's fields."""
    fields = form(*(rows or (kept(OLD, "r1.e1"), kept(NEW, "r1.e2"), kept(THIRD, "r1.e3"))))
    fields |= {f"entries.{row}.merge": "1" for row in ticked}
    fields |= {f"entries.{name.replace('_', '.')}": value for name, value in changes.items()}
    item = stimulus([OLD, NEW, THIRD])
    return read_answers(CALIBRATION.clean(SPEC, item, read_fields(fields))), fields


def test_an_entry_is_merged_with_the_one_above_it():
    entries, _ = merged_by("e3")
    assert [entry["origins"] for entry in entries] == [["r1.e1"], ["r1.e2", "r1.e3"]]
    assert entries[1] == merge_entries(add_origins([OLD, NEW, THIRD], "r1")[1:])


def test_several_are_merged_into_one():
    entries, _ = merged_by("e2", "e3")
    assert entries == [merge_entries(add_origins([OLD, NEW, THIRD], "r1"))]


def test_above_is_what_is_in_the_set_after_everything_was_put_in_its_place():
    entries, _ = merged_by("e3", e2_keep="0")
    assert [entry["origins"] for entry in entries] == [["r1.e1", "r1.e3"]]
    places = {"e1_place": "1", "e2_place": "2", "e3_place": "1", "e1_was": "1", "e2_was": "2", "e3_was": "3"}
    entries, _ = merged_by("e1", **places)
    assert [entry["origins"] for entry in entries] == [["r1.e3", "r1.e1"], ["r1.e2"]]


def test_ticking_decides_for_both():
    entries, _ = merged_by("e2", e1_keep="", e2_keep="")
    assert [entry["origins"] for entry in entries] == [["r1.e1", "r1.e2"], ["r1.e3"]]
    # What is rejected and merged is merged: its words are wanted, and not the entry beside the other.
    entries, _ = merged_by("e2", e2_keep="0")
    assert entries[0]["origins"] == ["r1.e1", "r1.e2"]


def test_decisions_are_those_of_a_merge_by_script():
    entries, _ = merged_by("e2")
    made = decisions(stimulus([OLD, NEW, THIRD]), entries)
    assert made == {"r1.e1": "merged", "r1.e2": "merged", "r1.e3": "accepted"}


def test_quotations_and_added_entries_are_merged_too():
    bridge, guide = {"title": "Harbour Bridge", "text": "Opened in 1894."}, {"title": "Guide", "text": ""}
    rows = [kept(OLD, "r1.e1"), kept(NEW, condition="Mine"), kept(THIRD, "r1.e3")]
    quoted = {"e1_quoted": json.dumps([bridge]), "e2_quoted": json.dumps([guide, bridge])}
    entries, _ = merged_by("e2", rows=rows, **quoted)
    assert entries[0]["citations"] == [1, 2, bridge, guide]
    assert (entries[0]["origins"], entries[0]["condition"]) == (["r1.e1"], f"{OLD['condition']}; Mine")


def test_a_merge_with_nothing_above_is_told_at_its_entry():
    fields = merged_by()[1] | {"entries.e1.merge": "1"}
    problems, screen = refused(stimulus([OLD, NEW, THIRD]), fields)
    assert [(each.code, each.where) for each in problems] == [("nothing_above", "entries.e1")]
    row = screen["fields"][0]["entries"]["rows"][0]
    assert row["merges"]
    assert row["errors"] == ["There is no entry above this one to merge it with."]
    assert 'name="entries.e1.merge" value="1" checked' in render_to_string(
        screen["template"], {"screen": screen}
    )


def test_a_blank_row_has_nothing_to_merge():
    entries, fields = merged_by("e4", "e5", e4_keep="1", e5_condition="Mine", e5_keep="1")
    assert "entries.e4.merge" in fields
    assert [entry["origins"] for entry in entries] == [["r1.e1"], ["r1.e2"], ["r1.e3"]]
    assert entries[2]["condition"] == "The third; Mine"


def test_what_is_shown_again_is_merged_already():
    """Refused or only looked at, the form is from then on as after a merge by script."""
    _, fields = merged_by("e2")
    found = set_of(stimulus([OLD, NEW, THIRD]), fields=fields)
    rows = {row["key"]: row for row in found["rows"]}
    assert (rows["e1"]["status"], rows["e1"]["origins"]) == ("merged", "r1.e1 r1.e2")
    assert (rows["e2"]["status"], rows["e2"]["says"]) == ("gone", "Merged into entry 1")
    assert not any(row["merges"] for row in rows.values())
    assert rows["e1"]["condition"] == f"{OLD['condition']}; {NEW['condition']}"


def test_a_set_is_settled_by_merging_what_is_offered():
    item = stimulus([OLD], [NEW])
    fields = form(kept(OLD, "r1.e1"), kept(NEW, "r2.e1")) | {
        "entries.e2.keep": "0",
        "entries.e2.merge": "1",
    }
    [entry] = read_answers(CALIBRATION.clean(SPEC, item, read_fields(fields)))
    assert entry["origins"] == ["r1.e1", "r2.e1"]


# --- practice -------------------------------------------------------------------------------------------------------


def test_practice_names_the_entry_and_what_became_of_it():
    item = stimulus([OLD, NEW])
    answers = CALIBRATION.clean(SPEC, item, read_fields(form(kept(OLD, "r1.e1"), kept(NEW, "r1.e2"))))
    gold = {"entries": {"r1.e1": "accepted", "r1.e2": ["rejected", "edited"]}}
    result = CALIBRATION.compare_gold(item, gold, answers)
    feedback = build_feedback(CALIBRATION, SPEC, item, "r1", result)
    said = [(line["prompt"], line["given"], line["accepted"], line["correct"]) for line in feedback["lines"]]
    assert said == [
        ("The first bridge", "Accepted", "Accepted", True),
        ("The bridge for cars", "Accepted", "Rejected or Edited", False),
    ]
    html = render_to_string("evaluation/_drafted.html", {"set": screen_of(item)["drafted"]})
    assert "The bridge for cars" in html
    assert "Take this entry" not in html
