"""Small judged studies of every protocol but the pairwise one, for tests of what a report makes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evaluation.models import Arm, Context, Item, ItemResponse, Query, Rater, Response, Role, Study, System
from evaluation.protocols import Kind, QuestionSpec
from evaluation.protocols.answers.parts import parts_of
from evaluation.protocols.entries.sets import Entry, drafted_entries, merge_entries, write_set
from evaluation.protocols.kinds import KINDS
from evaluation.services.judgments import JudgmentInput, record_judgments
from evaluation.services.seals import seal_new
from evaluation.services.studies.creation import create_study
from evaluation.services.studies.launch import launch_study

FOLLOW_UPS = [
    {"question": "How much do they know?", "answers": ["Nothing", "Some", "All"], "answer": ""},
    {"question": "Where are they?", "answers": ["Here", "There"], "answer": ""},
]
# How many responses an item of the protocol has.
RESPONSES = {"context_validation": 0, "relevance": 1, "justification_coding": 1, "answer_pairs": 2}
SYSTEMS = ("aspen", "birch", "cedar")
# A form of one's own asks nothing until somebody says so.
OWN_QUESTIONS = {
    "custom": (
        QuestionSpec(
            "coherence", Kind.SCALE, "Coherence", options={"1": "Poor", "5": "Excellent",
            "form": {"over": "response", "low": 1, "high": 5}},
        ),
        QuestionSpec(
            "sound", Kind.CHECKLIST, "Is it sound?", options={"form": {"over": "response"}},
        ),
    )
}  # fmt: skip


def empty_study(
    protocol: str,
    *,
    slug: str = "answered",
    owner: Any = None,
    kinds: Mapping[str, str] | None = None,
    **fields: Any,
) -> Study:
    """A draft with one arm and these systems, by their key with their kind."""
    study = create_study(
        slug=slug, title=slug.title(), protocol=protocol, owner=owner, redundancy=3, **fields
    )
    Arm.objects.create(study=study, key="all", label="All items", context_at_judging=True)
    for key, kind in (kinds or dict.fromkeys(SYSTEMS, "model")).items():
        System.objects.create(study=study, key=key, kind=kind)
    return study


def answered_study(
    protocol: str,
    *,
    queries: int = 4,
    backwards: bool = False,
    follow_ups: Sequence[Mapping[str, Any]] = FOLLOW_UPS,
    questions: Sequence[QuestionSpec] = (),
    launched: bool = True,
    **options: Any,
) -> Study:
    """A live study or its draft; item n is on query n and asks about as many systems' responses as the protocol wants.

    Items with one response take the systems in turn. Made `backwards`, the last item comes first. `questions` are asked
    besides the protocol's own.
    """
    study = empty_study(protocol, **options)
    for position, question in enumerate((*OWN_QUESTIONS.get(protocol, ()), *questions), 100):
        study.questions.create(position=position, **question.as_json())
    made = list(study.systems.all())
    n = RESPONSES.get(protocol, len(made))
    arm = study.arms.get()
    items: list[Item] = []
    shown: list[ItemResponse] = []
    for number in range(queries)[:: -1 if backwards else 1]:
        query = Query(
            study=study, key=f"q{number}", text=f"What about {number}?", category=("even", "odd")[number % 2],
            information_need=f"To know about {number}.",
        )  # fmt: skip
        context = Context(query=query, key="c", follow_ups=list(follow_ups))
        item = Item(
            study=study, key=query.key, query=query, context=context, arm=arm,
            clarifying_question=f"Which {number}?",
        )  # fmt: skip
        items.append(item)
        first = number % len(made) if n == 1 else 0
        for system in made[first : first + n]:
            response = Response(
                query=query, key=system.key, system=system, text=_text(protocol, system.key, number)
            )
            shown.append(ItemResponse(item=item, response=response))
    # A statement per table, where a row at a time took longer than the launch.
    Query.objects.bulk_create(item.query for item in items)
    Context.objects.bulk_create(item.context for item in items)
    Item.objects.bulk_create(items)
    Response.objects.bulk_create(each.response for each in shown)
    ItemResponse.objects.bulk_create(shown)
    if launched:
        launch_study(study)
        study.refresh_from_db()
    return study


def _text(protocol: str, system: str, number: int) -> str:
    said = f"{system} on {number}."
    if protocol != "condition_calibration":
        return said
    return write_set([_entry(f"Case {case}: {said}") for case in (1, 2)])


def _entry(condition: str, *origins: str) -> Entry:
    return {"condition": condition, "answers": [], "citations": [], "reason": "", "origins": list(origins)}


def items_of(study: Study) -> list[Item]:
    return list(study.items.filter(role=Role.MAIN).order_by("pk"))


def new_rater(study: Study, name: str, kind: str = "person", **about: Any) -> Rater:
    rater = Rater.objects.create(study=study, kind=kind, label=name, pseudonym=name, about=about)
    seal_new(study, [rater])
    return rater


def give(
    study: Study,
    rater: Rater,
    answers: Sequence[Mapping[str, Any] | None],
    *,
    replicate: int = 0,
    shown: str = "",
) -> None:
    """What a rater answered to each item, in their order, as {question: value or {part: value}}; None: not judged."""
    revision = study.revisions.get()
    protocol = study.protocol_object
    batch = [
        JudgmentInput(
            rater_id=rater.pk,
            item_id=item.pk,
            revision_id=revision.pk,
            replicate=replicate,
            answers=protocol.clean(revision.spec, item.stimulus, data, source="import"),
            shown=shown,
        )
        for item, data in zip(items_of(study), answers, strict=True)
        if data is not None
    ]
    record_judgments(study=study, batch=batch)


def some_answers(study: Study, shift: int = 0) -> list[dict[str, Any]]:
    """An answer of every kind to everything that the items ask; raters of another `shift` differ on every second."""
    spec = study.revisions.get().spec
    return [
        {
            question.key: _answer(question, item.stimulus, position + shift * (position % 2))
            for question in study.protocol_object.questions(spec, item.stimulus)
            if question.kind != Kind.TEXT
        }
        for position, item in enumerate(items_of(study))
    ]


def drawn_answers(study: Study, rater: int) -> list[dict[str, Any]]:
    """Answers without a pattern, so that no two figures are equal by accident; they depend on the item's key alone."""
    spec = study.revisions.get().spec
    return [
        {
            question.key: _drawn(question, item.stimulus, np.random.default_rng([rater, *item.key.encode()]))
            for question in study.protocol_object.questions(spec, item.stimulus)
            if question.kind != Kind.TEXT
        }
        for item in items_of(study)
    ]


