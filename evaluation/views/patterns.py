"""Every partial in every state on one page, to look at; only with DEBUG."""

import json
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from evaluation.forms.entry_shapes import ModelRevisions
from evaluation.forms.feedback import build_feedback
from evaluation.forms.screen import build_screen
from evaluation.forms.shapes import Field, Screen
from evaluation.protocols import AnswerValue, Kind, Problem, QuestionSpec, get_protocol
from evaluation.rendering.markdown import render_markdown

LONG = (
    "Three cups a day fit well into a balanced diet, but measure your blood pressure before and after. " * 6
)
FOLLOW_UPS = (
    ("Do you have high blood pressure?", "Yes"),
    ("How much do you drink in a day?", "One or two cups"),
    ("كم مرة في الأسبوع؟", "مرتين"),
    (
        "What do you mostly want to know about, and how deep should the answer go into each of these things?",
        "Heart",
    ),
)
TEXTS = (
    LONG,
    "Its benefits include:\n\n- alertness,\n- antioxidants.\n\n### In short\n\nAvoid it in the **evening**.\n\n"
    "| Cup | Caffeine |\n| --- | --- |\n| Espresso | 63 mg |\n\n> As `they` say[^1].\n\n```\ncoffee = bean + water"
    "  # and whatever else somebody may add to a line that is wider than its card\n```\n\n- [x] Grind\n- [ ] Drink\n\n"
    "القهوة مفيدة لمعظم الناس باعتدال (3 cups).\n\n- Water\n- قهوة (beans)\n\n![A cup on a table](cup.png)\n\n"
    "[^1]: In the *kitchen*.",
    "",
    "القهوة مفيدة لمعظم الناس باعتدال. " * 5,
    "Half of it is gone after \\(t_{1/2}\\), by\n\\[\nc(t) = c_0 \\left(\\frac{1}{2}\\right)^{t/t_{1/2}} "
    "= c_0 e^{-\\lambda t}, \\qquad \\lambda = \\frac{\\ln 2}{t_{1/2}} \\tag{1}\n\\]\n"
    "and \\(\\unknown{x}\\) is none.\n\n"
    "```python\n# What is left\ndef left(cups: int, hours: float) -> float:\n"
    "    return 63 * cups * 0.5 ** (hours / 5)\n```\n\n"
    "| Cup | Caffeine | Sugar | Milk | Where | When | Price |\n|---|---|---|---|---|---|---|\n"
    "| Espresso | 63 mg | none | none | at the counter | in the morning | 1.20 |",
)
TURNS = (
    ("system", "Answer in a few words."),
    ("user", "Is coffee good for you?"),
    ("assistant", "In moderation, **yes**:\n\n- three cups a day,\n- none after noon."),
    ("user", "And when I am \\(2 \\times 40\\)?"),
)


@require_safe
def patterns(request: HttpRequest) -> HttpResponse:
    if not settings.DEBUG:
        raise Http404
    pairwise = get_protocol("pairwise")
    result = pairwise.compare_gold(
        _stimulus(),
        {
            "preference": ["r1", "tie"],
            "satisfied": {"f1.r1": 1, "f1.r2": 0},
            "note": "Only the first says so.",
        },
        [
            AnswerValue("preference", Kind.PREFERENCE, label="r2"),
            AnswerValue("satisfied", Kind.CHECKLIST, "f1.r1", number=1.0),
        ],
    )
    context = {
        "full": _screen("full", asked_back="For whom?", references=["Yes, within limits.\n\nAsk a doctor."]),
        "others": _screen("others", texts=TEXTS[2:4], first=3),
        "talk": _screen("talk", texts=(*TEXTS[4:], TEXTS[1]), first=8, turns=TURNS),
        "rated": _rated(""),
        "rated_wrong": _rated("-wrong", wrong=True),
        "states": [(name, _fields(name)) for name in ("empty", "filled", "wrong")],
        "ranked": [_ranked("found"), _ranked("equals", ties=True), _ranked("wrong", wrong=True)],
        "graded": [_graded("found", 7), _graded("turned", 5, "r2,r1"), _graded("wrong", 5, wrong=True)],
        "checked": [*_checked("-empty"), *_checked("-wrong", wrong=True)],
        "cards": _cards(),
        "calibrated": [_calibrated("drafted", wrong=True), _calibrated("settled", asks=True)],
        "wrong": _screen("summary", wrong=True),
        "feedback": build_feedback(pairwise, _spec(""), _stimulus(), "r2,r1", result),
    }
    return render(request, "evaluation/patterns.html", context)


def _fields(state: str) -> list[Field]:
    return _screen(state, filled=state != "empty", wrong=state == "wrong")["fields"]


