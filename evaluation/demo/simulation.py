"""Simulated raters for the demo: seeded draws from what each item's texts are like, marked as simulated for good."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from django.utils import timezone

from evaluation import design
from evaluation.demo.answer_draws import SimulatedJudgment
from evaluation.models import Item, Rater, Role, Study
from evaluation.protocols import AnswerValue, Kind, get_protocol
from evaluation.protocols.base import sees_context
from evaluation.services.judgments import JudgmentInput, record_judgments
from evaluation.services.seals import seal_new

PER_ITEM = 5
RATERS = 15


def simulate(study: Study, file: Path, *, per_item: int = PER_ITEM) -> int:
    """Judges every main item with so many simulated raters; returns the number of judgments."""
    parameters = json.loads(file.read_text("utf-8"))
    groups = list(parameters.get("raters", {}).get("groups", {})) or [""]
    raters = [
        Rater.objects.create(
            study=study,
            kind=Rater.Kind.SIMULATED,
            label=f"simulated {number:02}",
            group=groups[number % len(groups)],
        )
        for number in range(1, RATERS + 1)
    ]
    seal_new(study, raters)
    batch = list(_judgments(study, raters, parameters, per_item))
    record_judgments(study=study, batch=batch)
    study.simulated = True
    study.save(update_fields=["simulated"])
    return len(batch)


def _judgments(
    study: Study, raters: list[Rater], parameters: Mapping[str, Any], per_item: int
) -> Iterator[JudgmentInput]:
    revision = study.revisions.get()
    now = timezone.now()
    leans = _leans(study, raters, parameters)
    # A pair has parameters of its own per item; everything else is drawn from what its systems and parts are like.
    pairs = "items" in parameters
    for item in study.items.filter(role=Role.MAIN).select_related("arm").order_by("key"):
        rng = design.generator(study.seed, "simulation", item.key)
        assert item.start_order is not None
        for k, at in enumerate(rng.permutation(len(raters))[:per_item]):
            seconds = float(rng.lognormal(4.3, 0.5))
            yield JudgmentInput(
                rater_id=raters[at].pk,
                item_id=item.pk,
                revision_id=revision.pk,
                answers=(
                    _pair_answers(revision.spec, item, parameters, rng)
                    if pairs
                    else _drawn_answers(revision.spec, item, parameters, rng, leans[at])
                ),
                shown=design.presented_order(item.n_responses, item.start_order + k),
                duration_ms=int(seconds * 1000),
                visible_ms=int(seconds * 1000 * rng.uniform(0.7, 1)),
                judged_at=now,
            )


def _leans(study: Study, raters: Sequence[Rater], parameters: Mapping[str, Any]) -> list[float]:
    """Each rater's tendency to rate higher or lower than the others, beside that of their group."""
    given = parameters.get("raters", {})
    of_group = given.get("groups", {})
    drawn = design.generator(study.seed, "leans").normal(0, given.get("lean", 0), RATERS)
    return [float(each) + of_group.get(rater.group, 0.0) for each, rater in zip(drawn, raters, strict=True)]


def _drawn_answers(
    spec: Mapping[str, Any], item: Item, parameters: Mapping[str, Any], rng: np.random.Generator, lean: float
) -> list[AnswerValue]:
    """Answers to whatever the protocol asks, cleaned by it."""
    assert item.stimulus is not None
    protocol = get_protocol(spec["protocol"])
    drawing = SimulatedJudgment(item.key, item.stimulus, parameters, rng, lean)
    data = drawing.answer(protocol.questions(spec, item.stimulus))
    return protocol.clean(spec, item.stimulus, data, source="import")


def _reasons(item: Item, parameters: Mapping[str, Any]) -> dict[str, list[str]]:
    """Reasons per label; those that refer to the person's answers only where responses were written for them."""
    more = parameters.get("justifications_with_context", {}) if item.arm.context_at_generation else {}
    return {label: found + more.get(label, []) for label, found in parameters["justifications"].items()}


def _pair_answers(
    spec: Mapping[str, Any], item: Item, parameters: Mapping[str, Any], rng: np.random.Generator
) -> list[AnswerValue]:
    likely, reasons = parameters["items"][item.key], _reasons(item, parameters)
    label = "tie" if rng.random() < likely["tie"] else "r1" if rng.random() < likely["lean"] else "r2"
    answers = [
        AnswerValue("preference", Kind.PREFERENCE, label=label),
        AnswerValue("justification", Kind.TEXT, text=reasons[label][int(rng.integers(len(reasons[label])))]),
    ]
    assert item.stimulus is not None
    if sees_context(spec, item.stimulus):
        for part, chances in likely["satisfied"].items():
            for number, chance in enumerate(chances, 1):
                met = float(rng.random() < chance)
                answers.append(AnswerValue("satisfied", Kind.CHECKLIST, f"{part}.r{number}", number=met))
    return answers
