"""Every partial in every state, on one page: for looking, and only with DEBUG."""

from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from evaluation.forms import Field, Screen, build_feedback, build_screen
from evaluation.protocols import AnswerValue, Kind, Problem, get_protocol
from evaluation.rendering import render_markdown

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
    "| Cup | Caffeine |\n| --- | --- |\n| Espresso | 63 mg |\n\n> As `they` say.\n\n```\ncoffee = bean + water\n```",
    "",
    "القهوة مفيدة لمعظم الناس باعتدال. " * 5,
)


@require_safe
def patterns(request: HttpRequest) -> HttpResponse:
    if not settings.DEBUG:
        raise Http404
    pairwise = get_protocol("pairwise")
    result = pairwise.compare_gold(
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
        "others": _screen("others", texts=TEXTS[2:], first=3),
        "states": [(name, _fields(name)) for name in ("empty", "filled", "wrong")],
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
    references: list[str] | None = None,
) -> dict[str, Any]:
    return {
        "arm": "with",
        "query": {"text": "Is coffee good for you?", "references": references or []},
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
