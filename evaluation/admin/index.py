"""The front page: the user's studies with their status and what comes next."""

from typing import Any

from django.db.models import Count, OuterRef, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.urls import reverse

from evaluation.admin.pages import workbench_url
from evaluation.admin.rights import roles
from evaluation.models import Item, Role, Status
from evaluation.permissions import studies_for
from evaluation.selectors import annotate_judgment_counts

MAX_STUDIES = 200


def index_context(request: HttpRequest) -> dict[str, Any]:
    """Every study of the user's in a fixed number of queries."""
    main = Item.objects.filter(study=OuterRef("pk"), role=Role.MAIN, withdrawn_at=None).order_by()
    n_items = Subquery(main.values("study").annotate(n=Count("pk")).values("n"))
    own = studies_for(request.user).filter(rehearsal_of=None)
    studies = annotate_judgment_counts(own).annotate(n_items=Coalesce(n_items, 0))[:MAX_STUDIES]
    role = roles(request)
    rows = [
        {
            "study": study,
            "url": workbench_url(study),
            "protocol": study.protocol_object.label,
            "items": f"{study.n_items:,}",
            "judgments": f"{study.n_judgments:,}",
            "role": role.get(study.pk, "superuser"),
            "next": _next(study),
        }
        for study in studies
    ]
    return {"studies": rows, "max_studies": MAX_STUDIES}


def _next(study: Any) -> tuple[str, str]:
    """The next step of a study, with its address."""
    if study.launching_since is not None:
        return "Being launched", workbench_url(study)
    if study.status == Status.DRAFT:
        name, text = ("launch", "Check and launch") if study.n_items else ("upload", "Upload items")
        return text, reverse(f"admin:evaluation_study_{name}", args=[study.pk])
    if study.n_judgments:
        return "Read the report", reverse("analytics:study-report", args=[study.slug])
    waiting = {Status.LIVE: "Wait for participants", Status.PAUSED: "Resume"}
    return waiting.get(Status(study.status), ""), workbench_url(study)
