"""Scales as the form draws them: their points, parts, errors and feedback, without a browser."""

import re

import pytest
from django.template.loader import render_to_string

from evaluation.forms.documents import read_documents
from evaluation.forms.feedback import build_feedback
from evaluation.forms.screen import build_screen
from evaluation.protocols import AnswersInvalid, AnswerValue, Kind, get_protocol
from tests.protocol_factories import make_aspects_study, make_question_quality_study, make_relevance_study

ATTRIBUTES = [
    {"part": "f1", "question": "How much do you know?", "answers": ["<b>Nothing</b>", "A lot"], "answer": ""},
    {"part": "f2", "question": "Where?", "answers": ["Here", "There"], "answer": ""},
]


def make_spec(protocol, *questions):
    described = [question.as_json() for question in get_protocol(protocol).default_questions()]
    return {
        "asker": "Person X",
        "show_references": False,
        "arms": [{"key": "all", "context_at_generation": False, "context_at_judging": False}],
        "questions": list(questions) or described,
    }


def make_stimulus(responses=2, follow_ups=None, documents=()):
    return {
        "arm": "all",
        "query": {"text": "Why?", "references": [], "documents": list(documents), "information_need": ""},
        "clarifying_question": "",
        "context": {"follow_ups": follow_ups} if follow_ups else None,
        "responses": [{"part": f"r{n}", "html": f"<p>No. {n}</p>"} for n in range(1, responses + 1)],
    }


def make_scale(over="item", low=1, high=3, labels=None, **fields):
    options = {**(labels or {}), "form": {"over": over, "low": low, "high": high, **fields.pop("form", {})}}
    question = {
        "key": "q",
        "kind": "scale",
        "prompt": "How?",
        "help": "",
        "required": True,
        "shown": "always",
    }
    return question | fields | {"options": options}


def draw(spec, stimulus, order="", protocol="aspects", **state):
    return build_screen(get_protocol(protocol), spec, stimulus, order, **state)


def html(screen):
    return render_to_string(screen["template"], {"screen": screen})


def points(group):
    return [(option["number"], str(option["label"])) for option in group["options"]]


def test_points_run_from_low_to_high_whatever_order_the_labels_have():
    question = make_scale(low=-1, high=1, labels={"1": "Too much", "0": "Right", "-1": "Too little"})
    group = draw(make_spec("aspects", question), make_stimulus())["fields"][0]["groups"][0]
    assert points(group) == [("\N{MINUS SIGN}1", "Too little"), ("0", "Right"), ("1", "Too much")]
    assert [re.search('value="([^"]+)"', each["attributes"])[1] for each in group["options"]] == [
        "-1",
        "0",
        "1",
    ]


def test_every_part_has_a_group_of_its_own_in_the_order_shown():
    spec = make_spec("aspects", make_scale("response"))
    groups = draw(spec, make_stimulus(), "r2,r1")["fields"][0]["groups"]
    assert [(group["name"], group["who"]) for group in groups] == [
        ("q.r2", "Response 1"),
        ("q.r1", "Response 2"),
    ]
    groups = draw(make_spec("aspects", make_scale("follow_up")), make_stimulus(1, ATTRIBUTES))["fields"][0][
        "groups"
    ]
    assert [(group["name"], group["who"]) for group in groups] == [
        ("q.f1", "How much do you know?"),
        ("q.f2", "Where?"),
    ]
    groups = draw(make_spec("aspects", make_scale("item")), make_stimulus())["fields"][0]["groups"]
    assert [group["name"] for group in groups] == ["q"]


def test_values_are_asked_all_or_the_chosen_one_alone():
    spec = make_spec("relevance")
    groups = draw(spec, make_stimulus(1, ATTRIBUTES), protocol="relevance")["fields"][0]["groups"]
    assert [group["name"] for group in groups] == [f"relevance.f{n}.v{m}" for n in (1, 2) for m in (1, 2)]
    chosen = [{**ATTRIBUTES[0], "answer": "A lot"}]
    groups = draw(spec, make_stimulus(1, chosen), protocol="relevance")["fields"][0]["groups"]
    assert [(group["name"], group["head"], group["who"]) for group in groups] == [
        ("relevance.f1.v2", "How much do you know?", "A lot")
    ]


def test_labels_and_values_are_escaped():
    question = make_scale("value", labels={"1": "<i>Bad</i>", "help:1": "<u>Why</u>"}, prompt="<s>How?</s>")
    page = html(draw(make_spec("relevance", question), make_stimulus(1, ATTRIBUTES), protocol="relevance"))
    for tag in ("<i>Bad", "<u>Why", "<s>How", "<b>Nothing"):
        assert tag not in page
        assert tag.replace("<", "&lt;").replace(">", "&gt;") in page


