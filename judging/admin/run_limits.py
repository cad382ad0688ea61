"""The limits of runs, as they are entered where one or several are started."""

from django import forms

from judging.models import Purpose

PURPOSES = (
    (Purpose.MAIN, "main: judgments are in the report"),
    (Purpose.TRIAL, "trial: for testing, not in the report"),
    (Purpose.ANCHOR, "anchor: bypasses the cache, not in the report"),
)


class StartForm(forms.Form):
    """Limits of a run, and of each where several are started: money and items."""

    purpose = forms.ChoiceField(choices=PURPOSES, initial=Purpose.MAIN)
    max_items = forms.IntegerField(
        label="Maximum number of items",
        required=False,
        min_value=1,
        help_text="Drawn with the study's seed. Leave empty for all.",
    )
    budget = forms.DecimalField(
        required=False,
        min_value=0,
        max_digits=12,
        decimal_places=4,
        help_text="The run stops when this is spent, and can be resumed with more. Leave empty for no limit.",
    )
    in_flight = forms.IntegerField(
        label="Parallel calls",
        required=False,
        min_value=1,
        max_value=1024,
        help_text="Leave empty to use the endpoint's limit.",
    )
    by_batch = forms.BooleanField(
        label="As batches",
        required=False,
        help_text="For runs that can wait: the endpoint answers within a day, at its batch price.",
    )