def _drawn(question: QuestionSpec, stimulus: Any, rng: np.random.Generator) -> Any:
    if question.kind in (Kind.ENTRIES, Kind.PREFERENCE):
        return _answer(question, stimulus, int(rng.integers(12)))
    parts = parts_of(question, stimulus)
    if question.kind == Kind.RANKING:
        return {part: int(place) + 1 for part, place in zip(parts, rng.permutation(len(parts)), strict=True)}
    offered = KINDS[question.kind].offers(question) or (0, 1)
    return {part: offered[min(int(rng.geometric(0.4)), len(offered)) - 1] for part in parts}


def _answer(question: QuestionSpec, stimulus: Any, at: int) -> Any:
    if question.kind == Kind.ENTRIES:
        return _set(stimulus, at)
    parts = parts_of(question, stimulus)
    if question.kind == Kind.PREFERENCE:
        labels = [response["part"] for response in stimulus["responses"]] + ["tie"] * question.ties
        return labels[at % len(labels)]
    if question.kind == Kind.RANKING:
        return {part: (number + at) % len(parts) + 1 for number, part in enumerate(parts)}
    offered = KINDS[question.kind].offers(question) or (0, 1)
    return {part: offered[(number + at) % len(offered)] for number, part in enumerate(parts)}


def _set(stimulus: Any, at: int) -> list[Entry]:
    """The drafted entries but one, in turn as they were, edited, or with one of the others; and an added one."""
    *most, last = list(drafted_entries(stimulus).values())
    changed = {**last, "reason": "Seen again."} if at % 3 == 1 else last
    ways: list[list[Entry]] = [[last], [changed], [merge_entries([most[-1], last])], []]
    added = [_entry("Another case.")] if at % 2 else []
    return [*most[at % 2 :], *ways[at % 4], *added]


def judged_by_everyone(protocol: str, *, people: int = 3, **options: Any) -> Study:
    """A study with answers of people, two judges and a simulated rater."""
    study = answered_study(protocol, queries=options.pop("queries", 6), **options)
    n = RESPONSES.get(protocol, len(SYSTEMS))
    for number in range(people):
        shown = ",".join(f"r{(place + number) % n + 1}" for place in range(n))
        give(study, new_rater(study, f"person {number}"), some_answers(study, number), shown=shown)
    for number in range(2):
        judge = new_rater(
            study, f"judge {number}", "judge", judge="j", model="j-7b", orders="random", samples=1
        )
        give(study, judge, some_answers(study, number + 2))
    give(study, new_rater(study, "robot", "simulated"), some_answers(study, 5))
    return study
