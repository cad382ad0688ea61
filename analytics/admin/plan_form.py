"""The form of a plan: the figure, its assumptions, the aim, and what judgments cost."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django import forms

from analytics.reports.pilots import rated_questions
from analytics.statistics.core.estimates import ParameterError
from analytics.statistics.planning.assumptions import RatingAssumptions, VoteAssumptions
from analytics.statistics.planning.labelling import LEAST_JUDGED
from analytics.statistics.planning.precision import MOST_ITEMS, MOST_RATERS, Model, Wanted
from evaluation.models import Study

WIN_RATE, AGREEMENT, DIFFERENCE = "win_rate", "agreement", "difference"
PLANNED = {
    WIN_RATE: "Expected win rate of a system",
    AGREEMENT: "Percentage agreement of raters",
    DIFFERENCE: "Difference of two systems' mean ratings",
}
SEEN, WIDTH = "seen", "width"
AIMS = {SEEN: "to detect the difference", WIDTH: "an interval of a given width"}
VOTES, RATINGS = ("win_rate", "ties", "two_votes"), ("difference", "between_items", "within_items")
JUDGE = ("judge_r", "judged")
MOST_DESIGNS = 8


def _percent(label: str, initial: float, help_text: str = "") -> forms.FloatField:
    return forms.FloatField(
        label=f"{label}, percent",
        initial=initial,
        min_value=0,
        max_value=100,
        required=False,
        help_text=help_text,
    )


class PlanForm(forms.Form):
    """A plan. `pilot` is a study whose judgments give the assumptions, in place of those typed in."""

    planned = forms.ChoiceField(label="Figure")
    pilot = forms.ModelChoiceField(
        Study.objects.none(),
        required=False,
        empty_label="None: the assumptions below",
        help_text="Its judgments by people give the assumptions.",
    )
    question = forms.ChoiceField(required=False, help_text="The scale that the pilot is read for.")
    first = forms.ChoiceField(label="First system", required=False)
    second = forms.ChoiceField(label="Second system", required=False)
    win_rate = _percent("Expected win rate", 60, "A tie counts as half a win.")
    ties = _percent("Tie votes", 15)
    two_votes = _percent(
        "Agreement of two raters", 55, "How often two raters of one item give the same label, ties included."
    )
    difference = forms.FloatField(
        label="Difference of the means", initial=0.3, required=False, help_text="In points of the scale."
    )
    between_items = forms.FloatField(
        label="Standard deviation between items",
        initial=0.8,
        min_value=0,
        required=False,
        help_text="Of the two systems' true difference from item to item.",
    )
    within_items = forms.FloatField(
        label="Standard deviation within items",
        initial=0.8,
        min_value=0,
        required=False,
        help_text="Of several raters' ratings of one response.",
    )
    aim = forms.ChoiceField(choices=list(AIMS.items()), label="Wanted", initial=SEEN)
    chance = _percent("Power", 80, "The share of studies whose interval leaves out no difference.")
    reach = forms.FloatField(
        label="Half width of the interval",
        initial=3,
        required=False,
        help_text="In percentage points; for a difference of ratings, in points of the scale.",
    )
    raters = forms.CharField(label="Raters of an item", initial="1, 2, 3, 5", help_text="Numbers to compare.")
    items = forms.IntegerField(
        label="Items",
        min_value=10,
        max_value=MOST_ITEMS,
        help_text="What so many items give is shown as well.",
    )
    judge_r = forms.FloatField(
        label="Correlation of a judge with a person",
        min_value=0,
        max_value=1,
        required=False,
        help_text="Over items, with one person's answers. Empty: people judge alone.",
    )
    judged = forms.IntegerField(
        label="Items that the judge judges",
        min_value=LEAST_JUDGED,
        max_value=MOST_ITEMS,
        required=False,
        help_text="People judge a random part of them.",
    )
    pay = forms.DecimalField(label="Pay for one judgment", min_value=0, required=False, max_digits=10)
    fee = forms.DecimalField(
        label="Fee of the panel, percent",
        min_value=0,
        required=False,
        max_digits=6,
        help_text="On top of the pay.",
    )
    tokens = forms.DecimalField(
        label="Cost of the judges for one item", min_value=0, required=False, max_digits=12
    )
    tokens_currency = forms.RegexField(
        "^[A-Za-z]{3}$",
        label="Currency of that cost",
        required=False,
        error_messages={"invalid": "A currency has three letters, such as USD."},
    )

    def __init__(self, study: Study, pilots: Any, judges: Mapping[str, Decimal], data: Any = None) -> None:
        super().__init__(data)
        self.study, self.scales = study, dict(rated_questions(study))
        self._offer(pilots)
        self._propose(judges)

    def _offer(self, pilots: Any) -> None:
        names = [(each.key, each.label or each.key) for each in self.study.systems.order_by("key")]
        offered = [WIN_RATE, AGREEMENT] if self.study.compares_pairs else []
        offered += [DIFFERENCE] if self.scales or not offered else []
        self.fields["planned"].choices = [(key, PLANNED[key]) for key in offered]  # type: ignore[attr-defined]
        self.fields["pilot"].queryset = pilots  # type: ignore[attr-defined]
        for name, choices in (("question", self.scales.items()), ("first", names), ("second", names)):
            self.fields[name].choices = list(choices)  # type: ignore[attr-defined]
        if len(names) > 1:
            baseline = self.study.baseline
            others = [key for key, _ in names if key != baseline]
            self.initial["first"], self.initial["second"] = others[0], baseline or others[1]
        for name, kept in (("question", self.scales), ("first", names), ("second", names)):
            if not kept:
                del self.fields[name]

    def _propose(self, judges: Mapping[str, Decimal]) -> None:
        study = self.study
        self.initial["items"] = min(max(study.items.filter(role="main").count(), 10), MOST_ITEMS)
        if study.pay is not None:
            self.initial["pay"] = (study.pay / study.items_per_participant).quantize(Decimal("0.001"))
        self.fields["pay"].help_text = f"In {study.currency}."
        # Prices of models are numbers: an installation has one currency for them, which nobody has told it.
        self.fields["tokens_currency"].help_text = f"If it is {study.currency}, too, both costs are added up."
        if judges:
            self.initial["tokens"] = sum(judges.values(), Decimal(0)).quantize(Decimal("0.00001"))
            self.fields["tokens"].help_text = f"As estimated, of {', '.join(judges)}."

    def clean_raters(self) -> tuple[int, ...]:
        words = re.findall(r"[^\s,;]+", self.cleaned_data["raters"])
        wrong = next(
            (
                word
                for word in words
                if not word.isdecimal() or len(word) > 4 or not 1 <= int(word) <= MOST_RATERS
            ),
            None,
        )
        if wrong is not None or not words:
            raise forms.ValidationError(f"Whole numbers from 1 to {MOST_RATERS} are needed, such as 1, 3, 5.")
        found = tuple(sorted(set(map(int, words))))
        if len(found) > MOST_DESIGNS:
            raise forms.ValidationError(f"At most {MOST_DESIGNS} numbers can be compared.")
        return found

    def clean_tokens_currency(self) -> str:
        return str(self.cleaned_data["tokens_currency"]).upper()

    @property
    def currencies(self) -> tuple[str, ...]:
        """The columns of costs: one in which pay and judges' costs are in the same currency, otherwise one for each."""
        data, ours = self.cleaned_data, self.study.currency
        theirs = data["tokens_currency"]
        if data["tokens"] is None:
            return () if data["pay"] is None else (ours,)
        if data["pay"] is None:
            return (f"Judges, {theirs}" if theirs else "Judges",)
        return (ours,) if theirs == ours else (f"Pay, {ours}", f"Judges, {theirs}" if theirs else "Judges")

    @property
    def why_no_sum(self) -> str:
        """Why there is no total cost, as a sentence; empty where there is one."""
        if self.cleaned_data["pay"] is None:
            shown = "" if self.cleaned_data["tokens"] is None else "the cost shown is the judges' alone, and "
            return (
                f"No pay is entered: {shown}designs are compared by their judgments. Enter the pay to see the total "
                "cost."
            )
        if len(self.currencies) < 2:
            return ""
        ours, theirs = self.study.currency, self.cleaned_data["tokens_currency"]
        if theirs:
            return f"Pay is in {ours} and the judges' cost in {theirs}, so they are not added up."
        return (
            f"Pay is in {ours}. The judges' cost is in the currency of the models' prices, which are entered without "
            "one, so they are not added up: enter it below if it is the same."
        )

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if self.errors:
            return data
        planned, aim = data["planned"], data["aim"]
        if planned == AGREEMENT and 1 in data["raters"]:
            data["raters"] = tuple(each for each in data["raters"] if each > 1)
            if not data["raters"]:
                self.add_error("raters", "Agreement needs at least two raters of an item.")
        if planned == AGREEMENT and aim == SEEN:
            self.add_error("aim", "Agreement has no difference to detect. Choose an interval width.")
        if data["pilot"] is not None and not data.get("first"):
            self.add_error("pilot", "The study has no systems yet, so a pilot can't be read for them.")
        elif data["pilot"] is not None and planned == DIFFERENCE and not data.get("question"):
            self.add_error(
                "pilot", "The study asks for no rating on a scale, so a pilot can't be read for one."
            )
        elif data["pilot"] is not None and not (data.get("second") and data["first"] != data["second"]):
            self.add_error("second", "Choose two different systems.")
        elif data["pilot"] is None:
            self._require(RATINGS if planned == DIFFERENCE else VOTES)
        self._require(("chance",) if aim == SEEN else ("reach",))
        if any(data.get(name) is not None for name in JUDGE):
            self._require(JUDGE)
            if planned == AGREEMENT:
                self.add_error("judge_r", "Agreement is people's own: no judge makes it more precise.")
            elif aim == SEEN:
                self.add_error(
                    "judge_r", "With a judge the plan is for an interval width: choose it under Aim."
                )
        if not self.errors:
            self._try()
        return data

    def _require(self, names: tuple[str, ...]) -> None:
        for name in names:
            if self.cleaned_data.get(name) is None:
                self.add_error(name, "This field is required.")

    def _try(self) -> None:
        """Assumptions and aims that don't fit together are refused where they stand."""
        for name, make in (("reach", self.wanted), ("two_votes", self.assumed)):
            try:
                if name == "reach" or self.cleaned_data["pilot"] is None:
                    make()
            except ParameterError as error:
                asks = self.cleaned_data["aim"] == SEEN
                rated = self.cleaned_data["planned"] == DIFFERENCE
                at = ("chance" if asks else "reach") if name == "reach" else "within_items" if rated else name
                self.add_error(at, str(error))

    def assumed(self) -> VoteAssumptions | RatingAssumptions:
        """The assumptions that were typed in. Raises ParameterError where they contradict one another."""
        data = self.cleaned_data
        if data["planned"] == DIFFERENCE:
            return RatingAssumptions(*(data[name] for name in RATINGS))
        return VoteAssumptions(*(data[name] / 100 for name in VOTES))

    def wanted(self) -> Wanted:
        data = self.cleaned_data
        if data["aim"] == SEEN:
            return Wanted(seen=data["chance"] / 100)
        return Wanted(half_width=data["reach"] / (1 if data["planned"] == DIFFERENCE else 100))

    def model(self, assumed: VoteAssumptions | RatingAssumptions) -> Model:
        return Model(self.cleaned_data["planned"], assumed)
