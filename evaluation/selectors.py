"""Reads of the domain that more than one place needs."""

from typing import Any

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from evaluation.models import Exclusion, Judgment, Outcome, Role, Study


def standing_exclusions(study: Study) -> QuerySet[Exclusion]:
    return Exclusion.objects.filter(study=study, undone_at=None)


def excluded(study: Study) -> Q:
    """Judgments that are left out by a standing exclusion, of themselves or of their rater."""
    standing = standing_exclusions(study)
    return Q(pk__in=standing.filter(judgment__isnull=False).values("judgment")) | Q(
        rater__in=standing.filter(rater__isnull=False).values("rater")
    )


def main_judgments(study: Study) -> QuerySet[Judgment]:
    """Judgments of main items, whatever became of them."""
    return Judgment.objects.filter(study=study, item__role=Role.MAIN)


def counting_judgments(study: Study) -> QuerySet[Judgment]:
    """The judgments that figures are made of."""
    return main_judgments(study).filter(
        ~excluded(study), outcome=Outcome.OK, surplus=False, item__withdrawn_at=None
    )


def judgments_left_out(study: Study) -> dict[str, int]:
    """Reason to number of the main judgments that are in no figure; each is counted under one reason."""
    judgments = main_judgments(study)
    gone = judgments.filter(excluded(study))
    counts = {"excluded": gone.count()}
    kept = judgments.exclude(pk__in=gone.values("pk")) if counts["excluded"] else judgments
    rows = kept.order_by().values_list("outcome", "surplus").annotate(n=Count("pk"))
    for outcome, surplus, n in rows:
        if outcome != Outcome.OK:
            counts[outcome] = counts.get(outcome, 0) + n
        elif surplus:
            counts["surplus"] = counts.get("surplus", 0) + n
    counts["withdrawn item"] = kept.filter(
        outcome=Outcome.OK, surplus=False, item__withdrawn_at__isnull=False
    ).count()
    return {reason: n for reason, n in counts.items() if n}


def outcomes(study: Study) -> list[list[Any]]:
    """[outcome, surplus, number of judgments] of every kind that occurs, in a fixed order."""
    rows = Judgment.objects.filter(study=study).order_by("outcome", "surplus")
    return [list(row) for row in rows.values_list("outcome", "surplus").annotate(n=Count("pk"))]


def studies_of(user: Any) -> QuerySet[Study]:
    """The studies that the user may see, newest first, with the number of main judgments in `n_judgments`."""
    visible = Study.objects.visible()
    mine = visible if user.is_superuser else visible.filter(members__user=user)
    judgments = main_judgments_of(OuterRef("pk"))
    return mine.annotate(n_judgments=Coalesce(Subquery(judgments), 0)).order_by("-created_at", "-pk")


def main_judgments_of(study: Any) -> QuerySet[Any]:
    """The number of a study's main judgments, for use in a subquery."""
    main = Judgment.objects.filter(study=study, item__role=Role.MAIN).order_by()
    return main.values("study").annotate(n=Count("pk")).values("n")
