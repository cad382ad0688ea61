"""Checklists, boxes, tags and choices as templates are given them, and as pages draw them."""

import re

import pytest
from django.template.loader import render_to_string

from evaluation.forms.feedback import build_feedback
from evaluation.forms.input.posted_fields import read_fields
from evaluation.forms.screen import build_screen
from evaluation.protocols import AnswersInvalid, Problem, QuestionSpec, get_protocol
from evaluation.protocols.base import Kind

RUDE = '<b onclick="x">"Rude" & co.</b>'


def stimulus(**change):
    follow_ups = [
        {"part": "f1", "question": "How old?", "answers": ["Young", "Old"], "answer": ""},
        {"part": "f2", "question": "Where?", "answers": ["Here", RUDE], "answer": RUDE},
    ]
    return {
        "arm": "all",
        "query": {"text": "What?", "information_need": "That one.", "references": []},
        "clarifying_question": "",
        "context": {"key": "c", "follow_ups": follow_ups},
        "responses": [
            {"part": f"r{n}", "system": str(n), "text": "It.", "html": "<p>It.</p>"} for n in (1, 2)
        ],
        **change,
    }


def spec_of(*questions):
    return {
        "asker": "Person X",
        "show_references": False,
        "arms": [{"key": "all", "context_at_generation": False, "context_at_judging": False}],
        "questions": [question.as_json() for question in questions],
        "texts": {},
    }


def asking(kind=Kind.CHECKLIST, *, required=True, labels=None, **form):
    options = {**(labels or {}), "form": form}
    return QuestionSpec("asked", kind, "What of it?", help="Look.", required=required, options=options)


def screen_of(question, protocol="pairwise", **options):
    given = {"order": "r2,r1", "stimulus": stimulus(), **options}
    return build_screen(
        get_protocol(protocol),
        spec_of(question),
        given["stimulus"],
        given["order"],
        data=given.get("data"),
        problems=given.get("problems", ()),
    )


def field_of(question, **options):
    [field] = screen_of(question, **options)["fields"]
    return field


def drawn(question, **options):
    field = field_of(question, **options)
    return render_to_string(field["template"], {"field": field})


def inputs(html):
    """The name, value and whether it is taken of each button and box, in the order of the page."""
    found = re.findall(r'<input\s+type="(?:radio|checkbox)" name="([^"]+)" value="([^"]+)"([^>]*)>', html)
    return [(name, value, " checked" in rest) for name, value, rest in found]


def problems_of(question, data):
    with pytest.raises(AnswersInvalid) as invalid:
        get_protocol("pairwise").clean(spec_of(question), stimulus(), data)
    return invalid.value.problems


# --- one box ------------------------------------------------------------------------------------------------------

FLAG = asking(over="item", flag=True, required=False)


def test_a_flag_is_one_box_labelled_with_its_question():
    assert inputs(drawn(FLAG)) == [("asked", "1", False)]
    html = drawn(FLAG, data=read_fields({"asked": "1"}))
    assert inputs(html) == [("asked", "1", True)]
    assert re.search(r"<label[^>]*><input[^>]*>\s+<span[^>]*>What of it\?</span></label>", html)
    assert "<h2" not in html
    assert "data-required" not in html


def test_a_box_that_a_draft_lacks_is_not_ticked():
    assert inputs(drawn(FLAG, data=read_fields({"other": "1"}))) == [("asked", "1", False)]


# --- tags ---------------------------------------------------------------------------------------------------------

TAGS = asking(over="choice", choices=["tone", "facts", "x-1"], labels={"facts": RUDE, "help:facts": RUDE})


def test_tags_are_boxes_in_the_order_of_the_choices():
    html = drawn(TAGS, data=read_fields({"asked.facts": "1"}))
    assert inputs(html) == [
        ("asked.tone", "1", False),
        ("asked.facts", "1", True),
        ("asked.x-1", "1", False),
    ]
    assert RUDE not in html
    assert html.count("&lt;b onclick") == 2
    assert ">tone</b>" in html  # a choice without a label is called by its value


def test_what_is_wrong_with_a_tag_is_said_once_and_led_to():
    problems = problems_of(TAGS, {"asked": {"tone": "maybe", "ugly": "1"}})
    screen = screen_of(TAGS, problems=problems)
    [line] = screen["summary"]
    assert line["href"] == "#q-asked"
    html = render_to_string("evaluation/_tags.html", {"field": screen["fields"][0]})
    assert html.count('class="error"') == 1
    assert 'id="q-asked"' in html


