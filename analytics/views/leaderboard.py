"""A published leaderboard, for everybody: one query, no session, and nothing is computed.

A copy was made ready when the report was computed. Browsers and caches between may keep an answer for MAX_AGE seconds,
and then ask by its ETag whether it has changed.
"""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import conditional_page, require_safe

from analytics.leaderboard import files
from analytics.leaderboard.boards import LeaderboardRecord
from analytics.reports.paper.citation import leaderboard_bibtex, leaderboard_citation
from evaluation.models import PublishedLeaderboard
from evaluation.selectors import published_leaderboard

MAX_AGE = 300


@require_safe
@conditional_page
@cache_control(public=True, max_age=MAX_AGE)
def leaderboard(request: HttpRequest, slug: str) -> HttpResponse:
    """The boards of one group of raters, people unless the address names another."""
    published = _published(slug)
    address = request.build_absolute_uri(reverse("analytics:leaderboard", args=[slug]))
    shown = shown_boards(request, published.content)
    context = {**shown, **_about(published, address), "slug": slug}
    return render(request, "analytics/leaderboard.html", context)


@require_safe
@conditional_page
@cache_control(public=True, max_age=MAX_AGE)
def leaderboard_json(request: HttpRequest, slug: str) -> HttpResponse:
    published = _published(slug)
    address = request.build_absolute_uri(reverse("analytics:leaderboard", args=[slug]))
    about = _about(published, address)
    about["computed_at"] = published.computed_at.isoformat()
    text = files.leaderboard_json(published.content, address=address, **about)
    return HttpResponse(text, content_type="application/json")


@require_safe
@conditional_page
@cache_control(public=True, max_age=MAX_AGE)
def leaderboard_csv(request: HttpRequest, slug: str) -> HttpResponse:
    return csv_file(slug, _published(slug).content)


def _published(slug: str) -> PublishedLeaderboard:
    published = published_leaderboard(slug)
    if published is None:
        raise Http404
    return published


def _about(published: PublishedLeaderboard, address: str) -> dict[str, object]:
    day = f"{published.computed_at:%Y-%m-%d}"
    return {
        "description": published.description,
        "computed_at": published.computed_at,
        "citation": leaderboard_citation(published.content, address=address, day=day),
        "bibtex": leaderboard_bibtex(published.content, address=address, day=day),
    }


def shown_boards(request: HttpRequest, record: LeaderboardRecord) -> dict[str, object]:
    """Variables of `_leaderboard.html` for the group of raters that the address names; Http404 for an unknown one."""
    every = record["raters"]
    wanted = request.GET.get("by", every[0]["key"] if every else "")
    chosen = next((raters for raters in every if raters["key"] == wanted), None)
    if every and chosen is None:
        raise Http404
    boards = chosen["boards"] if chosen else []
    return {
        "record": record,
        "chosen": chosen,
        "boards": [(files.heading(board), files.board_table(board)) for board in boards],
        "ranked": files.RANKED,
    }


def csv_file(slug: str, record: LeaderboardRecord) -> HttpResponse:
    response = HttpResponse(files.leaderboard_csv(record), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-leaderboard.csv"'
    return response
