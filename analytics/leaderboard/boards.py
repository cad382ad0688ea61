"""A study's leaderboards, made of its report and of nothing else: systems in order, with intervals and ranks.

What they hold may be shown to anybody: figures of systems, by groups of raters. Of people there is one group; its parts
and single people are left out, and so is every pseudonym, text and justification.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NotRequired, TypedDict

from django.utils.text import slugify

from analytics.figures.aspect_figure import is_overall
from analytics.figures.document import ReportRecord
from analytics.figures.groups import GroupView, QuestionView
from analytics.figures.judges.measure_means import FIGURE as MEANS
from analytics.figures.judges.measure_means import MeasureBySystem
from analytics.figures.leaderboards.standings import StandingsFigure, apart
from analytics.figures.preferences.best_picks import BestPicksFigure
from analytics.figures.preferences.bradley_terry import BradleyTerryFigure
from analytics.figures.preferences.win_rates import WinRatesFigure
from analytics.figures.rankings.ranks import RanksFigure
from analytics.figures.rankings.strengths import RankingStrengthsFigure
from analytics.figures.ratings.scales import ScalesFigure
from analytics.figures.registry import FIGURES
from analytics.figures.report_view import ReportView, joined
from analytics.statistics.core.estimates import Estimate, plain
from analytics.statistics.leaderboards.leaderboard import interval_ranks, places

SCHEMA = "assay-leaderboard/1"
# The key of what ranks systems by measures, whoever gave them.
MEASURES = "measures"
HIGHEST, LOWEST = "highest", "lowest"
SHARE, NUMBER = "share", "number"
# Groups are named in addresses by their kind; of judges there may be several.
KEYS = {"person": "people", "judges": "judges", "simulated": "simulated"}
OUTRANKED = "Share of the responses ranked beside it that it outranks"
RANKED_BY = frozenset(
    figure.key
    for figure in (
        StandingsFigure,
        WinRatesFigure,
        BradleyTerryFigure,
        BestPicksFigure,
        RanksFigure,
        RankingStrengthsFigure,
        ScalesFigure,
        MEANS,
    )
)


class BoardFigure(TypedDict):
    """An estimate as a row of a board has it."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    unit: str
    undefined: str


class RankedFigure(BoardFigure):
    rank: int | None


class BoardRow(RankedFigure):
    """A system; one figure for each of the board's categories, None where it has none of it."""

    system: str
    label: str
    place: int | None
    by_category: list[RankedFigure | None]


class BoardRecord(TypedDict):
    measure: str
    prompt: str
    setting: str
    among: str
    form: str
    best: str
    categories: list[str]
    rows: list[BoardRow]


class RatersBoards(TypedDict):
    """The boards of a group of raters; of measures there are no judgments and items."""

    key: str
    label: str
    kind: str
    judgments: int | None
    items: int | None
    boards: list[BoardRecord]


class BoardStudy(TypedDict):
    slug: str
    title: str
    protocol: str
    study_hash: str
    simulated: bool
    launched: str


class BoardCounts(TypedDict):
    items: int
    queries: int
    judgments: int


class LeaderboardRecord(TypedDict):
    schema: str
    study: BoardStudy
    version: str
    level: float
    counts: BoardCounts
    raters: list[RatersBoards]
    waiting: NotRequired[list[str]]


def leaderboard_record(report: ReportRecord) -> LeaderboardRecord:
    """The boards of every group of raters in a report (`assay-report/2`), people first.

    In a large study some may not be computed yet; then `waiting` names them.
    """
    view = ReportView(report)
    study, counts = report["study"], report["counts"]
    record: LeaderboardRecord = {
        "schema": SCHEMA,
        "study": {
            "slug": study["slug"],
            "title": study["title"],
            "protocol": study["protocol"],
            "study_hash": study["study_hash"],
            "simulated": study["simulated"],
            "launched": study["launched"],
        },
        "version": report["parameters"]["version"],
        "level": report["parameters"]["level"],
        "counts": {
            "items": counts["items"],
            "queries": counts["queries"],
            "judgments": counts["judgments"],
        },
        "raters": [*_by_raters(view), *_by_measures(view)],
    }
    if waiting := boards_waiting(report):
        record["waiting"] = [FIGURES[key].deferred_as for key in waiting]
    return record


def boards_waiting(report: ReportRecord) -> list[str]:
    """The keys of the figures by which systems are ranked that are not computed yet."""
    return sorted(RANKED_BY.intersection(report.get("deferred", ())))


