"""The notation of figures: percentages with one decimal, coefficients with two, p-values with three.

A sum in another order differs in its last bits, by which one and the same figure must not be rounded to two numbers.
"""

import re
from collections.abc import Callable

from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.randomization import CorrectedTest, Tested

MINUS = "\N{MINUS SIGN}"
NBSP = "\N{NO-BREAK SPACE}"


# A figure as the functions below write it.
FIGURE = re.compile(f"(<?)\N{THIN SPACE}?({MINUS}?)(\\d{{1,3}}(?:,\\d{{3}})*|\\d+)(\\.\\d+)?", re.ASCII)


def plain_number(text: str) -> str:
    """A figure as programs read it: "-1234.5", "<0.001"; empty if the text is none."""
    found = FIGURE.fullmatch(text)
    if found is None:
        return ""
    less, minus, whole, decimals = found.groups()
    return f"{less}{'-' if minus else ''}{whole.replace(',', '')}{decimals or ''}"


def percent(share: float) -> str:
    """A share between 0 and 1 (or a difference of shares) in percent."""
    return _signed(f"{_exact(share * 100):.1f}")


def in_percent(share: float) -> str:
    """The same with its sign, never parted from it."""
    return f"{percent(share)}{NBSP}%"


def decimal(value: float) -> str:
    return _signed(f"{_exact(value):.2f}")


def score(value: float) -> str:
    """A score from 0 to 1 with three decimals, as such are published."""
    return _signed(f"{_exact(value):.3f}")


def to_places(places: int) -> Callable[[float], str]:
    """The notation of numbers with so many decimals."""
    return lambda value: _signed(f"{_exact(value):,.{places}f}")


def points(difference: float) -> str:
    """The size of a difference of shares, in percentage points."""
    return f"{_exact(abs(difference) * 100):.1f}"


def signed_p(value: float, method: str = "") -> tuple[str, str]:
    """A p-value as it is known, and the sign before it: one from draws, which end early where it is large, has a
    standard error below 0.005 up to a tenth, and beyond that of up to a twentieth of itself."""
    if value < 0.001:
        return "<", "0.001"
    if value > 0.1 and method.endswith(" draws"):
        return "\N{ALMOST EQUAL TO}", f"{value:.1f}"
    return "=", f"{value:.3f}"


def p_value(value: float | None, method: str = "") -> str:
    if value is None:
        return "not testable"
    sign, number = signed_p(value, method)
    return f"p{NBSP}{sign}{NBSP}{number}"


def corrected(test: Tested | None) -> str:
    """The p-value that a sentence goes by: after correction, where there is more than one test in the family."""
    assert isinstance(test, CorrectedTest)
    p = p_value(test.p_corrected, test.method)
    return p if test.tests == 1 else f"{p} after correction for {test.tests:,} tests"


def _exact(number: float) -> float:
    """Without the bits that come of the order in which it was summed up."""
    return round(number, 9)


def _signed(text: str) -> str:
    """With a true minus sign, and without a negative zero."""
    if not text.startswith("-"):
        return text
    return f"{MINUS if text.strip('-0.,') else ''}{text[1:]}"


def with_interval(estimate: Estimate) -> str:
    """A share in percent, with its limits where it has some."""
    return _with_limits(in_percent(estimate.known), estimate, percent)


def mean_with_interval(estimate: Estimate) -> str:
    """A mean as it stands in its table, with its limits where it has some."""
    return _with_limits(decimal(estimate.known), estimate, decimal)


def _with_limits(text: str, estimate: Estimate, form: Callable[[float], str]) -> str:
    if estimate.low is None or estimate.high is None:
        return text
    return f"{text} ({form(estimate.low)} to {form(estimate.high)})"


def ended(text: str) -> str:
    """The text as a sentence: a question has its mark already."""
    return text if text.endswith(("?", "!", ".")) else f"{text}."
