"""A small item of every protocol, and of a form that asks everything; for tests, and without a database."""

from __future__ import annotations

import json
from typing import Any

from evaluation.protocols import PROTOCOLS, Kind, Over, QuestionSpec
from evaluation.protocols.answers.parts import parts_of
from evaluation.protocols.entries.sets import drafted_entries, write_entry, write_set

ARM = "all"
# Several names for one key: a protocol whose items have several shapes has a sample of each.
RELEVANCE_ONE = "relevance, one value"
EVERYTHING = "everything"

DOCUMENTS = [
    {"title": "On coffee", "url": "https://example.org/coffee", "snippet": "Coffee is a drink."},
    {"title": "", "url": "https://example.org/tea", "snippet": "Tea is another."},
]


def make_spec(protocol: str, questions: tuple[QuestionSpec, ...] = (), **changes: Any) -> dict[str, Any]:
    made = PROTOCOLS[protocol]
    return {
        "protocol": protocol,
        "asker": "Person X",
        "show_references": False,
        "arms": [{"key": ARM, "label": "All", "context_at_generation": False, "context_at_judging": False}],
        "questions": [each.as_json() for each in questions or made.default_questions()],
        "texts": made.default_texts(),
    } | changes


def make_stimulus(
    *responses: str,
    follow_ups: tuple[tuple[str, tuple[str, ...], str], ...] = (),
    query: str = "Is coffee good for you?",
    **more: Any,
) -> dict[str, Any]:
    return {
        "arm": ARM,
        "query": {
            "text": query,
            "references": ["The human reference."],
            "information_need": "Whether two cups a day are too many.",
            "documents": DOCUMENTS,
        },
        "context": {
            "follow_ups": [
                {"part": f"f{n}", "question": question, "answers": list(answers), "answer": answer}
                for n, (question, answers, answer) in enumerate(follow_ups, 1)
            ]
        }
        if follow_ups
        else None,
        "clarifying_question": "",
        "responses": [
            {
                "part": f"r{n}",
                "key": f"key{n}",
                "system": f"system{n}",
                "text": text,
                "html": f"<p>{text}</p>",
            }
            for n, text in enumerate(responses, 1)
        ],
    } | more


AGE = ("How old are you?", ("a child", "an adult", "retired"), "")
HEALTH = ("How is your health?", ("good", "poor"), "")
PAIR = ("A cup a day is fine.", "Ask your doctor about coffee.")
FOUR = (
    "It is.",
    "It is not, by and large.",
    "It depends on you.",
    "In moderation, coffee seems to be fine for most.",
)

RECORD = write_set(
    [
        {
            "condition": "As a drink for adults",
            "answers": ["Yes, in moderation"],
            "citations": [1],
            "reason": "So it says.",
        },
        {"condition": "Late in the day", "answers": ["No"], "citations": [], "reason": ""},
    ]
)
OTHER_RECORD = write_set(
    [
        {
            "condition": "Beside tea",
            "answers": [],
            "citations": [2, {"title": "A book", "text": "Tea."}],
            "reason": "",
        }
    ]
)

# A form that no protocol has: what researchers may add, every kind over everything that it can be over; but not
# entries, which are asked of drafts.
QUESTIONS = (
    QuestionSpec("best", Kind.PREFERENCE, "Which one?", options={"form": {"ties": False}}),
    QuestionSpec("grade", Kind.SCALE, "How good is the query?", options={"form": {"low": -1, "high": 1, "step": 0.5}}),
    QuestionSpec(
        "sure", Kind.SCALE, "How sure?", options={"form": {"over": "follow_up", "low": 0, "high": 0.3, "step": 0.1}}
    ),
    QuestionSpec("fit", Kind.SCALE, "How fit?", options={"form": {"over": "value", "low": 1, "high": 3}}),
    QuestionSpec("heeded", Kind.CHECKLIST, "Heeded?"),
    QuestionSpec(
        "safe", Kind.CHECKLIST, "Is it safe?", options={"1": "Safe", "0": "Unsafe", "form": {"over": "response"}}
    ),
    QuestionSpec("asked", Kind.CHECKLIST, "Is anything asked?", options={"form": {"over": "item"}}),
    QuestionSpec("likely", Kind.CHECKLIST, "Is it likely?", options={"form": {"over": "value"}}),
    QuestionSpec("order", Kind.RANKING, "In which order?", options={"form": {"ties": True}}),
    QuestionSpec(
        "topic",
        Kind.CHOICE,
        "What is it about?",
        options={"a": "Food", "A": "Health", "help:A": "Illness and wellbeing", "form": {"choices": ["a", "A", "x-1"]}},
    ),
    QuestionSpec("note", Kind.TEXT, "Anything else?", required=False),
)  # fmt: skip