def test_the_ideal_is_not_given_away_but_meanings_are_at_hand():
    question = make_scale(
        "response", labels={"help:2": "Just as it should be"}, form={"ideal": 2}, help="Is it?"
    )
    page = html(draw(make_spec("aspects", question), make_stimulus()))
    assert "ideal" not in page
    assert page.count("Just as it should be") == 2
    assert page.count("Is it?") == 2


@pytest.mark.parametrize(
    ("low", "high", "labels", "classes"),
    [
        (0, 3, {"0": "Bad", "1": "Poor", "2": "Fair", "3": "Good"}, "words"),
        (1, 5, {str(n): f"No. {n}" for n in range(1, 6)}, "words five"),
        (1, 6, {str(n): f"No. {n}" for n in range(1, 7)}, "lines"),
        (0, 1, {"0": "Not acceptable to anybody at all", "1": "Acceptable"}, "lines"),
        (1, 7, {"1": "Bad"}, "numbers"),
        (1, 10, {"1": "Bad", "10": "Good"}, "numbers by-5"),
        (0, 10, {}, "numbers by-6"),
        (0, 20, {}, "numbers by-7"),
    ],
)
def test_a_scale_s_arrangement(low, high, labels, classes):
    spec = make_spec("aspects", make_scale(low=low, high=high, labels=labels))
    assert draw(spec, make_stimulus())["fields"][0]["points"]["classes"] == classes


def test_what_was_filled_in_is_checked_and_what_is_open_is_summed_up():
    spec, stimulus = make_spec("aspects"), make_stimulus(4)
    data = {"factuality": {"r1": "0", "r3": "3"}, "best": "r2"}
    with pytest.raises(AnswersInvalid) as caught:
        get_protocol("aspects").clean(spec, stimulus, data)
    screen = draw(spec, stimulus, "r2,r1,r4,r3", data=data, problems=caught.value.problems)
    lines = {line["text"]: line["href"] for line in screen["summary"]}
    assert lines["Acceptability: 4 choices are missing."] == "#q-acceptability.r2"
    assert lines["Factuality: 2 choices are missing."] == "#q-factuality.r2"
    page = html(screen)
    assert len(re.findall(r'name="factuality\.r\d"[^>]* checked', page)) == 2
    assert page.count("aria-invalid") == 4 + 2 + 4 + 4 + 1
    for href in lines.values():
        assert page.count(f'id="{href[1:]}"') == 1
    assert "Which answer do you like best? Please" not in " ".join(lines)


def test_an_item_wide_scale_says_what_is_wrong_once():
    spec = make_spec("aspects", make_scale())
    with pytest.raises(AnswersInvalid) as caught:
        get_protocol("aspects").clean(spec, make_stimulus(), {})
    screen = draw(spec, make_stimulus(), problems=caught.value.problems)
    assert [line["text"] for line in screen["summary"]] == ["How? Please choose one."]
    page = html(screen)
    assert page.count('id="q-q"') == 1
    assert page.count("Please choose one.") == 2  # in the summary and at the scale


def test_every_name_that_labels_a_scale_is_there():
    for protocol, stimulus in (
        ("aspects", make_stimulus(4)),
        ("question_quality", make_stimulus(1)),
        ("relevance", make_stimulus(1, ATTRIBUTES)),
        ("pairwise", make_stimulus(2)),
    ):
        questions = (make_scale("response", key="a.b"),) if protocol == "pairwise" else ()
        page = html(draw(make_spec(protocol, *questions), stimulus, protocol=protocol))
        ids = re.findall(r' id="([^"]+)"', page)
        assert len(ids) == len(set(ids))
        named = re.findall(r'aria-labelledby="([^"]+)"', page)
        assert {id_ for each in named for id_ in each.split()} <= set(ids)
        assert page.count('role="radiogroup"') >= 2


def test_the_best_of_four_has_no_tie_and_ties_come_last_of_many():
    best = draw(make_spec("aspects"), make_stimulus(4), "r3,r1,r2,r4")["fields"][4]
    assert [option["key"] for option in best["options"]] == ["1", "2", "3", "4"]
    assert 'value="r3"' in best["options"][0]["attributes"]
    tied = make_scale() | {"kind": "preference", "options": {}}
    options = draw(make_spec("aspects", tied), make_stimulus(11))["fields"][0]["options"]
    assert [option["key"] for option in options] == [*"123456789", "", "", "T"]
    two = draw(make_spec("aspects", tied), make_stimulus(2))["fields"][0]["options"]
    assert [option["key"] for option in two] == ["1", "T", "2"]