def _by_raters(view: ReportView) -> Iterator[RatersBoards]:
    taken: Counter[str] = Counter()
    for group in view.groups:
        # Parts of people may be one person each.
        if group.within:
            continue
        made = [board for found in _asked(view, group) for board in _boards(view, *found)]
        # Strengths of systems that were never compared, say, rank nobody.
        boards = [board for board in made if any(row["value"] is not None for row in board["rows"])]
        if boards:
            yield {
                "key": _key(group, taken),
                "label": group.label,
                "kind": group.kind,
                "judgments": group.judgments,
                "items": group.items,
                "boards": boards,
            }


def _key(group: GroupView, taken: Counter[str]) -> str:
    """A name for addresses, of the group's kind or label: its own key may be a pseudonym."""
    name = KEYS.get(group.kind) or slugify(group.label) or group.kind
    if name in (MEASURES, *KEYS.values()) and group.kind not in KEYS:
        name = f"{group.kind}-{name}"
    taken[name] += 1
    return name if taken[name] == 1 else f"{name}-{taken[name]}"


def _asked(view: ReportView, group: GroupView) -> list[tuple[QuestionView, GroupView]]:
    """The questions that rank systems, each with the group's records: choices of the best first, ratings last.

    Of ratings the overall one stands for all, where there is one.
    """
    answered = list(view.answered(view.judged, group))
    rated = [each for each in answered if each[0].form == "rated" and ScalesFigure.is_in(each[1])]
    rated = [each for each in rated if _best_end(each[0]) and ScalesFigure.of(each[1]).by_system]
    overall = [each for each in rated if is_overall(each[0])]
    chosen = [each for form in ("picks", "ranking", "pairs") for each in answered if each[0].form == form]
    return [*chosen, *(overall or rated)]


def _best_end(question: QuestionView) -> str:
    """The better end of a scale; empty where that is somewhere inside, and its mean ranks nobody."""
    if question.kind != "scale" or not question.points:
        return ""
    points = [point.number for point in question.points]
    if question.ideal is not None:
        return {max(points): HIGHEST, min(points): LOWEST}.get(question.ideal, "")
    return HIGHEST if question.direction != "lower" else LOWEST


def _boards(view: ReportView, question: QuestionView, group: GroupView) -> Iterator[BoardRecord]:
    prompt = question.prompt if view.several_questions else ""
    if question.form == "pairs":
        yield from _preferred(view, prompt, group)
    elif question.form == "picks":
        picked = [(each.group, each.system, each.share) for each in BestPicksFigure.of(group).by_system]
        yield from _by_group(view, picked, "Share of best picks", prompt)
    elif question.form == "ranking":
        ranks = RanksFigure.of(group)
        above = [(each.group, each.system, each.outranked) for each in ranks.by_system]
        yield from _by_group(view, above, OUTRANKED, prompt)
        if ranks.one_set:
            found = [(each.system, each.mean_rank) for each in ranks.by_system]
            yield _board(view, found, "Mean rank", prompt=prompt, best=LOWEST)
        if RankingStrengthsFigure.is_in(group):
            scores = [
                (each.system, each.score) for each in RankingStrengthsFigure.of(group).plackett_luce.worths
            ]
            if scores:
                yield _board(view, scores, "Plackett-Luce worth", prompt=prompt)
    else:
        means = [(each.system, each.mean) for each in ScalesFigure.of(group).by_system if each.mean]
        yield _board(view, means, "Mean rating", prompt=question.prompt, best=_best_end(question))


def _by_group(
    view: ReportView, by_system: Iterable[tuple[int, str, Estimate]], measure: str, prompt: str
) -> Iterator[BoardRecord]:
    """A board of shares for each group of systems that were on an item together, directly or through others."""
    groups: dict[int, list[tuple[str, Estimate]]] = {}
    for group, system, share in by_system:
        groups.setdefault(group, []).append((system, share))
    for found in groups.values():
        among = _among(view, found) if len(groups) > 1 else ""
        yield _board(view, found, measure, prompt=prompt, form=SHARE, among=among)


def _preferred(view: ReportView, prompt: str, group: GroupView) -> Iterator[BoardRecord]:
    """By setting: expected win rates, against the baseline where there is one; and strengths where there are three."""
    if StandingsFigure.is_in(group):
        standings = StandingsFigure.of(group)
        for board in standings.boards:
            if board.category is None and board.split is None and board.standings:
                others = [
                    (each.category, {one.system: one.rate for one in each.standings})
                    for each in standings.boards
                    if each.arm == board.arm and each.category is not None
                ]
                groups = apart(board.standings)
                for each in groups:
                    rates = [(one.system, one.rate) for one in each]
                    among = _among(view, rates) if len(groups) > 1 else ""
                    yield _rates(view, prompt, rates, board.arm, standings.against, others, among)
    elif WinRatesFigure.is_in(group):
        found = WinRatesFigure.of(group)
        rows = [each for each in found.against_baseline or found.overall if each.category is None]
        against = rows[0].opponent or "" if rows else ""
        for arm in dict.fromkeys(each.arm for each in rows):
            rates = [(each.system, each.rate) for each in rows if each.arm == arm]
            yield _rates(view, prompt, rates, arm, against, [], "")
    for fit in BradleyTerryFigure.of(group).fits if BradleyTerryFigure.is_in(group) else ():
        if fit.strengths:
            scores = [(each.system, each.score) for each in fit.strengths]
            yield _board(view, scores, "Bradley-Terry strength", prompt=prompt, arm=_arm(view, fit.arm))


