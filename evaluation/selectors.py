"""Reads of the domain that more than one place needs."""

from typing import Any

from django.db.models import Case, Count, OuterRef, Q, QuerySet, Subquery, When
from django.db.models.functions import Coalesce

from evaluation.models import Exclusion, Judgment, Outcome, Role, Study


def standing_exclusions(study: Study) -> QuerySet[Exclusion]:
    return Exclusion.objects.filter(study=study, undone_at=None)


def excluded(study: Study, path: str = "") -> Q:
    """Judgments that are left out by a standing exclusion, of themselves or of their rater.

    `path` leads from the rows that are filtered to their judgment, such as "judgment__" from answers.
    """
    standing = standing_exclusions(study)
    judgments = standing.filter(judgment__isnull=False).values("judgment")
    raters = standing.filter(rater__isnull=False).values("rater")
    return Q(**{f"{path}pk__in": judgments}) | Q(**{f"{path}rater__in": raters})


def countable(study: Study, path: str = "") -> Q:
    """Judgments that count, unless their item is withdrawn or has another role than main."""
    own = {f"{path}study": study, f"{path}outcome": Outcome.OK, f"{path}surplus": False}
    return ~excluded(study, path) & Q(**own)


def main_judgments(study: Study) -> QuerySet[Judgment]:
    """Judgments of main items, whatever became of them."""
    return Judgment.objects.filter(study=study, item__role=Role.MAIN)


def counting_judgments(study: Study) -> QuerySet[Judgment]:
    """The judgments that figures are made of."""
    return main_judgments(study).filter(countable(study), item__withdrawn_at=None)


def judgments_left_out(study: Study) -> dict[str, int]:
    """Reason to number of the main judgments that are in no figure; each is counted under one reason."""
    rows = (
        main_judgments(study)
        .annotate(
            gone=Case(When(excluded(study), then=True), default=False),
            withdrawn=Case(When(item__withdrawn_at__isnull=False, then=True), default=False),
        )
        .order_by()
        .values_list("gone", "outcome", "surplus", "withdrawn")
        .annotate(n=Count("pk"))
    )
    counts: dict[str, int] = {}
    for gone, outcome, surplus, withdrawn, n in rows:
        if reason := _why_left_out(gone, outcome, surplus, withdrawn):
            counts[reason] = counts.get(reason, 0) + n
    return counts


def _why_left_out(gone: bool, outcome: str, surplus: bool, withdrawn: bool) -> str:
    if gone:
        return "excluded"
    if outcome != Outcome.OK:
        return outcome
    if surplus:
        return "surplus"
    return "withdrawn item" if withdrawn else ""


def outcomes(study: Study) -> list[list[Any]]:
    """[outcome, surplus, number of judgments] of every kind that occurs, in a fixed order."""
    rows = Judgment.objects.filter(study=study).order_by("outcome", "surplus")
    return [list(row) for row in rows.values_list("outcome", "surplus").annotate(n=Count("pk"))]


def studies_of(user: Any) -> QuerySet[Any]:
    """The studies that the user may see, newest first, with the number of main judgments in `n_judgments`."""
    visible = Study.objects.visible()
    mine = visible if user.is_superuser else visible.filter(members__user=user)
    judgments = main_judgments_of(OuterRef("pk"))
    return mine.annotate(n_judgments=Coalesce(Subquery(judgments), 0)).order_by("-created_at", "-pk")


def main_judgments_of(study: Any) -> QuerySet[Any]:
    """The number of a study's main judgments, for use in a subquery."""
    main = Judgment.objects.filter(study=study, item__role=Role.MAIN).order_by()
    return main.values("study").annotate(n=Count("pk")).values("n")
