"""The workbench: one calm page per study that says where it stands and what comes next."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from evaluation import hooks
from evaluation.admin.pages import page
from evaluation.admin.rights import has_right, study_page
from evaluation.admin.study.launch import advice_for, cautions_for
from evaluation.admin.study.launch_design import study_design
from evaluation.admin.study.resolver import has_calibrations
from evaluation.facts import Fact
from evaluation.models import Item, ItemFlag, Job, Role, Status, Study
from evaluation.selectors import counting_judgments, left_out_counts, standing_exclusions
from evaluation.services import launch_problems
from evaluation.services.studies.reference_pairs import can_pair_references

SHOWN = 8


@study_page()
def workbench(request: HttpRequest, study: Study) -> HttpResponse:
    judged = counting_judgments(study).count()
    draft = study.status == Status.DRAFT
    problems = launch_problems(study) if draft else []
    context: dict[str, Any] = {
        "title": study.title,
        "hide_title": True,
        "facts": _facts(study, judged),
        "step": _next_step(study, problems, judged),
        "action_links": _action_links(study) if has_right(request, "write", study.pk) else [],
        "draft": draft,
        "problems": problems[:SHOWN],
        "more_problems": len(problems) - SHOWN,
        "advice": advice_for(study, request.user),
        "cautions": cautions_for(study),
        "design": study_design(study) if draft else None,
        "judged": judged,
        "participant_url": request.build_absolute_uri(f"/s/{study.slug}/"),
        "sections": [
            (section.label, reverse(section.url_name, args=[study.slug])) for section in hooks.sections
        ],
        "flags": _flags(study),
        "jobs": Job.objects.filter(study=study).select_related("by")[:5],
        "exclusions": standing_exclusions(study)
        .select_related("rater", "judgment__rater", "judgment__item", "by")
        .order_by("-pk")[:SHOWN],
        "revisions": list(study.revisions.order_by("-number").values("number", "spec_hash", "created_at")),
    }
    return page(request, "admin/evaluation/study/workbench.html", context, study=study, tab="workbench")


def _flags(study: Study) -> Any:
    return ItemFlag.objects.filter(item__study=study).select_related("item", "rater").order_by("-pk")[:SHOWN]


def _facts(study: Study, judged: int) -> list[Fact]:
    items = Item.objects.filter(study=study, role=Role.MAIN, withdrawn_at=None).count()
    left_out = left_out_counts(study)
    reasons = ", ".join(f"{n:,} {reason.replace('_', ' ')}" for reason, n in left_out.items())
    return [
        Fact("Items", f"{items:,}", f"{study.redundancy} judgments needed per item"),
        Fact("Judgments", f"{judged:,}", f"of all raters; {items * study.redundancy:,} needed from people"),
        Fact("Excluded", f"{sum(left_out.values()):,}", reasons or "all judgments are counted"),
    ]


def _next_step(study: Study, problems: list[str], judged: int) -> tuple[str, str, str]:
    """A sentence, and the button below it with its address, both empty where there is none."""
    if study.launching_since is not None:
        return (
            "The study is being launched: its items are frozen and its slots created.",
            "Watch",
            _url(study, "launch"),
        )
    if study.status == Status.DRAFT:
        if not study.items.exists():
            return "Next: upload the items to be judged.", "Upload items", _url(study, "upload")
        if problems:
            return "Some issues block the launch of this draft.", "", ""
        return (
            "Ready to launch. Preview a few items first.",
            "Launch",
            _url(study, "launch"),
        )
    if study.status == Status.PAUSED:
        return (
            "Paused: no new items are assigned; participants can finish the one they have.",
            "Resume",
            _url(study, "resume"),
        )
    report = reverse("analytics:study-report", args=[study.slug])
    if study.status == Status.LIVE:
        text = "Live: participants can enter at the link below."
        return (text, "Open the report", report) if judged else (text, "", "")
    return "Closed.", *(("Open the report", report) if judged else ("", ""))


def _action_links(study: Study) -> list[tuple[str, str]]:
    scores = ("Import scores", "scores")
    names: dict[str, tuple[tuple[str, str], ...]] = {
        Status.DRAFT: (("Upload items", "upload"), ("Delete the draft", "delete")),
        Status.LIVE: (("Pause", "pause"), ("Revise texts", "revise"), scores, ("Close", "close")),
        Status.PAUSED: (("Revise texts", "revise"), scores, ("Close", "close")),
        Status.CLOSED: (scores,),
    }
    resolve = (("Derive the resolver's study", "resolve"),) if has_calibrations(study) else ()
    pair = (("Pair with the reference", "pair_references"),) if can_pair_references(study) else ()
    return [(label, _url(study, name)) for label, name in (*names[study.status], *resolve, *pair)]


def _url(study: Study, name: str) -> str:
    return reverse(f"admin:evaluation_study_{name}", args=[study.pk])
