"""The one list of studies: those of a member, found, filtered and sorted, with their progress and what comes next."""

from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib.auth.decorators import login_required
from django.core.paginator import Page, Paginator
from django.db.models import Exists, F, OuterRef, Prefetch, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from evaluation.admin.pages import overview_url, page
from evaluation.admin.rights import roles
from evaluation.models import Item, Status, Study, StudyMember
from evaluation.permissions import may_begin_studies, studies_for
from evaluation.services.progress import progress_of

ROWS = 50
# Beside the statuses: those that were set aside.
ARCHIVED = "archived"
SORTS = {
    "active": ("last activity", F("progress__last_activity").desc(nulls_last=True)),
    "new": ("newest", F("created_at").desc()),
    "title": ("title", F("title").asc()),
    "progress": ("judgments by people", F("progress__n_filled").desc(nulls_last=True)),
}


class ListForm(forms.Form):
    """The choices above the list, which stand in the address; one that is not offered is none."""

    q = forms.CharField(required=False, label="Title or slug", widget=forms.TextInput({"type": "search"}))
    status = forms.ChoiceField(required=False, choices=[("", "all"), *Status.choices, (ARCHIVED, ARCHIVED)])
    owner = forms.CharField(required=False)
    sort = forms.ChoiceField(required=False, choices=[(key, label) for key, (label, _) in SORTS.items()])

    def __init__(self, *args: Any, owners: list[tuple[int, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [("", "everybody"), *((str(pk), name) for pk, name in owners)]
        self.fields["owner"] = forms.ChoiceField(required=False, choices=choices)
        self.order_fields(("q", "status", "owner", "sort"))


@dataclass(frozen=True)
class Row:
    """A study in the list."""

    study: Study
    url: str
    protocol: str
    progress: Any
    filled: str
    by_judges: str
    owners: str
    role: str
    next: tuple[str, str]


@login_required
@require_safe
def study_list(request: HttpRequest) -> HttpResponse:
    # Rehearsals are found from their drafts.
    own = studies_for(request.user).filter(rehearsal_of=None)
    owners = _owners(own)
    form = ListForm(request.GET, owners=owners)
    form.is_valid()
    chosen = form.cleaned_data
    found = _chosen(own, chosen).select_related("progress").prefetch_related(_OWNERS)
    items = Item.objects.filter(study=OuterRef("pk"))
    shown: Page[Any] = Paginator(found.annotate(has_items=Exists(items)), ROWS).get_page(
        request.GET.get("page")
    )
    given = request.GET.copy()
    given.pop("page", None)
    context = {
        "title": "Studies",
        "rows": [_row(study, roles(request)) for study in shown],
        "shown": shown,
        "form": form,
        "chosen": any(chosen.get(name) for name in ("q", "status", "owner")),
        "none": not shown.paginator.count and not own.exists(),
        "nothing_found": _nothing_found(chosen, dict(owners)),
        "n_archived": own.exclude(archived_at=None).count(),
        "may_begin": may_begin_studies(request.user),
        "query": given.urlencode(),
    }
    return page(request, "evaluation/study_list.html", context)


_OWNERS = Prefetch(
    "members",
    StudyMember.objects.filter(role=StudyMember.Role.OWNER).select_related("user").order_by("user__username"),
    to_attr="owning",
)


def _owners(own: QuerySet[Study]) -> list[tuple[int, str]]:
    owning = StudyMember.objects.filter(study__in=own.values("pk"), role=StudyMember.Role.OWNER)
    return list(owning.order_by("user__username").values_list("user", "user__username").distinct())


def _chosen(own: QuerySet[Study], chosen: dict[str, Any]) -> QuerySet[Study]:
    if words := chosen.get("q"):
        own = own.filter(Q(title__icontains=words) | Q(slug__icontains=words))
    status = chosen.get("status")
    own = own.filter(archived_at__isnull=status != ARCHIVED)
    if status and status != ARCHIVED:
        own = own.filter(status=status)
    if owner := chosen.get("owner"):
        owning = StudyMember.objects.filter(user=owner, role=StudyMember.Role.OWNER)
        own = own.filter(pk__in=owning.values("study"))
    _, order = SORTS[chosen.get("sort") or "active"]
    return own.order_by(order, "-created_at", "-pk")


def _nothing_found(chosen: dict[str, Any], owners: dict[int, str]) -> str:
    """In place of the rows, where none is left of what was chosen."""
    words, status, owner = (chosen.get(name) for name in ("q", "status", "owner"))
    if not (words or status or owner):
        return "All studies are archived."
    noun = " ".join(filter(None, ("No", status, "study")))
    if not (words or owner):
        return f"No study is {'a draft' if status == Status.DRAFT else status}."
    ends = [f"has {words!r} in its title or slug"] if words else []
    ends += [f"is owned by {owners[int(owner)]}"] if owner else []
    return f"{noun} {' and '.join(ends)}."


def _row(study: Any, role: dict[int, str]) -> Row:
    progress = getattr(study, "progress", None) or progress_of(study)
    return Row(
        study=study,
        url=overview_url(study),
        protocol=study.protocol_object.label,
        progress=progress,
        filled=f"{progress.n_filled:,} of {progress.n_wanted:,}",
        by_judges=f"{progress.n_judges:,}",
        owners=", ".join(str(each.user) for each in study.owning),
        role=role.get(study.pk, "superuser"),
        next=_next(study, progress),
    )


def _next(study: Any, progress: Any) -> tuple[str, str]:
    """The next step of a study, with its address."""
    if study.archived_at is not None:
        return "Take it out of the archive", reverse("admin:evaluation_study_archive", args=[study.slug])
    if study.launching_since is not None:
        return "Being launched", overview_url(study)
    if study.status == Status.DRAFT:
        name, text = ("launch", "Check and launch") if study.has_items else ("upload", "Upload items")
        return text, reverse(f"admin:evaluation_study_{name}", args=[study.slug])
    if study.status == Status.PAUSED:
        return "Resume", reverse("admin:evaluation_study_resume", args=[study.slug])
    if study.status == Status.LIVE and not progress.n_people + progress.n_judges:
        return "Wait for participants", overview_url(study)
    return "Read the report", reverse("analytics:study-report", args=[study.slug])
