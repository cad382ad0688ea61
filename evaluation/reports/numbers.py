"""How figures are written: percentages with one decimal, coefficients with two, p-values with three."""

from typing import Any

MINUS = "\N{MINUS SIGN}"
NBSP = "\N{NO-BREAK SPACE}"


def percent(share: float) -> str:
    """A share between 0 and 1 (or a difference of shares) in percent."""
    return _signed(f"{share * 100:.1f}")


def in_percent(share: float) -> str:
    """The same with its sign, never parted from it."""
    return f"{percent(share)}{NBSP}%"


def decimal(value: float) -> str:
    return _signed(f"{value:.2f}")


def points(difference: float) -> str:
    """The size of a difference of shares, in percentage points."""
    return f"{abs(difference) * 100:.1f}"


def p_value(value: float | None) -> str:
    if value is None:
        return "not testable"
    return f"p{NBSP}<{NBSP}0.001" if value < 0.001 else f"p{NBSP}={NBSP}{value:.3f}"


def corrected(test: dict[str, Any]) -> str:
    """The p-value that a sentence goes by: after correction, where there is more than one test in the family."""
    p = p_value(test["p_corrected"])
    return p if test["tests"] == 1 else f"{p} after correction for {test['tests']:,} tests"


def _signed(text: str) -> str:
    """With a true minus sign, and without a negative zero."""
    if float(text) == 0:
        return text.removeprefix("-")
    return text.replace("-", MINUS)
