"""Scores from outside as an imported judge's judgments."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from evaluation.counting import counted
from evaluation.models import Import, Rater, Study
from evaluation.protocols import AnswerValue
from evaluation.protocols.answers.measures import Measure, conflict_in, declared_measures
from evaluation.refusals import Refused, WrongState
from evaluation.services.history import log_action, server_account
from evaluation.services.judgments import JudgmentInput, record_judgments
from evaluation.services.seals import seal_new
from evaluation.services.studies.rehearsals import refuse_in_rehearsal

FORMAT = "scores-1"
MAX_NAME = 120


@dataclass(frozen=True)
class ItemScores:
    """An item's scores, cleaned."""

    item_id: int
    answers: Sequence[AnswerValue]


def study_measures(study: Study) -> dict[str, Measure]:
    """The measures that the study's raters declare, by name."""
    found: dict[str, Measure] = {}
    for about in study.raters.order_by("pk").values_list("about", flat=True):
        for measure in declared_measures(about):
            found.setdefault(measure.name, measure)
    return found


def require_agreement(study: Study, measures: Sequence[Measure]) -> None:
    """Refuse measures of a name that the study knows with another subject, range or direction."""
    name = conflict_in([*study_measures(study).values(), *measures])
    if name:
        raise Refused(
            f"The study has a measure {name!r} with another subject, range or direction; give this one another name."
        )


def record_scores(
    study: Study,
    *,
    judge: str,
    measures: Sequence[Measure],
    scores: Sequence[ItemScores],
    file_name: str,
    by: Any = None,
    and_then: Callable[[Rater], None] = lambda rater: None,
) -> Rater:
    """A new imported judge of that name with these scores and what `and_then` does of it, all or nothing.

    `by` is the member who asks, None whoever runs the server.
    """
    refuse_in_rehearsal(study, "it takes no scores.")
    judge = judge.strip()
    if not judge or len(judge) > MAX_NAME:
        raise Refused(f"A judge's name has 1 to {MAX_NAME} characters.")
    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        revision = study.revisions.order_by("-number").first()
        if revision is None:
            raise WrongState("A draft's items can still change; scores are taken once the study is launched.")
        if study.raters.filter(label=judge, kind=Rater.Kind.JUDGE).exists():
            raise WrongState(f"The study has a judge {judge!r} already; give this one another name.")
        require_agreement(study, measures)
        now = timezone.now()
        dump = Import.objects.create(
            file_name=file_name[-255:],
            format=FORMAT,
            by=by,
            state=Import.State.COMPLETE,
            finished_at=now,
            notes={"items": len(scores), "measures": [each.name for each in measures]},
        )
        rater = Rater.objects.create(
            study=study,
            kind=Rater.Kind.JUDGE,
            source=Rater.Source.IMPORTED,
            label=judge,
            dump=dump,
            about={"judge": judge, "questions": [], "measures": [each.as_json() for each in measures]},
        )
        seal_new(study, [rater])
        for batch in _batches(_judgments(rater.pk, revision.pk, scores, now)):
            record_judgments(study=study, batch=batch, known_new=True)
        said = f"Imported scores from {file_name}. {scores_summary(rater)}"
        log_action(study=study, by=by or server_account(), message=said)
        and_then(rater)
    return rater


def scores_summary(rater: Rater) -> str:
    """The judge, the measures and the number of items of an import of scores."""
    assert rater.dump is not None  # it was imported
    notes = rater.dump.notes
    return f"{rater.label}: {', '.join(notes['measures'])} of {counted(notes['items'], 'item')}."


def _judgments(
    rater_id: int, revision_id: int, scores: Sequence[ItemScores], now: Any
) -> Iterator[JudgmentInput]:
    for each in scores:
        yield JudgmentInput(
            rater_id=rater_id,
            item_id=each.item_id,
            revision_id=revision_id,
            answers=each.answers,
            judged_at=now,
        )


def _batches(inputs: Iterator[JudgmentInput]) -> Iterator[list[JudgmentInput]]:
    while batch := list(islice(inputs, settings.ASSAY_BATCH_SIZE)):
        yield batch