# --- a yes or no of each part -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("over", "parts", "said"),
    [
        ("follow_up", ["f1", "f2"], ["How old?", "Where?"]),
        ("response", ["r2", "r1"], ["Response 1", "Response 2"]),  # in the order shown
        ("value", ["f1.v1", "f1.v2", "f2.v2"], ["Young", "Old", "&lt;b onclick"]),
    ],
)
def test_a_line_per_part(over, parts, said):
    html = drawn(asking(over=over), data={"asked": {parts[0]: "0"}})
    names = [f"asked.{part}" for part in parts for _ in range(2)]
    assert [name for name, _, _ in inputs(html)] == names
    assert [value for _, value, _ in inputs(html)] == ["1", "0"] * len(parts)
    assert [checked for _, _, checked in inputs(html)] == [False, True] + [False] * (len(names) - 2)
    assert [text in html for text in said] == [True] * len(said)
    assert html.count('role="radiogroup"') == len(parts)
    assert RUDE not in html
    groups = re.findall(r'aria-labelledby="([^"]+)"', html)
    assert all(f'id="{id_}"' in html for ids in groups for id_ in ids.split())


def test_a_yes_or_no_of_the_whole_item():
    question = asking(over="item", labels={"1": "Indeed", "0": "By no means"})
    html = drawn(question, data={"asked": "0"})
    assert inputs(html) == [("asked", "1", False), ("asked", "0", True)]
    assert html.index("Indeed") < html.index("By no means")


@pytest.mark.parametrize(
    ("over", "href"),
    [
        ("follow_up", "#q-asked.f1"),
        ("response", "#q-asked.r2"),
        ("value", "#q-asked.f1.v1"),
        ("item", "#q-asked"),
    ],
)
def test_what_is_open_is_led_to(over, href):
    question = asking(over=over)
    screen = screen_of(question, problems=problems_of(question, {}))
    [line] = screen["summary"]
    assert line["href"] == href
    html = render_to_string(screen["fields"][0]["template"], {"field": screen["fields"][0]})
    assert f'id="{href[1:]}"' in html
    assert "Please choose one." in html
    assert 'aria-invalid="true"' in html


def test_only_a_checklist_of_responses_and_follow_ups_has_totals():
    assert [card["tally"] for card in screen_of(asking(over="follow_up"))["cards"]] == ["", ""]
    assert [card["met"] for card in screen_of(asking())["cards"]] == ["0 of 2 met", "0 of 2 met"]


# --- choices ------------------------------------------------------------------------------------------------------


def choice(*values, **options):
    return asking(Kind.CHOICE, choices=list(values), **options)


@pytest.mark.parametrize(
    ("question", "template"),
    [
        (choice("yes", "no"), "evaluation/_choice.html"),
        (choice("a", "b", "c", "d", "e"), "evaluation/_choice.html"),
        (choice("a", "b", "c", "d", "e", "f"), "evaluation/_choice_list.html"),
        (
            choice("a", "b", labels={"a": "A label that is too long to stand beside"}),
            "evaluation/_choice_list.html",
        ),
        (choice("a", "b", labels={"help:a": "The first."}), "evaluation/_choice_list.html"),
    ],
)
def test_a_choice_is_a_segmented_control_where_all_are_short(question, template):
    assert field_of(question)["template"] == template
    html = drawn(question, data={"asked": "b" if "b" in question.choices else "no"})
    assert [value for _, value, _ in inputs(html)] == list(question.choices)
    assert [value for _, value, checked in inputs(html) if checked] in (["b"], ["no"])
    assert html.count('role="radiogroup"') == 1


def test_a_choice_that_is_open_or_unknown_is_led_to():
    for data, sentence in (
        ({}, "Please choose one."),
        ({"asked": "c"}, "Please choose one of the options shown."),
    ):
        screen = screen_of(choice("a", "b"), problems=problems_of(choice("a", "b"), data))
        [line] = screen["summary"]
        assert line == {"href": "#q-asked", "text": f"What of it? {sentence}"}


def test_labels_and_meanings_are_text():
    html = drawn(choice("a", "b", labels={"a": RUDE, "help:a": RUDE, "b": "B"}))
    assert RUDE not in html
    assert html.count("&lt;b onclick") == 2


# --- cards of checks ----------------------------------------------------------------------------------------------

VALIDATION = get_protocol("context_validation")