def test_feedback_speaks_the_words_of_the_screen():
    protocol, spec, stimulus = get_protocol("aspects"), make_spec("aspects"), make_stimulus(3)
    gold = {"factuality": {"r2": [2, 3]}, "amount_info": {"r1": 0}, "best": "r3", "none_appropriate": 1}
    given = [
        AnswerValue("factuality", Kind.SCALE, "r2", number=0.0),
        AnswerValue("best", Kind.PREFERENCE, label="r3"),
        AnswerValue("none_appropriate", Kind.CHECKLIST, number=0.0),
    ]
    feedback = build_feedback(
        protocol, spec, stimulus, "r3,r2,r1", protocol.compare_gold(stimulus, gold, given)
    )
    lines = [(line["prompt"], line["who"], line["given"], line["accepted"]) for line in feedback["lines"]]
    assert lines == [
        ("Factuality", "Response 2", "0 Mostly false", "2 Mostly true or 3 True throughout"),
        ("Amount of information", "Response 3", "no answer", "0 The right amount"),
        ("Which answer do you like best?", "", "Response 1", "Response 1"),
        ("None is acceptable; this is the least bad.", "", "No", "Yes"),
    ]


def test_feedback_lists_responses_in_the_order_shown():
    protocol, spec, stimulus = get_protocol("aspects"), make_spec("aspects"), make_stimulus(3)
    gold = {"factuality": {"r1": 3, "r2": 2, "r3": 0}, "best": ["r1", "r3"]}
    feedback = build_feedback(protocol, spec, stimulus, "r3,r1,r2", protocol.compare_gold(stimulus, gold, []))
    lines = [(line["prompt"], line["who"], line["accepted"]) for line in feedback["lines"]]
    assert lines == [
        ("Factuality", "Response 1", "0 Mostly false"),
        ("Factuality", "Response 2", "3 True throughout"),
        ("Factuality", "Response 3", "2 Mostly true"),
        ("Which answer do you like best?", "", "Response 1 or Response 2"),
    ]


def test_feedback_names_attributes_choices_and_ranks():
    choice = {"over": "item", "choices": ["a", "b"]}
    tags = {"over": "choice", "choices": ["a", "b"]}
    base = make_scale()
    questions = [
        make_scale("value", key="suits", prompt="How well?"),
        base | {"key": "pick", "kind": "choice", "options": {"a": "Answer A", "form": choice}},
        base | {"key": "tags", "kind": "checklist", "options": {"b": "Length", "form": tags}},
        base | {"key": "order", "kind": "ranking", "options": {}},
        base | {"key": "fits", "kind": "checklist", "options": {"form": {"over": "follow_up"}}},
    ]
    gold = {
        "suits": {"f1.v2": 3},
        "pick": "a",
        "tags": {"b": 1},
        "order": {"r2": 1},
        "fits": {"f2": 0},
    }
    given = [AnswerValue("order", Kind.RANKING, "r2", number=1.5)]
    protocol, stimulus = get_protocol("aspects"), make_stimulus(2, ATTRIBUTES)
    assert protocol.gold_problems(make_spec("aspects", *questions), stimulus, gold) == []
    result = protocol.compare_gold(stimulus, gold, given)
    feedback = build_feedback(protocol, make_spec("aspects", *questions), stimulus, "r2,r1", result)
    assert [
        (line["prompt"], line["answer"], line["who"], line["accepted"]) for line in feedback["lines"]
    ] == [
        ("How much do you know?", "A lot", "How well?", "3"),
        ("How?", "", "", "Answer A"),
        ("How?", "", "Length", "Yes"),
        ("How?", "", "No. 2", "Rank 1"),
        ("How?", "", "Where?", "No"),
    ]
    assert feedback["lines"][3]["given"] == "Rank 1.5"


def test_documents_link_to_the_web_alone():
    documents = read_documents(
        [
            {"title": "A", "url": "https://www.site.example/a?b=c", "snippet": "One."},
            {"link": "javascript:alert(1)", "text": "Two."},
            {"title": "C", "url": "//evil.example"},
            {"link": "http://[broken", "snippet": "Four."},
            "Five.",
        ]
    )
    assert [(each["title"], each["url"], each["site"], each["text"]) for each in documents] == [
        ("A", "https://www.site.example/a?b=c", "site.example", "One."),
        ("Document 2", "", "", "Two."),
        ("Document 4", "", "", "Four."),
        ("Document 5", "", "", "Five."),
    ]


@pytest.mark.parametrize(
    ("make", "scales"),
    [(make_aspects_study, 16), (make_question_quality_study, 7), (make_relevance_study, 8)],
)
def test_the_researcher_s_preview_shows_the_same_screen(admin_client, make, scales):
    study = make()
    address = f"/admin/evaluation/item/{study.items.filter(role='main').first().pk}/preview/"
    answer = admin_client.get(address)
    assert answer.status_code == 200
    assert answer.content.decode().count('class="scale"') == scales
    refused = admin_client.post(address, {})
    assert refused.status_code == 422
    assert "missing" in refused.content.decode()
