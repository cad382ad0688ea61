"""A study's overview: how far it is, what comes next, and what waits for a person."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.utils.dateparse import parse_datetime

from evaluation.admin.job_rights import listed_jobs
from evaluation.admin.pages import overview_url, page, walk_through_url
from evaluation.admin.records import with_notes_as_read
from evaluation.admin.rights import has_right, study_page
from evaluation.admin.study.launch import cautions_for
from evaluation.admin.study.launch_design import study_design
from evaluation.admin.study.missing import missing_for
from evaluation.admin.study.resolver import has_calibrations
from evaluation.dumps.derive import derivations_of
from evaluation.dumps.pooling import other_rounds
from evaluation.extension import Concern, extensions
from evaluation.facts import Fact
from evaluation.models import Item, ItemFlag, Progress, Rater, Role, Status, Study
from evaluation.permissions import studies_for
from evaluation.selectors import (
    added_item_counts,
    count_items_of_people,
    left_out_in_words,
    standing_exclusions,
)
from evaluation.services.progress import SMALL, progress_of
from evaluation.services.studies.launch import Weight
from evaluation.services.studies.origin import standing_source
from evaluation.services.studies.reference_pairs import can_pair_references
from evaluation.services.studies.rehearsals import rehearsal_of
from evaluation.services.studies.retention import retention_text

SHOWN = 8
# Below them a pace would be drawn from a few people who began at once.
LEAST_MINUTES = 5


@study_page()
def overview(request: HttpRequest, study: Study) -> HttpResponse:
    """The overview; asked for by htmx, the next step and the numbers alone, for which it asks again and again."""
    if study.status != Status.DRAFT and request.headers.get("HX-Request"):
        counted = progress_of(study)
        numbers = {
            "study": study,
            "step": _next_step(study, False, counted, None),
            "may_write": has_right(request, "write", study.pk),
            "again": True,
            **_running(request, study, counted),
        }
        response = render(request, "admin/evaluation/study/_progress.html", numbers)
        add_never_cache_headers(response)
        return response
    draft = study.status == Status.DRAFT
    progress = None if draft else progress_of(study)
    judged = progress.n_people + progress.n_judges if progress else 0
    missing = missing_for(study, request.user)
    blocked = any(each.weight == Weight.BLOCKS for each in missing)
    rehearsal = rehearsal_of(study) if draft else None
    step = _next_step(study, blocked, progress, rehearsal, len(missing))
    links = _action_links(request, study, progress) if has_right(request, "write", study.pk) else []
    context: dict[str, Any] = {
        "title": "Overview",
        "hide_title": True,
        # Three zeros say nothing: what comes first stands above them.
        "facts": [_items_fact(study)] if draft and study.items.exists() else [],
        **({} if progress is None else _running(request, study, progress)),
        "step": step,
        "action_links": [each for each in links if each[1] != step[2]],
        "draft": draft,
        "walk_url": walk_through_url(study) if draft else "",
        "rehearsal": rehearsal,
        "missing": missing,
        "design": study_design(study) if draft else None,
        "judged": judged,
        "origin": _origin(request, study),
        "retention": retention_text(study),
        "participant_url": request.build_absolute_uri(f"/s/{study.slug}/"),
        "sections": [
            (section.label, reverse(section.url_name, args=[study.slug]))
            for each in extensions()
            for section in each.sections()
            if section.in_drafts or not draft
        ],
        # The sections count what they show.
        "sections_every": "20s" if judged < SMALL else "60s",
        "flags": _flags(request, study),
        "jobs": listed_jobs(study)[:5],
        "exclusions": standing_exclusions(study)
        .select_related("rater", "judgment__rater", "judgment__item", "by")
        .order_by("-pk")[:SHOWN],
        "revisions": _revisions(study),
    }
    return page(request, "admin/evaluation/study/overview.html", context, study=study, tab="overview")


def _running(request: HttpRequest, study: Study, progress: Progress) -> dict[str, Any]:
    """The part that is asked for again while the page is open: the row of counts, and what needs a person."""
    report, people = progress.figures.get("report"), progress.figures.get("people", [])
    return {
        "progress": progress,
        "pace": pace_in_words(progress),
        "facts": progress_facts(study, progress),
        "people": people if any(n for _, n in people) else [],
        "report": report and {**report, "at": parse_datetime(report["at"])},
        "stopping": bool(study.stopping),
        "needs": [
            (each.text, *((each.label, each.url) if has_right(request, each.right, study.pk) else ("", "")))
            for each in _needs(study, progress)
        ],
    }


def _needs(study: Study, progress: Progress) -> Iterator[Concern]:
    for text, label, url in cautions_for(study):
        yield Concern(text, label, url)
    for each in extensions():
        yield from (need for need in each.needs(study, progress) if need.shown)


def pace_in_words(progress: Progress) -> str:
    """The last hour's judgments, and the time left at this pace, in the first hour of a study that of its minutes."""
    n, minutes = (progress.figures.get(key, 0) for key in ("recent", "recent_minutes"))
    if progress.is_full and progress.is_simulated:
        return "Simulated raters gave them all; no person has judged."
    if progress.is_full:
        return "Done: nothing is missing."
    if not n:
        return "None in the last hour."
    if minutes < LEAST_MINUTES:
        return f"{n:,} in the last hour."
    left = (progress.n_wanted - progress.n_filled) / n * minutes
    return f"{n:,} in the last hour; at this pace {_long(left)} left."