def _screen(state: str, *, filled: bool = False, wrong: bool = False, **stimulus: Any) -> Screen:
    """A screen whose questions carry the state in their keys, so that several can stand on one page."""
    data: dict[str, Any] = {}
    if filled:
        cells = {"f1.r1": "1", "f1.r2": "0", "f2.r1": "1"}
        data = {f"satisfied-{state}": cells, f"preference-{state}": "tie", f"justification-{state}": LONG}
    where = [f"satisfied-{state}.f2.r2", f"satisfied-{state}.f3.r1", f"preference-{state}"]
    problems = [Problem("missing", each) for each in where] + [
        Problem("too_long", f"justification-{state}", {"limit": 20_000})
    ]
    return build_screen(
        get_protocol("pairwise"),
        _spec(f"-{state}"),
        _stimulus(**stimulus),
        "",
        data=data,
        problems=problems if wrong else [],
    )


def _ranked(state: str, *, ties: bool = False, wrong: bool = False) -> Field:
    key = f"ranking-{state}"
    question = QuestionSpec(key, Kind.RANKING, "Put them in order.", options={"form": {"ties": ties}})
    problems = [Problem("unconfirmed", key)] if wrong else []
    data = {key: {"r1": "1", "r2": "2", "r3": "2", "r4": "4"}} if ties else {}
    screen = build_screen(
        get_protocol("ranking"),
        _spec("") | {"questions": [question.as_json()]},
        _stimulus(texts=("For **how many** people?", LONG[:99], *TEXTS[2:])),
        "",
        data=data,
        problems=problems,
    )
    return screen["fields"][0]


def _graded(state: str, points: int, order: str = "r1,r2", *, wrong: bool = False) -> Field:
    """A graded preference: untouched, answered in the other order, and missing."""
    key = f"graded-{state}"
    words = {"2": "better in nearly everything that matters to who asked"} if order == "r2,r1" else {}
    question = QuestionSpec(
        key, Kind.PREFERENCE, "Which is better?", options=words | {"form": {"points": points}}
    )
    return build_screen(
        get_protocol("pairwise"),
        _spec("") | {"questions": [question.as_json()]},
        _stimulus(texts=TEXTS[:2]),
        order,
        data={key: "1"} if words else {},
        problems=[Problem("missing", key)] if wrong else [],
    )["fields"][0]


def _checked(suffix: str, *, wrong: bool = False) -> list[Field]:
    """Boxes, tags and choices, and a yes or no per line."""
    long: dict[str, Any] = {
        "a": "As a friend would say it",
        "help:a": "Warm and plain.",
        "b": "As a book would say it",
    }
    two = {"choices": ["a", "b"]}
    questions = [
        QuestionSpec(
            f"flag{suffix}", Kind.CHECKLIST, "None will do.", options={"form": {"over": "item", "flag": True}}
        ),
        QuestionSpec(
            f"tags{suffix}",
            Kind.CHECKLIST,
            "What is it about?",
            options=long | {"form": two | {"over": "choice"}},
        ),
        QuestionSpec(
            f"which{suffix}", Kind.CHOICE, "Which?", options={"a": "First", "b": "Last", "form": two}
        ),
        QuestionSpec(f"how{suffix}", Kind.CHOICE, "How is it said?", options=long | {"form": two}),
        QuestionSpec(
            f"each{suffix}", Kind.CHECKLIST, "Is it worth asking?", options={"form": {"over": "follow_up"}}
        ),
    ]
    where = [f"flag{suffix}", f"tags{suffix}", f"which{suffix}", f"how{suffix}", f"each{suffix}.f2"]
    return build_screen(
        get_protocol("pairwise"),
        _spec("") | {"questions": [question.as_json() for question in questions]},
        _with_answers(),
        "",
        data={f"tags{suffix}": {"b": "1"}},
        problems=[Problem("missing", each) for each in where] if wrong else [],
    )["fields"]


def _cards() -> Screen:
    protocol = get_protocol("context_validation")
    questions = [question.as_json() for question in protocol.default_questions()]
    spec = _spec("") | {"questions": questions}
    return build_screen(
        protocol, spec, _with_answers(texts=()), "", problems=[Problem("missing", "complete.f2")]
    )


