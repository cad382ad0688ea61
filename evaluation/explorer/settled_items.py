"""Items by whether they are settled, and by whether those who settled them agree."""

from django.db.models import Count, Q

from evaluation.models import Study
from evaluation.protocols import AnswerValue
from evaluation.selectors import settled_judgments
from evaluation.services.answers import answers_by_judgment

# All answers but texts.
Labels = frozenset[AnswerValue]
YES, NO, DIFFER = "yes", "no", "differ"


def settled_q(study: Study, how: str) -> Q:
    """Items that are settled (YES), not (NO), or that two have settled otherwise than each other (DIFFER)."""
    if how == DIFFER:
        found = labels_settled_twice(study)
        return Q(pk__in=[item for item, given in found.items() if len(set(given.values())) > 1])
    settled = Q(pk__in=settled_judgments(study).order_by().values("item"))
    return settled if how == YES else ~settled


def labels_settled_twice(study: Study) -> dict[int, dict[int, Labels]]:
    """Of each item that several have settled, by its id, what each of them gave, by the rater's."""
    settled = settled_judgments(study).order_by()
    twice = settled.values("item").annotate(n=Count("pk")).filter(n__gt=1).values("item")
    rows = list(settled.filter(item__in=twice).order_by("item", "rater").values_list("pk", "item", "rater"))
    answers = answers_by_judgment([pk for pk, *_ in rows])
    found: dict[int, dict[int, Labels]] = {}
    for pk, item, rater in rows:
        labels = frozenset(each for each in answers.get(pk, ()) if each.text is None)
        found.setdefault(item, {})[rater] = labels
    return found
