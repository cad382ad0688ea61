"""The workbench: one calm page per study that says where it stands and what comes next."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from evaluation.admin.job_rights import listed_jobs
from evaluation.admin.pages import page, walk_through_url, workbench_url
from evaluation.admin.rights import has_right, study_page
from evaluation.admin.study.launch import cautions_for
from evaluation.admin.study.launch_design import study_design
from evaluation.admin.study.missing import missing_for
from evaluation.admin.study.resolver import has_calibrations
from evaluation.dumps.derive import derivations_of
from evaluation.dumps.pooling import other_rounds
from evaluation.extension import extensions
from evaluation.facts import Fact
from evaluation.models import Item, ItemFlag, Role, Status, Study
from evaluation.permissions import studies_for
from evaluation.selectors import (
    added_item_counts,
    count_items_of_people,
    counting_judgments,
    left_out_by_kind,
    left_out_in_words,
    standing_exclusions,
)
from evaluation.services.studies.launch import Weight
from evaluation.services.studies.reference_pairs import can_pair_references
from evaluation.services.studies.rehearsals import rehearsal_of

SHOWN = 8


@study_page()
def workbench(request: HttpRequest, study: Study) -> HttpResponse:
    judged = counting_judgments(study).count()
    draft = study.status == Status.DRAFT
    missing = missing_for(study, request.user)
    blocked = any(each.weight == Weight.BLOCKS for each in missing)
    rehearsal = rehearsal_of(study) if draft else None
    step = _next_step(study, blocked, judged, rehearsal)
    links = _action_links(request, study) if has_right(request, "write", study.pk) else []
    context: dict[str, Any] = {
        "title": study.title,
        "hide_title": True,
        # Three zeros say nothing: what comes first stands above them.
        "facts": _facts(study, judged) if study.items.exists() else [],
        "step": step,
        "action_links": [each for each in links if each[1] != step[2]],
        "draft": draft,
        "walk_url": walk_through_url(study) if draft else "",
        "rehearsal": rehearsal,
        "missing": missing,
        "cautions": cautions_for(study),
        "design": study_design(study) if draft else None,
        "judged": judged,
        "origin": _origin(request, study),
        "participant_url": request.build_absolute_uri(f"/s/{study.slug}/"),
        "sections": [
            (section.label, reverse(section.url_name, args=[study.slug]))
            for each in extensions()
            for section in each.sections()
        ],
        "flags": _flags(study),
        "jobs": listed_jobs(study)[:5],
        "exclusions": standing_exclusions(study)
        .select_related("rater", "judgment__rater", "judgment__item", "by")
        .order_by("-pk")[:SHOWN],
        "revisions": _revisions(study),
    }
    return page(request, "admin/evaluation/study/workbench.html", context, study=study, tab="workbench")


def _origin(request: HttpRequest, study: Study) -> dict[str, Any]:
    """The study that this one was made from, with its address for its members."""
    if not study.origin:
        return {}
    source = studies_for(request.user).filter(slug=study.origin.get("study", "")).first()
    return {**study.origin, "url": workbench_url(source) if source else ""}


def _revisions(study: Study) -> list[tuple[int, int]]:
    """Number of each revision, the latest first, and of the items that were added with it."""
    added = added_item_counts(study)
    numbers = study.revisions.order_by("-number").values_list("number", flat=True)
    return [(number, added.get(number, 0)) for number in numbers]


def _flags(study: Study) -> Any:
    return ItemFlag.objects.filter(item__study=study).select_related("item", "rater").order_by("-pk")[:SHOWN]


def _facts(study: Study, judged: int) -> list[Fact]:
    items = Item.objects.filter(study=study, role=Role.MAIN, withdrawn_at=None).count()
    theirs = count_items_of_people(study)
    part = "" if study.human_sample is None else f" of the random part that people judge: {theirs:,} items"
    left_out = left_out_by_kind(study)
    n_left_out = sum(sum(each.values()) for each in left_out.values())
    return [
        Fact("Items", f"{items:,}", f"{study.redundancy} judgments needed per item{part}"),
        Fact("Judgments", f"{judged:,}", f"of all raters; {theirs * study.redundancy:,} needed from people"),
        Fact("Excluded", f"{n_left_out:,}", left_out_in_words(left_out) or "all judgments are counted"),
    ]


def _next_step(study: Study, blocked: bool, judged: int, rehearsal: Study | None) -> tuple[str, str, str]:
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
        if blocked:
            return "Some issues block the launch of this draft.", "", ""
        if rehearsal:
            step = "Rehearsed. Read its report, then launch the draft, which deletes the rehearsal."
            return step, "Launch", _url(study, "launch")
        return (
            "Ready to launch. Walk through it as a participant first.",
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


def _action_links(request: HttpRequest, study: Study) -> list[tuple[str, str]]:
    if study.is_rehearsal:
        return [("Delete the rehearsal", _url(study, "delete_rehearsal"))]
    scores = ("Import scores", "scores")
    growing = (("Revise texts", "revise"), ("Add items", "add_items"))
    names: dict[str, tuple[tuple[str, str], ...]] = {
        Status.DRAFT: (
            ("Rehearse with simulated participants", "rehearse"),
            ("Upload items", "upload"),
            ("Delete the draft", "delete"),
        ),
        Status.LIVE: (("Pause", "pause"), *growing, scores, ("Close", "close")),
        Status.PAUSED: (*growing, scores, ("Close", "close")),
        Status.CLOSED: (scores,),
    }
    resolve = (("Derive the resolver's study", "resolve"),) if has_calibrations(study) else ()
    copy = (("Duplicate", "duplicate"),)
    derive = (("Derive a study", "derive"),) if derivations_of(study) else ()
    pool = (("Pool with another round", "pool"),) if other_rounds(request.user, study).exists() else ()
    pair = (("Pair with the reference", "pair_references"),) if can_pair_references(study) else ()
    return [
        (label, _url(study, name))
        for label, name in (*names[study.status], *copy, *derive, *pool, *resolve, *pair)
    ]


def _url(study: Study, name: str) -> str:
    return reverse(f"admin:evaluation_study_{name}", args=[study.pk])