def _calibrated(state: str, *, wrong: bool = False, asks: bool = False) -> Field:
    """Entries of one draft, with what is wrong; or two sets side by side, with a model to ask."""
    protocol = get_protocol("condition_calibration")
    entries: list[dict[str, Any]] = [
        {
            "condition": "If you have high blood pressure",
            "answers": ["One cup"],
            "citations": [1],
            "reason": "",
        },
        {"condition": "", "answers": [FOLLOW_UPS[2][1]], "citations": [], "reason": LONG[:180]},
    ]
    other = [entries[0] | {"answers": ["One cup, or two"], "reason": "It raises it."}]
    key = f"entries-{state}"
    stimulus = _stimulus(texts=(), documents=[{"title": "Coffee and health", "text": LONG}])
    stimulus["responses"] = [
        {"part": f"r{n}", "system": str(n), "text": json.dumps(each), "html": ""}
        for n, each in enumerate([entries, other] if asks else [entries], 1)
    ]
    revision = {"number": 1, "state": "done", "instruction": "Shorter.", "problem": "", "after": entries[:1]}
    drafting: ModelRevisions = {
        "name": "a-model",
        "revise": "#",
        "rounds_url": "#",
        "look": "#",
        "page": "#",
        "left": 7,
        "instruction": "",
        "rounds": [revision],  # type: ignore[list-item]
    }
    return build_screen(
        protocol,
        _spec("") | {"questions": [protocol.default_questions()[0].as_json() | {"key": key}]},
        stimulus,
        "",
        problems=[Problem("undecided", f"{key}.e2")] if wrong else [],
        drafting=drafting if asks else None,
    )["fields"][0]


def _with_answers(**parts: Any) -> dict[str, Any]:
    stimulus = _stimulus(**parts)
    for each in stimulus["context"]["follow_ups"]:
        each["answers"] = [each["answer"], "Quite another", LONG[:90]]
    return stimulus


def _rated(suffix: str, *, wrong: bool = False) -> Screen:
    """Scales of every arrangement: of a response, of the whole item, of follow-up questions; with documents."""
    first = 5 + wrong
    # What is wrong is shown of a few only: the page is long as it is.
    asked = [each for each in _scales() if not wrong or each.key in ("acceptability", "certain", "clear")]
    questions = [each.as_json() | {"key": f"{each.key}{suffix}"} for each in asked]
    data = {f"factuality{suffix}": {f"r{first}": "2"}, f"likely{suffix}": "10"}
    problems = [
        Problem("missing", f"acceptability{suffix}.r{first}"),
        Problem("missing", f"certain{suffix}"),
        Problem("missing", f"clear{suffix}.f2"),
    ]
    document = {"title": "Coffee and health", "url": "https://coffee.example/health", "snippet": LONG}
    stimulus = _stimulus(texts=TEXTS[:1], first=first)
    stimulus["query"] = stimulus["query"] | {"documents": [document]}
    spec = _spec("") | {"questions": questions}
    return build_screen(
        get_protocol("aspects"), spec, stimulus, "", data=data, problems=problems if wrong else []
    )


def _scales() -> list[QuestionSpec]:
    aspects = [
        question for question in get_protocol("aspects").default_questions() if question.kind == Kind.SCALE
    ]
    ends: dict[str, Any] = {"0": "Not at all", "10": "Certainly"}
    words = {
        "0": "I would not rely on it for anything",
        "1": "I would rely on it",
        "help:1": "As on a friend.",
    }
    own = [
        QuestionSpec(
            "likely", Kind.SCALE, "Would you ask again?", options=ends | {"form": {"low": 0, "high": 10}}
        ),
        QuestionSpec(
            "certain",
            Kind.SCALE,
            "How far is it to be trusted?",
            options=words | {"form": {"low": 0, "high": 1}},
        ),
        QuestionSpec(
            "clear",
            Kind.SCALE,
            "How clear is each of these?",
            options={"form": {"over": "follow_up", "low": 1, "high": 7}},
        ),
    ]
    return aspects + own


def _spec(suffix: str) -> dict[str, Any]:
    questions = [question.as_json() for question in get_protocol("pairwise").default_questions()]
    return {
        "asker": "Person X",
        "show_references": True,
        "arms": [{"key": "with", "context_at_generation": True, "context_at_judging": True}],
        "questions": [question | {"key": f"{question['key']}{suffix}"} for question in questions],
    }


def _stimulus(
    *,
    texts: tuple[str, ...] = TEXTS[:2],
    first: int = 1,
    asked_back: str = "",
    turns: tuple[tuple[str, str], ...] = (),
    references: list[str] | None = None,
    documents: list[dict[str, str]] | None = None,
) -> dict[str, Any]:
    return {
        "arm": "with",
        "query": {
            "text": "Is coffee good for you?",
            "turns": [{"role": role, "text": text, "html": render_markdown(text)} for role, text in turns],
            "references": references or [],
            "documents": documents or [],
            "information_need": "",
        },
        "prompt_html": render_markdown("Is coffee good for you?"),
        "clarifying_question": asked_back,
        "context": {
            "follow_ups": [
                {"part": f"f{n}", "question": question, "answer": answer}
                for n, (question, answer) in enumerate(FOLLOW_UPS, 1)
            ]
        },
        "responses": [
            {"part": f"r{n}", "system": str(n), "html": render_markdown(text)}
            for n, text in enumerate(texts, first)
        ],
    }
