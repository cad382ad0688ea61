"""Settled labels as gold for the quality of participants' work: for researchers to read, and no ground for rejection.

Items stay as they were frozen. Gold is the label that more than half of those who settled an item gave to the question
that the study is about as a whole; an item that has gold of its own keeps that.
"""

from collections import defaultdict
from typing import Any

from django.db import transaction
from django.db.models import F

from evaluation.models import Study
from evaluation.permissions import get_study_for
from evaluation.protocols import QuestionSpec
from evaluation.protocols.answers.disagreement import majority_of
from evaluation.protocols.base import Data, Over, option_key
from evaluation.refusals import WrongState
from evaluation.selectors import asked_questions, settled_judgments
from evaluation.services.answers import answers_by_judgment
from evaluation.services.history import log_action
from evaluation.services.tallies import leading_questions


def use_settled_as_gold(study: Study, *, use: bool, by: Any, reason: str = "") -> str:
    """Have settled labels be gold, or no more; the sentence of the history. Refused where no question is about the item
    as a whole."""
    with transaction.atomic():
        get_study_for(by, study.slug, right="write")
        if use and _question(study) is None:
            raise WrongState("No question is about the item as a whole: nothing that is settled can be gold.")
        # Counted as a correction, so that what is kept of figures is known to be old.
        changed = Study.objects.filter(pk=study.pk, settled_as_gold=not use).update(
            settled_as_gold=use, corrections=F("corrections") + 1
        )
        if not changed:
            raise WrongState("This has been done already.")
        said = "Settled labels are gold." if use else "Settled labels are no gold any more."
        log_action(study=study, by=by, message=said, reason=reason)
    study.refresh_from_db(fields=["settled_as_gold", "corrections"])
    return said


def settled_gold(study: Study) -> dict[int, Data]:
    """Gold by item, of those without their own; none unless the study uses it."""
    question = _question(study) if study.settled_as_gold else None
    if question is None:
        return {}
    settled = settled_judgments(study).filter(item__gold__isnull=True).order_by()
    items = dict(settled.values_list("pk", "item"))
    given: dict[int, list[str]] = defaultdict(list)
    for pk, answers in answers_by_judgment(list(items)).items():
        for each in answers:
            if (each.question, each.part) == (question.key, ""):
                value = each.label if each.number is None or each.label else option_key(each.number)
                given[items[pk]].append(str(value))
    labels = {item: majority_of(values) for item, values in given.items()}
    return {item: {question.key: [label]} for item, label in labels.items() if label}


def _question(study: Study) -> QuestionSpec | None:
    """The question that the item is about as a whole; None where there is none."""
    of_item = (each for each in leading_questions(asked_questions(study)) if each.over == Over.ITEM)
    return next(of_item, None)