def _long(minutes: float) -> str:
    if minutes < 120:
        n = max(round(minutes), 1)
        return f"{n} minute{'s' if n > 1 else ''}"
    hours = minutes / 60
    return f"{hours:,.1f} hours" if hours < 48 else f"{hours / 24:,.1f} days"


def progress_facts(study: Study, progress: Progress) -> list[Fact]:
    """The strip of a launched study: numbers of people first, judges beside them."""
    figures = progress.figures
    left_out = figures.get("left_out", {})
    theirs = {kind: reasons for kind, reasons in left_out.items() if kind != Rater.Kind.JUDGE}
    more = progress.n_people - progress.n_filled if progress.n_wanted else 0
    simulated = figures.get("simulated", 0)
    crowd = "simulated raters" if progress.is_simulated else "people"
    needed = f"{progress.n_wanted:,} needed" + ("" if progress.is_simulated else " from people")
    said = [f"counted; {needed}" if progress.n_wanted else "counted"]
    if more:
        said.append(f"{more:,} beyond what their items need")
    if simulated and not progress.is_simulated:
        said.append(f"{simulated:,} by simulated raters")
    return [
        _items_fact(study, figures.get("items")),
        Fact(
            f"Judgments by {crowd}",
            f"{progress.n_people:,}",
            "; ".join(said),
        ),
        Fact("Judgments by judges", f"{progress.n_judges:,}", "counted, of runs in the report"),
        Fact(
            f"Excluded of {crowd}'{'' if progress.is_simulated else 's'}",
            f"{sum(sum(each.values()) for each in theirs.values()):,}",
            left_out_in_words(left_out) or "all judgments are counted",
        ),
        *_money_facts(study, figures),
    ]


def _money_facts(study: Study, figures: Mapping[str, Any]) -> Iterator[Fact]:
    minutes = figures.get("minutes")
    if minutes:
        yield Fact("Median minutes", f"{minutes:,.1f}", f"of who finished; {study.paid_minutes:,} are paid")
        if study.pay is not None:
            hourly = float(study.pay) * 60 / minutes
            yield Fact("Hourly pay", f"{hourly:,.2f} {study.currency}", "as it comes out, by the median")
    people, models = (Decimal(figures.get(key) or 0) for key in ("spent_people", "spent_models"))
    of_people, of_models = _limit(study.people_budget), _limit(figures.get("budget_models"))
    if study.currency == settings.ASSAY_CURRENCY:
        if people or models or of_people or of_models:
            said = f"people {people:,.2f}{of_people}; models {models:,.2f}{of_models}"
            yield Fact("Spending", f"{people + models:,.2f} {study.currency}", said)
        return
    if people or of_people:
        yield Fact(
            "Spending on people", f"{people:,.2f} {study.currency}", of_people.strip() or "without a budget"
        )
    if models or of_models:
        yield Fact(
            "Spending on models",
            f"{models:,.2f} {settings.ASSAY_CURRENCY}".strip(),
            of_models.strip() or "without a budget",
        )


def _limit(budget: Decimal | str | None) -> str:
    return "" if budget is None else f" of a budget of {Decimal(budget):,.2f}"


def _origin(request: HttpRequest, study: Study) -> dict[str, Any]:
    """The study that this one was made from, with its address for its members."""
    if not study.origin:
        return {}
    source = studies_for(request.user).filter(slug=standing_source(study)).first()
    return {**study.origin, "url": overview_url(source) if source else ""}


def _revisions(study: Study) -> list[tuple[int, int]]:
    """Number of each revision, the latest first, and of the items that were added with it."""
    added = added_item_counts(study)
    numbers = study.revisions.order_by("-number").values_list("number", flat=True)
    return [(number, added.get(number, 0)) for number in numbers]