# A form of one's own over what no other protocol has: turns, replies in them, claims.
OWN_QUESTIONS = (
    QuestionSpec("better", Kind.PREFERENCE, "Which conversation?"),
    QuestionSpec("vote", Kind.PREFERENCE, "Which reply?", options={"form": {"over": "turn"}}),
    QuestionSpec("flaw", Kind.CHOICE, "Wrong?", options={"form": {"over": "turn.response", "choices": ["a", "b"]}}),
    QuestionSpec("true", Kind.CHECKLIST, "Is it true?", help="By the document.", options={"form": {"over": "claim"}}),
    QuestionSpec("overall", Kind.SCALE, "How good?", options={"form": {"low": 1, "high": 5, "over": "response"}}),
)  # fmt: skip


def own_stimulus() -> dict[str, Any]:
    """Two conversations of two turns; the first makes two claims, the second one."""
    said = ("Is coffee good for you?", "And tea?")
    stimulus = make_stimulus(*PAIR)
    stimulus["query"] |= {
        "turns": [{"role": "user", "text": text, "html": f"<p>{text}</p>"} for text in said],
        "document": {"text": "Coffee keeps adults awake.", "html": "<p>Coffee keeps adults awake.</p>"},
    }
    for response, claims in zip(
        stimulus["responses"], (["It keeps you awake.", "It is cheap."], ["Ask."]), strict=True
    ):
        turns = (response["text"], f"Tea, too, {response['key']}.")
        response |= {"turns": [{"text": text, "html": f"<p>{text}</p>"} for text in turns], "claims": claims}
    return stimulus


OWN_NEEDS = {"query": True, "least": 2, "most": 2, "document": "Source text"}

SAMPLES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "pairwise": (
        make_spec("pairwise", arms=[{"key": ARM, "context_at_generation": False, "context_at_judging": True}]),
        make_stimulus(*PAIR, follow_ups=(("Are you ill?", ("yes", "no"), "no"), (*AGE[:2], "retired"))),
    ),
    "aspects": (make_spec("aspects"), make_stimulus(*FOUR)),
    "ranking": (make_spec("ranking"), make_stimulus(*FOUR, "What do you take it with?")),
    "context_validation": (make_spec("context_validation"), make_stimulus(follow_ups=(AGE, HEALTH))),
    "relevance": (make_spec("relevance"), make_stimulus(PAIR[0], follow_ups=(AGE, HEALTH))),
    RELEVANCE_ONE: (
        make_spec("relevance"), make_stimulus(PAIR[0], follow_ups=((*AGE[:2], "retired"), (*HEALTH[:2], "good"))),
    ),
    "answer_pairs": (make_spec("answer_pairs"), make_stimulus(*PAIR, clarifying_question="How much do you drink?")),
    "question_quality": (make_spec("question_quality"), make_stimulus("How old are you?", "Why?", "How much?")),
    "justification_coding": (make_spec("justification_coding"), make_stimulus("It is shorter and true.", query="")),
    "condition_calibration": (make_spec("condition_calibration"), make_stimulus(RECORD, OTHER_RECORD)),
    "custom": (make_spec("custom", OWN_QUESTIONS, needs=OWN_NEEDS), own_stimulus()),
    EVERYTHING: (make_spec("aspects", QUESTIONS), make_stimulus(*FOUR[:3], follow_ups=(AGE, HEALTH))),
}  # fmt: skip


def orders_of(stimulus: dict[str, Any]) -> list[str]:
    """Canonical, backwards, and one with another response in every place."""
    parts = [response["part"] for response in stimulus["responses"]]
    return list(dict.fromkeys(",".join(each) for each in (parts, parts[::-1], parts[1:] + parts[:1])))


def asked_of(spec: dict[str, Any]) -> list[QuestionSpec]:
    """The questions that a judge is asked unless it is told otherwise."""
    questions = [QuestionSpec.from_json(each) for each in spec["questions"]]
    return [each for each in questions if each.kind != Kind.TEXT]


