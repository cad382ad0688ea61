"""Checks of numbers that options of pipelines are."""

from collections.abc import Callable


def whole_between(least: int, most: int) -> Callable[[float], int]:
    """A check that a number is whole and within these limits."""

    def clean(number: float) -> int:
        if number != int(number) or not least <= number <= most:
            raise ValueError(f"a whole number from {least} to {most} is needed.")
        return int(number)

    return clean


def number_between(least: float, most: float) -> Callable[[float], float]:
    def clean(number: float) -> float:
        if not least <= number <= most:
            raise ValueError(f"a number from {least:g} to {most:g} is needed.")
        return float(number)

    return clean