def validation_screen(**options):
    item = stimulus(responses=[])
    return build_screen(VALIDATION, spec_of(*VALIDATION.default_questions()), item, "", **options)


def test_each_follow_up_question_stands_with_its_answers_and_its_checks():
    screen = validation_screen(data=read_fields({"realistic.f2": "0", "comments": "Hm."}))
    html = render_to_string(screen["template"], {"screen": screen})
    names = [name for name, value, _ in inputs(html) if value == "1"]
    keys = ["important", "realistic", "complete", "diverse"]
    assert names == [f"{key}.{part}" for part in ("f1", "f2") for key in keys]
    assert [each for each in inputs(html) if each[2]] == [("realistic.f2", "0", True)]
    assert html.index("How old?") < html.index("Old</li>") < html.index('name="important.f1"')
    assert html.index('name="diverse.f1"') < html.index("Where?")
    assert "Hm.</textarea>" in html
    ids = re.findall(r' id="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert RUDE not in html


def test_what_is_wrong_in_the_cards_is_led_to():
    problems = [Problem("missing", "important.f2"), Problem("unknown_part", "complete", {"part": "f9"})]
    screen = validation_screen(problems=problems)
    html = render_to_string(screen["template"], {"screen": screen})
    assert [line["href"] for line in screen["summary"]] == ["#q-important.f2", "#q-complete"]
    assert all(f'id="{line["href"][1:]}"' in html for line in screen["summary"])


def test_other_screens_have_no_cards_of_checks():
    assert screen_of(asking())["follow_ups"] == []
    assert screen_of(asking(over="follow_up"), stimulus=stimulus(context=None))["follow_ups"] == []


# --- the information need -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "shown"), [("answer_pairs", True), ("pairwise", False), ("relevance", False)]
)
def test_the_information_need_is_shown_where_the_protocol_says_so(key, shown):
    protocol = get_protocol(key)
    screen = screen_of(choice("a", "b"), protocol=key)
    assert protocol.shows_information_need is shown
    html = render_to_string("evaluation/_query.html", {"query": screen["query"]})
    assert ("That one." in html) is shown
    assert ("What Person X needs" in html) is shown


# --- practice -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "data", "gold", "said"),
    [
        (asking(over="follow_up"), {"f1": "0"}, {"f1": 1}, ("How old?", "No", "Yes")),
        (asking(over="response"), {"r1": "1"}, {"r1": 1}, ("Response 2", "Yes", "Yes")),
        (asking(over="value"), {"f1.v2": "1"}, {"f1.v2": 0}, ("Old", "Yes", "No")),
        (
            asking(over="choice", choices=["a", "b"], labels={"a": "Tone"}),
            {"a": 0},
            {"a": 1},
            ("Tone", "No", "Yes"),
        ),
        (FLAG, "1", 0, ("What of it?", "Yes", "No")),
        (choice("a", "b", labels={"a": "First", "b": "Last"}), "a", ["b"], ("What of it?", "First", "Last")),
    ],
)
def test_practice_says_what_was_given_and_what_was_expected(question, data, gold, said):
    spec, item, protocol = spec_of(question), stimulus(), get_protocol("relevance")
    answers = protocol.clean(spec, item, {"asked": data}, source="import")
    result = protocol.compare_gold(item, {"asked": gold}, answers)
    feedback = build_feedback(protocol, spec, item, "r2,r1", result)
    html = render_to_string("evaluation/_feedback.html", {"feedback": feedback})
    assert [text in html for text in said] == [True] * 3
    [line] = feedback["lines"]
    assert (line["given"], line["accepted"]) == said[1:]


def test_practice_lists_responses_in_the_order_in_which_they_were_shown():
    spec, item, protocol = spec_of(asking(over="response")), stimulus(), get_protocol("relevance")
    item["responses"] = [{**item["responses"][0], "part": part} for part in ("r1", "r2", "r3")]
    given = {"r1": "1", "r2": "0", "r3": "1"}
    answers = protocol.clean(spec, item, {"asked": given}, source="import")
    result = protocol.compare_gold(item, {"asked": {"r1": 1, "r2": 1, "r3": 0}}, answers)
    lines = build_feedback(protocol, spec, item, "r2,r3,r1", result)["lines"]
    assert [line["who"] for line in lines] == ["Response 1", "Response 2", "Response 3"]
    assert [line["given"] for line in lines] == ["No", "Yes", "Yes"]
