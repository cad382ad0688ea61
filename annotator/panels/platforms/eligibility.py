"""Conditions that a platform can put on participants, if it can: fields to set, presets, and their comparison.

A study's conditions are `Criteria`. Whose participants are kept out is the same everywhere: those of other studies
here, by the studies' ids at the platform or by their own.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Self

from django import forms

from evaluation.refusals import Refused

CENT = Decimal("0.01")
# How people are kept out: by the platform, from all who took part in those studies; or by the ids of those who have
# come to them here when this one is drafted.
BY_STUDY, BY_PERSON = "studies", "people"


class FiltersInvalid(Refused):
    """Carries in `fields` a field's name and a sentence for everything that can't be meant."""

    def __init__(self, fields: Sequence[tuple[str, str]], labels: Mapping[str, str]) -> None:
        self.fields = fields
        super().__init__(*(f"{labels.get(name, name)}: {said}" for name, said in fields))


class FilterUnknown(ValueError):
    """The platform has no such filter, or no such choice or value of it; `field` is the field that asked for it."""

    def __init__(self, field: str, sentence: str) -> None:
        self.field = field
        super().__init__(sentence)


@dataclass(frozen=True, kw_only=True)
class Criteria(ABC):
    """A study's conditions on participants; a platform adds its own fields. Empty ones ask for nothing."""

    # Slugs of studies here.
    not_from: tuple[str, ...] = ()
    by: str = BY_STUDY

    @abstractmethod
    def as_json(self) -> dict[str, Any]:
        """The fields that are set, to be stored; `Eligibility.read` reads it back."""

    @abstractmethod
    def with_preset(self, preset: "Criteria") -> Self:
        """The preset's criteria, with what no preset says: who is kept out, and the like, stays."""

    @abstractmethod
    def sentences(self) -> list[str]:
        """The conditions in words; nothing where everybody is taken."""


@dataclass(frozen=True)
class FilterRequest:
    """Criteria as the platform takes them, and as they are stored here to be compared with what it has later."""

    fields: Mapping[str, Any] = field(default_factory=dict)
    kept: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Preset:
    """A published study's filters and pay. What its paper does not say is None, and the study's own value stays."""

    key: str
    label: str
    about: str
    takes: Criteria
    currency: str
    per_hour: Decimal
    pay_per_item: Decimal | None = None
    minutes_per_item: int | None = None
    # Of each visit, and how many visits one person is paid for.
    items: int | None = None
    visits: int = 1
    # Right answers of so many in the qualification; set among the study's steps, before launch.
    qualification: tuple[int, int] | None = None

    def minutes(self, items: int, otherwise: int) -> int:
        return self.minutes_per_item * items if self.minutes_per_item else otherwise

    def pay(self, items: int, minutes: int) -> Decimal:
        """The pay of one participant for a number of items and minutes."""
        if self.pay_per_item is not None:
            return self.pay_per_item * items
        return (self.per_hour * minutes / 60).quantize(CENT, ROUND_HALF_UP)


class Eligibility(ABC):
    """The conditions that a platform knows."""

    # Name of a field to what stands before it on a form, and in the sentences about it.
    labels: Mapping[str, str]
    presets: Mapping[str, Preset]

    @abstractmethod
    def read(self, given: Mapping[str, Any]) -> Criteria:
        """Criteria from values by field, as a form, a command or the database has them; what is not given asks for
        nothing. Raises FiltersInvalid with everything that is wrong."""

    @abstractmethod
    def form_fields(self) -> dict[str, forms.Field]:
        """A form's field for each label; the choices of `not_from` are the studies here, filled in by the page."""

    @abstractmethod
    def differences(self, drafted: Mapping[str, Any], there: Mapping[str, Any]) -> list[str]:
        """The differences in words between what was drafted (`FilterRequest.kept`) and what the study there asks
        (`PanelStudy.eligibility`)."""
