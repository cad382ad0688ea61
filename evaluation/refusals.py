"""Refusals: one error, with sentences fit for a screen. Whoever raises it has changed nothing.

Its subclasses are those that some caller treats differently; everything else that can't be done is a plain `Refused`.
"""

from collections.abc import Mapping, Sequence

# A message quotes no more reasons than this; `problems` has them all.
MAX_QUOTED = 20


class Refused(Exception):
    """A refusal with every reason. `total` says how many there were where only the first are kept; `notice` is the
    key of the participant's notice that says the same in their language."""

    def __init__(self, *problems: str, total: int | None = None, notice: str = "") -> None:
        self.problems = list(problems)
        self.total = len(problems) if total is None else total
        self.notice = notice
        quoted = problems[:MAX_QUOTED]
        super().__init__((" " if all(each.endswith(".") for each in quoted) else "; ").join(quoted))


class WrongState(Refused):
    """The state of the study or of the run does not allow this; it may have changed meanwhile."""


class FieldsRefused(Refused):
    """A refusal with the field of each reason, '' for the whole, so that a form can show it there."""

    def __init__(self, by_field: Mapping[str, Sequence[str]]) -> None:
        self.by_field = by_field
        super().__init__(*(sentence for each in by_field.values() for sentence in each))
