"""How studies recruit on Prolific: ready sets of filters, pay and minutes as published studies had them; fair pay.

Filters are named by Prolific's own words for the choices, not by the numbers that stand for them in its API: those are
looked up when a study is drafted, so that a renumbering there can never recruit other people without a word.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Protocol

CENT = Decimal("0.01")
# Per hour: what Prolific asks for at least, and what it recommends. From "Prolific's payment principles" in its help
# pages for researchers, stored copies read on 2026-11-21; look again from time to time.
MINIMUM = {"GBP": Decimal("6.00"), "USD": Decimal("8.00")}
RECOMMENDED = {"GBP": Decimal("9.00"), "USD": Decimal("12.00")}


class Known(Protocol):
    """A filter as Prolific lists it: `annotator.platforms.prolific.client.KnownFilter`."""

    @property
    def id(self) -> str: ...
    @property
    def choices(self) -> Mapping[str, str]: ...


class FilterUnknown(ValueError):
    """Prolific has no such filter, or no such choice of it."""


@dataclass(frozen=True)
class Wanted:
    """A condition on participants: some of a filter's choices, or its values from some point on."""

    id: str
    said: str
    choices: tuple[str, ...] = ()
    lower: int | None = None


@dataclass(frozen=True)
class Preset:
    """Whom a study takes and what it pays. What a paper does not say is None, and the study's own value stays."""

    key: str
    label: str
    about: str
    filters: tuple[Wanted, ...]
    currency: str
    per_hour: Decimal
    pay_per_item: Decimal | None = None
    minutes_per_item: int | None = None
    items: int | None = None
    # Right answers of so many in the qualification; set among the study's steps, before launch.
    qualification: tuple[int, int] | None = None

    def minutes(self, items: int, otherwise: int) -> int:
        return self.minutes_per_item * items if self.minutes_per_item else otherwise

    def pay(self, items: int, minutes: int) -> Decimal:
        """Of one participant who does so many items in so many minutes."""
        if self.pay_per_item is not None:
            return self.pay_per_item * items
        return (self.per_hour * minutes / 60).quantize(CENT, ROUND_HALF_UP)


APPROVAL_99 = Wanted("approval_rate", "approval rate of at least 99 %", lower=99)
# The filter takes whole percents, so 100 is what is above 99.
APPROVAL_ABOVE_99 = Wanted("approval_rate", "approval rate above 99 %", lower=100)
NATIVE_ENGLISH = Wanted("first-language", "English as first language", choices=("English",))

PRESETS = {
    preset.key: preset
    for preset in (
        Preset(
            key="contexteval",
            label="ContextEval",
            about="Up to 3 items per person at 1.75 USD for 7 minutes each, which is 15 USD per hour.",
            filters=(
                APPROVAL_99,
                Wanted("approval_numbers", "at least 500 approved submissions", lower=500),
                Wanted("fluent-languages", "fluent in English", choices=("English",)),
            ),
            currency="USD",
            per_hour=Decimal(15),
            pay_per_item=Decimal("1.75"),
            minutes_per_item=7,
            items=3,
        ),
        Preset(
            key="href",
            label="HREF",
            about="16 USD per hour, after a qualification with 9 of 10 right.",
            filters=(
                APPROVAL_ABOVE_99,
                NATIVE_ENGLISH,
                Wanted(
                    "current-country-of-residence",
                    "in the United States, the United Kingdom or Canada",
                    choices=("United States", "United Kingdom", "Canada"),
                ),
                Wanted(
                    "highest-education-level-completed",
                    "a Bachelor's degree or more",
                    choices=(
                        "Undergraduate degree (BA/BSc/other)",
                        "Graduate degree (MA/MSc/MPhil/other)",
                        "Doctorate degree (PhD/other)",
                    ),
                ),
            ),
            currency="USD",
            per_hour=Decimal(16),
            qualification=(9, 10),
        ),
        Preset(
            key="lfqa",
            label="LFQA",
            # The 5,000 finished tasks that it also asked for are MTurk's; hardly anybody has so many on Prolific.
            about="4 USD per item of 13 to 14 minutes.",
            filters=(APPROVAL_99, NATIVE_ENGLISH),
            currency="USD",
            per_hour=(Decimal(4) * 60 / 14).quantize(CENT),
            pay_per_item=Decimal(4),
            minutes_per_item=14,
        ),
    )
}


def as_filters(wanted: Iterable[Wanted], known: Iterable[Known]) -> list[dict[str, Any]]:
    """The conditions as Prolific takes them, by what it lists now. Raises FilterUnknown."""
    listed = {each.id: each for each in known}
    return [_as_filter(each, listed) for each in wanted]


def _as_filter(wanted: Wanted, listed: Mapping[str, Known]) -> dict[str, Any]:
    there = listed.get(wanted.id)
    if there is None:
        raise FilterUnknown(f"Prolific has no filter {wanted.id!r} any more ({wanted.said}).")
    if not wanted.choices:
        return {"filter_id": wanted.id, "selected_range": {"lower": wanted.lower}}
    missing = [each for each in wanted.choices if each not in there.choices]
    if missing:
        raise FilterUnknown(
            f"Prolific's filter {wanted.id!r} has no choice {missing[0]!r} any more ({wanted.said})."
        )
    return {"filter_id": wanted.id, "selected_values": [there.choices[each] for each in wanted.choices]}


def fair_pay_warning(pay: Decimal, minutes: int, currency: str) -> str:
    """A sentence where the pay per hour is below what Prolific asks for or recommends; otherwise nothing."""
    per_hour = (pay * 60 / minutes).quantize(CENT, ROUND_HALF_UP)
    said = f"{pay:.2f} {currency} for {minutes} minutes is {per_hour} per hour"
    if currency not in MINIMUM:
        return f"{said}; Prolific states what is fair in {' and '.join(MINIMUM)} only."
    if per_hour < MINIMUM[currency]:
        return f"{said}, below Prolific's minimum of {MINIMUM[currency]}: it won't publish the study."
    if per_hour < RECOMMENDED[currency]:
        return f"{said}, below the {RECOMMENDED[currency]} that Prolific recommends."
    return ""
