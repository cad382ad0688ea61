"""Judges of a study that is copied: the latest version of each, in juries as they were; none of their runs."""

from typing import Any

from evaluation.extension import Duplication
from evaluation.refusals import Refused
from judging.models import Judge, Jury
from judging.services.judges import copy_judge


def copy_judges(duplication: Duplication) -> None:
    """Copy its judges. Refused where a judge can't be made by whoever copies: its endpoint is not theirs to use."""
    if not duplication.judges:
        return
    versions = Judge.objects.filter(study=duplication.source).select_related("jury", "endpoint")
    latest: dict[str, Judge] = {}
    for judge in versions.order_by("name", "version"):
        latest[judge.name] = judge
    juries: dict[int, Jury] = {}
    # In the order in which they were made, since one that is derived from others names them.
    for judge in sorted(latest.values(), key=lambda each: each.pk):
        _copy(judge, duplication.copy, duplication.by, juries)


def _copy(judge: Judge, study: Any, by: Any, juries: dict[int, Jury]) -> None:
    try:
        copied = copy_judge(judge, study, user=by)
    except Refused as refused:
        raise Refused(*(f"Judge {judge.name}: {problem}" for problem in refused.problems)) from None
    if judge.jury is None:
        return
    if judge.jury.pk not in juries:
        juries[judge.jury.pk] = Jury.objects.create(
            study=study, name=judge.jury.name, combination=judge.jury.combination
        )
    copied.jury = juries[judge.jury.pk]
    copied.save(update_fields=["jury"])
