"""The plan of a study: how precise so many items and raters will be, how few reach an aim, and what they cost."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from django.db.models import Exists, OuterRef
from django.http import HttpRequest, HttpResponse

from analytics.admin.plan_form import DIFFERENCE, JUDGE, RATINGS, SEEN, VOTES, PlanForm
from analytics.reports.common import NothingToReport
from analytics.reports.pilots import pilot_ratings, pilot_votes
from analytics.statistics.core.estimates import ParameterError
from analytics.statistics.planning.assumptions import RatingAssumptions, VoteAssumptions
from analytics.statistics.planning.labelling import labelled_items
from analytics.statistics.planning.precision import Model, Precision, least_items, precision
from evaluation.admin.pages import page
from evaluation.admin.rights import my_studies, study_page
from evaluation.extension import extensions
from evaluation.models import Judgment, Rater, Study

# The fields by what they are about, in the order of the page.
GROUPS = {
    "What is estimated": ("planned", "pilot", "question", "first", "second"),
    "Assumptions on votes": VOTES,
    "Assumptions on ratings": RATINGS,
    "Aim": ("aim", "chance", "reach"),
    "Design": ("raters", "items"),
    "A judge beside people": JUDGE,
    "Costs": ("pay", "fee", "tokens", "tokens_currency"),
}


@dataclass(frozen=True)
class PlannedDesign:
    """A row of the page: a design, what it costs (see `PlanForm.currencies`), and whether it meets the aim."""

    raters: int
    found: Precision | None
    costs: tuple[Decimal, ...]
    rated: bool
    meets: bool = True
    cheapest: bool = False
    # Where no pay is known: of these designs that with the fewest judgments.
    fewest: bool = False

    @property
    def judgments(self) -> int:
        return self.found.items * self.raters if self.found else 0

    @property
    def half_width(self) -> str:
        return self._reach(self.found.half_width) if self.found else ""

    @property
    def half_width_90(self) -> str:
        return self._reach(self.found.half_width_90) if self.found else ""

    @property
    def seen(self) -> str:
        return "" if self.found is None or self.found.seen is None else f"{self.found.seen:.1%}"

    def _reach(self, half_width: float) -> str:
        """In percentage points, or in points of the scale that is rated."""
        return f"{half_width:.3f}" if self.rated else f"{100 * half_width:.1f}"


@dataclass(frozen=True)
class WithJudge:
    """A row of the page: the fewest items that so many raters each must judge beside a judge of more of them, None if
    all are too few."""

    raters: int
    items: int | None
    costs: tuple[Decimal, ...]

    @property
    def judgments(self) -> int:
        return (self.items or 0) * self.raters


@study_page()
def plan(request: HttpRequest, study: Study) -> HttpResponse:
    """The form, and what comes of it; nothing is kept, so that its address is the plan."""
    by_people = Judgment.objects.filter(study=OuterRef("pk"), rater__kind=Rater.Kind.PERSON)
    judges = {name: cost for each in extensions() for name, cost in each.item_costs(study)}
    pilots = my_studies(request).filter(Exists(by_people), protocol=study.protocol).order_by("title")
    form = PlanForm(study, pilots, judges, request.GET or None)
    context: dict[str, object] = {"title": "Plan", "form": form, "plan": None}
    if form.is_bound and form.is_valid():
        try:
            context["plan"] = planned(form)
        except NothingToReport as nothing:
            form.add_error("pilot", str(nothing))
        except ParameterError as error:
            form.add_error("judge_r", str(error))
    context["groups"] = [
        (name, [form[field] for field in fields if field in form.fields]) for name, fields in _groups(form)
    ]
    status = 422 if form.errors else 200
    return page(request, "admin/analytics/plan.html", context, study=study, tab="plan", status=status)


def planned(form: PlanForm) -> Mapping[str, object]:
    """The designs that the form asks for.

    Raises NothingToReport where the pilot says too little, ParameterError where it allows no such judge.
    """
    assumed = _assumed(form)
    model, data, wanted, seed = form.model(assumed), form.cleaned_data, form.wanted(), form.study.seed
    least = [_row(form, raters, least_items(model, raters, wanted, seed=seed)) for raters in data["raters"]]
    here = [_here(form, model, raters) for raters in data["raters"]]
    return {
        "assumed": assumed,
        "assumed_in_words": _in_words(assumed),
        "aim": _aim(form),
        "least": _with_cheapest(least) if data["pay"] is not None else _with_fewest(least),
        "here": here,
        "items": data["items"],
        "judged": data["judged"],
        "with_judge": [_with_judge(form, model, raters) for raters in data["raters"]]
        if data["judged"]
        else [],
        "currencies": form.currencies,
        "why_no_sum": form.why_no_sum,
    }


def _aim(form: PlanForm) -> str:
    data = form.cleaned_data
    if data["aim"] == SEEN:
        return f"The fewest items with which {data['chance']:g} of 100 studies detect the difference."
    points = "points of the scale" if data["planned"] == DIFFERENCE else "percentage points"
    return (
        f"The fewest items with which the interval reaches at most {data['reach']:g} {points} to either side, in half "
        "of all studies."
    )


def _in_words(assumed: VoteAssumptions | RatingAssumptions) -> str:
    if isinstance(assumed, RatingAssumptions):
        return (
            f"Assumed: a difference of {assumed.difference:.2f} and standard deviations of "
            f"{assumed.between_items:.2f} between items and {assumed.within_items:.2f} within them."
        )
    return (
        f"Assumed: an expected win rate of {assumed.win_rate:.1%}, {assumed.ties:.1%} tie votes, and two raters who "
        f"agree on {assumed.two_votes:.1%} of items."
    )


def _assumed(form: PlanForm) -> VoteAssumptions | RatingAssumptions:
    data = form.cleaned_data
    if data["pilot"] is None:
        return form.assumed()
    if data["planned"] == DIFFERENCE:
        return pilot_ratings(data["pilot"], data["question"], data["first"], data["second"])
    return pilot_votes(data["pilot"], data["first"], data["second"])


def _here(form: PlanForm, model: Model, raters: int) -> PlannedDesign:
    found = precision(model, form.cleaned_data["items"], raters, seed=form.study.seed)
    return _row(form, raters, found, meets=form.wanted().is_met(found))


def _with_judge(form: PlanForm, model: Model, raters: int) -> WithJudge:
    data, half_width = form.cleaned_data, form.wanted().half_width
    assert half_width is not None
    items = labelled_items(model, raters, data["judge_r"], data["judged"], half_width)
    costs = () if items is None else _costs(form, raters, items, data["judged"])
    return WithJudge(raters, items, costs)


def _costs(form: PlanForm, raters: int, items: int, judged: int) -> tuple[Decimal, ...]:
    """Pay for so many raters of each of the items, and the cost of judging so many; their sum in one currency."""
    data = form.cleaned_data
    pay, fee, tokens = data["pay"], data["fee"] or Decimal(0), data["tokens"]
    people = [] if pay is None else [items * raters * pay * (1 + fee / 100)]
    costs = people if tokens is None else [*people, judged * tokens]
    return (sum(costs, Decimal(0)),) if len(costs) > len(form.currencies) else tuple(costs)


def _row(form: PlanForm, raters: int, found: Precision | None, *, meets: bool = True) -> PlannedDesign:
    costs = () if found is None else _costs(form, raters, found.items, found.items)
    return PlannedDesign(raters, found, costs, form.cleaned_data["planned"] == DIFFERENCE, meets)


def _with_cheapest(rows: list[PlannedDesign]) -> list[PlannedDesign]:
    """The design that meets the aim and costs least in every currency is marked, if any; pay is among the costs."""
    costs = [row.costs for row in rows if row.costs]
    if len(costs) < 2:
        return rows
    least = tuple(map(min, zip(*costs, strict=True)))
    return [replace(row, cheapest=row.costs == least) for row in rows]


def _with_fewest(rows: list[PlannedDesign]) -> list[PlannedDesign]:
    """The designs that meet the aim with the fewest judgments are marked, where there are several to choose from."""
    judgments = [row.judgments for row in rows if row.found]
    if len(judgments) < 2:
        return rows
    return [replace(row, fewest=row.judgments == min(judgments)) for row in rows]


def _groups(form: PlanForm) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The groups of fields that the study's figures need."""
    offered = [key for key, _ in form.fields["planned"].choices]  # type: ignore[attr-defined]
    for name, fields in GROUPS.items():
        if fields == VOTES and offered == [DIFFERENCE]:
            continue
        if fields == RATINGS and DIFFERENCE not in offered:
            continue
        yield name, fields