def _flags(request: HttpRequest, study: Study) -> list[ItemFlag]:
    flags = ItemFlag.objects.filter(item__study=study).select_related("item", "rater").order_by("-pk")[:SHOWN]
    return with_notes_as_read(request, study, flags)


def _items_fact(study: Study, n: int | None = None) -> Fact:
    items = Item.objects.filter(study=study, role=Role.MAIN, withdrawn_at=None).count() if n is None else n
    part = ""
    if study.human_sample is not None:
        part = f" of the random part that people judge: {count_items_of_people(study):,} items"
    return Fact("Items", f"{items:,}", f"{study.redundancy} judgments needed per item{part}")


def _next_step(
    study: Study, blocked: bool, progress: Progress | None, rehearsal: Study | None, n_missing: int = 0
) -> tuple[str, str, str]:
    """A sentence, and the button below it with its address, both empty where there is none. `n_missing` points
    are missing in a draft that block nothing."""
    if study.launching_since is not None:
        return (
            "The study is being launched: its items are frozen and its slots created.",
            "Watch",
            _url(study, "launch"),
        )
    if study.archived_at is not None:
        return "Archived.", "Take it out of the archive", _url(study, "archive")
    if study.status == Status.DRAFT:
        if not study.items.exists():
            return "Next: upload the items to be judged.", "Upload items", _url(study, "upload")
        if blocked:
            return "Some issues block the launch of this draft.", "", ""
        if rehearsal:
            step = "Rehearsed. Read its report, then launch the draft, which deletes the rehearsal."
            return step, "Launch", _url(study, "launch")
        ready = f"Ready but for what is missing ({n_missing})." if n_missing else "Ready to launch."
        return f"{ready} Walk through it as a participant first.", "Launch", _url(study, "launch")
    if study.status == Status.PAUSED:
        return (
            "Paused: no new items are assigned; participants can finish the one they have.",
            "Resume",
            _url(study, "resume"),
        )
    judged = progress is not None and progress.n_people + progress.n_judges > 0
    to_report = (
        ("Open the report", reverse("analytics:study-report", args=[study.slug])) if judged else ("", "")
    )
    if study.status == Status.CLOSED:
        return "Closed.", *to_report
    if progress is not None and progress.is_full and progress.is_simulated:
        return "Live: simulated raters have judged it, no person yet.", *to_report
    if progress is not None and progress.is_full:
        return f"Done: all {progress.n_wanted:,} judgments needed from people are in.", *to_report
    if progress is not None and progress.figures.get("slots_free") == 0:
        return "Live, but no slot is free: newcomers read “All places are taken”.", *to_report
    return "Live: participants can enter at the link below.", *to_report


def _action_links(request: HttpRequest, study: Study, progress: Progress | None) -> list[tuple[str, str]]:
    if study.is_rehearsal:
        return [("Delete the rehearsal", _url(study, "delete_rehearsal"))]
    scores = ("Import scores", "scores")
    growing = (("Revise texts", "revise"), ("Add items", "add_items"))
    reopen = (("Reopen", "reopen"),) if progress is not None and progress.n_wanted else ()
    names: dict[str, tuple[tuple[str, str], ...]] = {
        Status.DRAFT: (
            ("Rehearse with simulated participants", "rehearse"),
            ("Upload items", "upload"),
            ("Archive", "archive"),
        ),
        Status.LIVE: (("Pause", "pause"), *growing, scores, ("Close", "close")),
        Status.PAUSED: (*growing, scores, ("Close", "close")),
        Status.CLOSED: (*reopen, scores, ("Archive", "archive")),
    }
    gone = []
    if has_right(request, "own", study.pk) and study.status in (Status.DRAFT, Status.CLOSED):
        gone = [(f"Delete the {'draft' if study.status == Status.DRAFT else 'study'}", _url(study, "delete"))]
    if study.archived_at is not None:
        return [("Take it out of the archive", _url(study, "archive")), *gone]
    resolve = (("Derive the resolver's study", "resolve"),) if has_calibrations(study) else ()
    copy = (("Duplicate", "duplicate"),)
    derive = (("Derive a study", "derive"),) if derivations_of(study) else ()
    pool = (("Pool with another round", "pool"),) if other_rounds(request.user, study).exists() else ()
    pair = (("Pair with the reference", "pair_references"),) if can_pair_references(study) else ()
    return [
        *(
            (label, _url(study, name))
            for label, name in (*names[study.status], *copy, *derive, *pool, *resolve, *pair)
        ),
        *gone,
    ]


def _url(study: Study, name: str) -> str:
    return reverse(f"admin:evaluation_study_{name}", args=[study.slug])
