"""The stopping rule's fields in the design form."""

from collections.abc import Iterator, Mapping
from typing import Any

from django import forms

from evaluation.stopping import STOPPABLE, StoppingRule

DECIDED, WIDTH = "decided", "width"


class StoppingForm(forms.Form):
    """Form of a study's stopping rule: `initial_stopping` in, `stopping_of` out."""

    stopping_figure = forms.ChoiceField(
        label="Figure that decides",
        choices=[("", "none: all items are judged"), *((key, label) for key, label in STOPPABLE.items())],
        required=False,
        help_text="A study with a rule may be closed once it is met. Its figure is reported with an interval that "
        "holds at every look, and without p-values. Krippendorff's alpha and win rates by majority have no such "
        "interval, so that no study stops by them.",
    )
    stopping_until = forms.ChoiceField(
        label="Until",
        choices=[
            (DECIDED, "the interval of each pair leaves out 50 %"),
            (WIDTH, "the interval of each pair is narrow enough"),
        ],
        required=False,
    )
    stopping_points = forms.FloatField(
        label="Half width, percentage points",
        min_value=0.1,
        max_value=49,
        required=False,
        help_text="How far the interval may reach to either side, where its width decides.",
    )

    STOPPING_FIELDS = ("stopping_figure", "stopping_until", "stopping_points")

    @staticmethod
    def initial_stopping(stored: Mapping[str, Any]) -> dict[str, Any]:
        rule = StoppingRule.of(stored)
        half = rule.half_width if rule else None
        return {
            "stopping_figure": rule.figure if rule else "",
            "stopping_until": DECIDED if half is None else WIDTH,
            "stopping_points": None if half is None else round(100 * half, 6),
        }

    @staticmethod
    def stopping_of(data: Mapping[str, Any]) -> dict[str, Any]:
        if not data.get("stopping_figure"):
            return {}
        half = data["stopping_points"] / 100 if data.get("stopping_until") == WIDTH else None
        return StoppingRule(data["stopping_figure"], half).stored

    @staticmethod
    def problems_of(data: Mapping[str, Any]) -> dict[str, str]:
        return dict(_problems(data))


def _problems(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if not data.get("stopping_figure"):
        return
    if data["stopping_figure"] == "agreement" and (data.get("redundancy") or 2) < 2:
        yield "stopping_figure", "Agreement needs at least two judgments of an item."
    if data.get("stopping_until") == WIDTH:
        if data.get("stopping_points") is None:
            yield "stopping_points", "Say how narrow."
    elif data["stopping_figure"] == "agreement":
        yield "stopping_until", "Agreement is never decided: its width can be."