def _rates(
    view: ReportView,
    prompt: str,
    rates: Sequence[tuple[str, Estimate]],
    arm: str | None,
    against: str,
    categories: Sequence[tuple[str, Mapping[str, Estimate]]],
    among: str,
) -> BoardRecord:
    measure = f"Expected win rate against {view.system(against)}" if against else "Expected win rate"
    systems = {system for system, _ in rates}
    own = [(name, {key: each for key, each in found.items() if key in systems}) for name, found in categories]
    own = [(name, found) for name, found in own if found]
    return _board(
        view, rates, measure, prompt=prompt, arm=_arm(view, arm), form=SHARE, categories=own, among=among
    )


def _among(view: ReportView, found: Sequence[tuple[str, Estimate]]) -> str:
    """The systems of a board that were never compared with those of the others."""
    return joined([view.system(system) for system, _ in found])


def _arm(view: ReportView, arm: str | None) -> str:
    return view.arm(arm) if arm and len(view.all_arms) > 1 else ""


def _by_measures(view: ReportView) -> Iterator[RatersBoards]:
    """Each measure of responses once, whoever gave it."""
    found: dict[tuple[str, str], MeasureBySystem] = {}
    for record in MEANS.records(view):
        for each in record.measures:
            found.setdefault((each.rater, each.measure), each)
    boards = [
        _board(
            view,
            [(row.system, row.mean) for row in each.by_system],
            f"Mean of {each.label}",
            prompt=each.judge,
            best=LOWEST if each.direction == "lower" else HIGHEST,
        )
        for each in found.values()
    ]
    if boards:
        yield {
            "key": MEASURES,
            "label": "Measures",
            "kind": MEASURES,
            "judgments": None,
            "items": None,
            "boards": boards,
        }


def _board(
    view: ReportView,
    found: Sequence[tuple[str, Estimate]],
    measure: str,
    *,
    prompt: str = "",
    arm: str = "",
    form: str = NUMBER,
    best: str = HIGHEST,
    categories: Sequence[tuple[str, Mapping[str, Estimate]]] = (),
    among: str = "",
) -> BoardRecord:
    """Systems in order of their figures, the best first. `categories` are names, each with figures by system.

    `among` names the systems where they can't be ranked with the others.
    """
    standings = _ranked([estimate for _, estimate in found], best)
    columns = [
        (
            name,
            by_system,
            dict(zip(by_system, _ranked(list(by_system.values()), best), strict=True)),
        )
        for name, by_system in categories
    ]
    rows: list[BoardRow] = [
        {
            "system": system,
            "label": view.system(system),
            "place": place,
            "rank": rank,
            **_figure(estimate),
            "by_category": [
                {**_figure(by_system[system]), "rank": ranks[system][1]} if system in by_system else None
                for _, by_system, ranks in columns
            ],
        }
        for (system, estimate), (place, rank) in zip(found, standings, strict=True)
    ]
    rows.sort(key=lambda row: (row["place"] or len(rows) + 1, row["label"]))
    return {
        "measure": measure,
        "prompt": prompt,
        "setting": arm,
        "among": among,
        "form": form,
        "best": best,
        "categories": [name for name, *_ in columns],
        "rows": rows,
    }


def _figure(estimate: Estimate) -> BoardFigure:
    return {
        "value": plain(estimate.value),
        "low": plain(estimate.low),
        "high": plain(estimate.high),
        "n": plain(estimate.n),
        "unit": estimate.unit,
        "undefined": estimate.undefined,
    }


def _ranked(estimates: Sequence[Estimate], best: str) -> list[tuple[int | None, int | None]]:
    """Place and rank of each: 1 + the systems with a better figure, and 1 + those whose whole interval is better."""
    made = [_upwards(each, best) for each in estimates]
    return list(zip(places(made), interval_ranks(made), strict=True))


def _upwards(estimate: Estimate, best: str) -> Estimate:
    """The estimate with the better end up."""
    value, low, high = estimate.value, estimate.low, estimate.high
    if best == LOWEST:
        value, low, high = (None if each is None else -each for each in (value, high, low))
    return Estimate(value, low, high, estimate.n, estimate.unit, undefined=estimate.undefined)
