"""Items of two responses by how much longer one of them is, in characters, as they were counted at launch."""

from dataclasses import dataclass
from typing import Any, Self

from django.db.models import Case, F, FloatField, Func, Q, When

from evaluation.explorer.answers_of import NOTHING, known_system
from evaluation.explorer.number_range import NumberRange
from evaluation.models import Study
from evaluation.models.item import BETWEEN_SYSTEMS
from evaluation.selectors import system_sets


class LengthOf(Func):
    """The length of an item's first or second response, out of two."""

    output_field = FloatField()

    def __init__(self, number: int) -> None:
        super().__init__(F("lengths"), number=int(number), place=int(number) - 1)

    def as_postgresql(self, compiler: Any, connection: Any) -> Any:
        return self.as_sql(
            compiler, connection, template="split_part(%(expressions)s, ',', %(number)s)::float8"
        )

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        template = "json_extract('[' || %(expressions)s || ']', '$[%(place)s]')"
        return self.as_sql(compiler, connection, template=template)


@dataclass(frozen=True)
class LongerThan:
    """The other of two responses is by so many characters longer than the system's."""

    system: str
    within: NumberRange

    @classmethod
    def parse(cls, study: Study, text: str) -> Self:
        """`<system key>:<range>`. ValueError says what is wrong with it."""
        # A system's key may have colons itself, such as a model's.
        system, colon, given = text.rpartition(":")
        if not colon:
            raise ValueError(f"{text!r} names no range: write it as system:100..200.")
        return cls(known_system(study, system), NumberRange.parse(given))

    def __str__(self) -> str:
        return f"{self.system}:{self.within}"

    @property
    def in_words(self) -> str:
        return f"{self.system}: {self.within.in_words} characters"

    def condition(self, study: Study) -> Q:
        """Items of the system and one other with such a difference."""
        pairs = [each for each in system_sets(study) if each.count(BETWEEN_SYSTEMS) == 1]
        by_place = {
            number: [each for each in pairs if each.split(BETWEEN_SYSTEMS)[number - 1] == self.system]
            for number in (1, 2)
        }
        # No other item's lengths are read: those of many responses may be cut.
        longer = [
            When(systems_key__in=sets, then=LengthOf(3 - number) - LengthOf(number))
            for number, sets in by_place.items()
            if sets
        ]
        return self.within.holds(Case(*longer, output_field=FloatField())) if longer else NOTHING
