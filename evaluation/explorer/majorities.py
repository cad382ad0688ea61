"""Items by the majorities of people and judges, as they are kept or, of a list as of a judgment, as they were then."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import F, Q

from evaluation.models import Judgment, Study
from evaluation.services.tallies import tallies_as_of

ANY, NONE = "any", "none"
AGREE = "agree"
# Of more items that were judged since, the majorities are today's: each is counted anew, for every page.
MOST_RECOUNTED = 1_000


@dataclass(frozen=True)
class MajorityFilter:
    """The majority of people (a value, ANY or NONE), and whether that of judges is the same; empty for either."""

    majority: str
    vs: str

    def __bool__(self) -> bool:
        return bool(self.majority or self.vs)

    def condition(self, study: Study, until: int | None) -> Q:
        """Items that it admits."""
        today = self._today()
        judged_since = [] if until is None else items_judged_since(study, until)
        if until is None or not judged_since or len(judged_since) > MOST_RECOUNTED:
            return today
        then = tallies_as_of(study, judged_since, until)
        return (today & ~Q(pk__in=judged_since)) | Q(
            pk__in=[pk for pk, each in then.items() if self._admits(each)]
        )

    def _today(self) -> Q:
        found = Q()
        if self.majority == ANY:
            found &= Q(tally__majority__gt="")
        elif self.majority:
            wanted = "" if self.majority == NONE else self.majority
            found &= Q(tally__majority=wanted, tally__n_people__gt=0)
        if self.vs:
            alike = Q(tally__majority=F("tally__judges_majority"))
            found &= Q(tally__majority__gt="", tally__judges_majority__gt="")
            found &= alike if self.vs == AGREE else ~alike
        return found

    def _admits(self, tally: Mapping[str, Any]) -> bool:
        """The same of figures that are not kept."""
        people, judges = tally["majority"], tally["judges_majority"]
        if self.majority == ANY and not people:
            return False
        if self.majority not in ("", ANY):
            wanted = "" if self.majority == NONE else self.majority
            if people != wanted or not tally["n_people"]:
                return False
        return not self.vs or bool(people and judges and (people == judges) == (self.vs == AGREE))


def items_judged_since(study: Study, until: int) -> list[int]:
    """The items with later judgments; no more than one beyond MOST_RECOUNTED."""
    later = Judgment.objects.filter(study=study, pk__gt=until).order_by()
    return list(later.values_list("item", flat=True).distinct()[: MOST_RECOUNTED + 1])