def intended(spec: dict[str, Any], stimulus: dict[str, Any], turn: int = 0) -> dict[tuple[str, str], Any]:
    """An answer to everything, by question and part, as it is stored: other ones for every turn."""
    wanted = {}
    for question in asked_of(spec):
        if question.kind == Kind.ENTRIES:
            wanted |= _settled(question, stimulus, turn)
            continue
        parts = parts_of(question, stimulus)
        for n, part in enumerate(parts, turn):
            wanted[question.key, part] = _value(question, stimulus, n)
    return wanted


def _settled(question: QuestionSpec, stimulus: dict[str, Any], turn: int) -> dict[tuple[str, str], str]:
    """A set of two entries as it is stored: one as it was drafted, one that was merged or added."""
    drafted = list(drafted_entries(stimulus).values())
    origins = [entry["origins"][0] for entry in drafted] if turn % 2 else []
    other = {
        "condition": "Otherwise",
        "answers": ["Maybe"],
        "citations": [2],
        "reason": "",
        "origins": origins,
    }
    set_ = [drafted[turn % len(drafted)], other]
    return {(question.key, f"e{n}"): write_entry(entry) for n, entry in enumerate(set_, 1)}


def _value(question: QuestionSpec, stimulus: dict[str, Any], n: int) -> Any:
    labels = [response["part"] for response in stimulus["responses"]] + (["tie"] if question.ties else [])
    choices: Any = {
        Kind.PREFERENCE: labels,
        Kind.SCALE: question.form.get("low") is not None and question.points,
        Kind.CHECKLIST: (0, 1),
        Kind.RANKING: range(1, len(stimulus["responses"]) + 1),
        Kind.CHOICE: question.choices,
    }[question.kind]
    return choices[n % len(choices)]


def spoken(
    spec: dict[str, Any], stimulus: dict[str, Any], order: str, wanted: dict[tuple[str, str], Any]
) -> dict[tuple[str, ...], str]:
    """The same answers in a judge's words, by what it sees: names of positions, and values as texts."""
    questions = {question.key: question for question in asked_of(spec)}
    said: dict[tuple[str, ...], str] = {}
    for (key, part), value in wanted.items():
        if questions[key].kind == Kind.ENTRIES:
            entries = [*json.loads(said.get((key,), "[]")), _entry_said(json.loads(value), order)]
            said[key,] = json.dumps(entries)
        else:
            said[key, *_names(questions[key], stimulus, order, part)] = _said(questions[key], order, value)
    return said


def _entry_said(entry: dict[str, Any], order: str) -> dict[str, Any]:
    """With the drafted entries that it came from by their places: "2.1" is entry 1 of Response 2."""
    named = (origin.split(".e") for origin in entry.pop("origins"))
    return entry | {"from": [f"{order.split(',').index(part) + 1}.{number}" for part, number in named]}


def _names(question: QuestionSpec, stimulus: dict[str, Any], order: str, part: str) -> list[str]:
    if question.over == Over.CHOICE:
        return [part]
    names = [_name(question, stimulus, order, part, piece) for piece in part.split(".") if piece]
    return names[::-1] if question.over == Over.CLAIM else names


def _name(question: QuestionSpec, stimulus: dict[str, Any], order: str, part: str, piece: str) -> str:
    if piece[0] == "r":
        return f"response_{order.split(',').index(piece) + 1}"
    if piece[0] == "v":
        rated = [each for each in parts_of(question, stimulus) if each.split(".")[0] == part.split(".")[0]]
        return f"value_{rated.index(part) + 1}"
    if piece[0] in "tc":
        return f"{'turn' if piece[0] == 't' else 'claim'}_{piece[1:]}"
    return f"{'attribute' if question.over == Over.VALUE else 'follow_up'}_{piece[1:]}"


def _said(question: QuestionSpec, order: str, value: Any) -> str:
    if question.kind == Kind.PREFERENCE and value != "tie":
        return str(order.split(",").index(value) + 1)
    if question.kind == Kind.CHECKLIST:
        return "yes" if value else "no"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def as_lines(said: dict[tuple[str, ...], str]) -> str:
    return "\n".join(f"{'.'.join(path)}: {value}" for path, value in said.items())


def as_answers(said: dict[tuple[str, ...], str]) -> dict[str, Any]:
    """Nested by question and part, as JSON replies are."""
    answers: dict[str, Any] = {}
    for path, value in said.items():
        inner = answers
        for name in path[:-1]:
            inner = inner.setdefault(name, {})
        inner[path[-1]] = json.loads(value) if is_list(value) else value
    return answers


def is_list(value: Any) -> bool:
    """Whether it is a list in JSON, as a set of entries is said."""
    return isinstance(value, str) and value.startswith("[")
