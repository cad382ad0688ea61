"""Small judged studies, for tests of what a report makes of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evaluation.models import Item, Outcome, Rater, Role, Study
from evaluation.protocols import AnswerValue, Kind
from evaluation.services.judgments import JudgmentInput, record_judgments
from tests import factories

ORDERS = ("r1,r2", "r2,r1")
# Which of r1, r2 and tie a rater gives the item at a position: near agreement, with some of everything.
Chooser = Callable[[int, int], str]


def mostly_first(rater: int, position: int) -> str:
    return ("r1", "r1", "tie", "r2", "r1")[(position * 3 + (rater if position % 4 == 0 else 0)) % 5]


def judged_study(slug: str = "judged", *, owner: Any = None, queries: int = 12, **options: Any) -> Study:
    """A live study without training or checks, three arms, two systems."""
    study = factories.make_study(slug, owner=owner, queries=queries, training=False, checks=0, **options)
    return factories.launch(study)


def judge(
    study: Study,
    *,
    raters: int = 3,
    kind: str = "person",
    choose: Chooser = mostly_first,
    shown: bool = True,
    label: str = "",
) -> list[Rater]:
    """Every main item judged by each of so many new raters."""
    made = [
        Rater.objects.create(
            study=study, kind=kind, label=f"{label or kind} {number}", pseudonym=f"{kind}-{number}"
        )
        for number in range(raters)
    ]
    revision = study.revisions.get()
    batch = [
        JudgmentInput(
            rater_id=rater.pk,
            item_id=item.pk,
            revision_id=revision.pk,
            answers=[AnswerValue("preference", Kind.PREFERENCE, label=choose(number, position))],
            shown=ORDERS[(number + position) % 2] if shown else "",
        )
        for position, item in enumerate(main_items(study))
        for number, rater in enumerate(made)
    ]
    record_judgments(study=study, batch=batch)
    return made


def fail(study: Study, rater: Rater, outcome: Outcome = Outcome.UNPARSED, replicate: int = 1) -> None:
    """One more call of the rater's, on the first item, which came to nothing."""
    record_judgments(
        study=study,
        batch=[
            JudgmentInput(
                rater_id=rater.pk,
                item_id=main_items(study)[0].pk,
                revision_id=study.revisions.get().pk,
                replicate=replicate,
                outcome=outcome,
            )
        ],
    )


def main_items(study: Study) -> list[Item]:
    return list(study.items.filter(role=Role.MAIN).order_by("pk"))


def new_judge(study: Study, name: str = "cedar", *, in_figures: bool = True, **about: Any) -> Rater:
    """A judge as a run makes one; `about` says how it was asked."""
    facts = {
        "judge": name,
        "version": 1,
        "model": f"{name}-7b",
        "reference": False,
        "orders": "random",
        "samples": 1,
        "reduction": "majority",
        "questions": ["preference"],
        "purpose": "main",
    }
    return Rater.objects.create(
        study=study,
        kind=Rater.Kind.JUDGE,
        pseudonym=f"judge-{name}",
        label=name,
        in_figures=in_figures,
        about=facts | about,
    )


def answer(
    study: Study,
    rater: Rater,
    item: Item,
    label: str = "",
    *,
    number: float | None = None,
    checks: dict[str, int] | None = None,
    outcome: Outcome = Outcome.OK,
    replicate: int = 0,
    shown: str = "",
) -> None:
    """One judgment: a preference, a checklist or both, or what else became of it."""
    answers = [AnswerValue("preference", Kind.PREFERENCE, label=label, number=number)] if label else []
    answers += [
        AnswerValue("satisfied", Kind.CHECKLIST, part, number=float(value))
        for part, value in (checks or {}).items()
    ]
    judgment = JudgmentInput(
        rater_id=rater.pk,
        item_id=item.pk,
        revision_id=study.revisions.get().pk,
        replicate=replicate,
        outcome=outcome,
        answers=answers,
        shown=shown,
    )
    record_judgments(study=study, batch=[judgment])
