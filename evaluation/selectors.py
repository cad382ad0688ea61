"""Reads of the domain that more than one place needs."""

from collections.abc import Collection, Mapping
from typing import Any

from django.db import connection
from django.db.models import Case, Count, OuterRef, Q, QuerySet, Subquery, When
from django.db.models.functions import Coalesce

from evaluation import design
from evaluation.models import Exclusion, Item, Judgment, Outcome, PublishedLeaderboard, Rater, Role, Study
from evaluation.protocols import QuestionSpec


def queries_of_people(study: Study) -> frozenset[int] | None:
    """The ids of the queries that people judge where the design says that it is a random part; None: all of them.

    Drawn among all queries with main items, withdrawn ones too, so that withdrawing changes nothing for the others.
    """
    if study.human_sample is None:
        return None
    asked = study.queries.filter(items__role=Role.MAIN).order_by().distinct()
    ids: dict[str, int] = dict(asked.values_list("key", "pk").iterator())
    return frozenset(ids[key] for key in design.sampled_queries(ids.keys(), study.seed, study.human_sample))


def count_items_of_people(study: Study) -> int:
    """The number of main items that people are to judge."""
    main = Item.objects.filter(study=study, role=Role.MAIN, withdrawn_at=None).order_by()
    theirs = queries_of_people(study)
    if theirs is None:
        return main.count()
    return sum(query in theirs for query in main.values_list("query", flat=True).iterator())


def asked_questions(study: Study) -> dict[str, QuestionSpec]:
    """The questions of a launched study by key, in the order of the form, as its latest revision asks them."""
    found: dict[str, QuestionSpec] = {}
    for questions in study.revisions.order_by("-number").values_list("spec__questions", flat=True):
        for each in questions:
            found.setdefault(each["key"], QuestionSpec.from_json(each))
    return found


# From one to the next greater one by the index: there are few of them, and many items.
SYSTEM_SETS = """
WITH RECURSIVE found (systems) AS (
    SELECT MIN(systems_key) FROM evaluation_item WHERE study_id = %s
    UNION ALL
    SELECT (SELECT MIN(systems_key) FROM evaluation_item WHERE study_id = %s AND systems_key > found.systems)
    FROM found WHERE found.systems IS NOT NULL
)
SELECT systems FROM found WHERE systems IS NOT NULL AND systems <> '' ORDER BY systems
"""


def system_sets(study: Study) -> list[str]:
    """The systems that items compare, as `Item.systems_key` has them, each set once."""
    with connection.cursor() as cursor:
        cursor.execute(SYSTEM_SETS, [study.pk, study.pk])
        return [systems for (systems,) in cursor.fetchall()]


def system_labels(study: Study) -> dict[str, str]:
    """The name of each of the study's systems, by key."""
    return {key: label or key for key, label in study.systems.values_list("key", "label")}


# Leaves every row.
EVERY_ROW = Q()


def standing_exclusions(study: Study) -> QuerySet[Exclusion]:
    return Exclusion.objects.filter(study=study, undone_at=None)


def excluded_q(study: Study, path: str = "") -> Q:
    """Judgments that are left out by a standing exclusion, of themselves or of their rater.

    `path` leads from the rows that are filtered to their judgment, such as "judgment__" from answers.
    """
    standing = standing_exclusions(study)
    judgments = standing.filter(judgment__isnull=False).values("judgment")
    raters = standing.filter(rater__isnull=False).values("rater")
    return Q(**{f"{path}pk__in": judgments}) | Q(**{f"{path}rater__in": raters})


def out_of_figures_q(study: Study, path: str = "") -> Q:
    """Judgments of raters outside the report: a judge's run that is a trial, an anchor, unfinished or superseded."""
    # There are few of them, and asking for their keys spares a million judgments a join.
    raters = Rater.objects.filter(study=study, in_figures=False).values("pk")
    return Q(**{f"{path}rater__in": raters})


def countable_q(study: Study, path: str = "") -> Q:
    """Judgments that count, unless their item is withdrawn or has another role than main."""
    own = {f"{path}study": study, f"{path}outcome": Outcome.OK, f"{path}surplus": False}
    return ~excluded_q(study, path) & ~out_of_figures_q(study, path) & Q(**own)


def countable_of_q(study: Study, raters: Collection[int], path: str = "") -> Q:
    """The judgments of these raters that would count if they were in figures."""
    own = {f"{path}study": study, f"{path}outcome": Outcome.OK, f"{path}surplus": False}
    return ~excluded_q(study, path) & Q(**own, **{f"{path}rater__in": list(raters)})


def main_judgments(study: Study) -> QuerySet[Judgment]:
    """Judgments of main items, whatever became of them."""
    return Judgment.objects.filter(study=study, item__role=Role.MAIN)


def counting_judgments(study: Study) -> QuerySet[Judgment]:
    """The judgments that figures are made of."""
    return main_judgments(study).filter(countable_q(study), item__withdrawn_at=None)


def left_out_counts(study: Study, among: Q = EVERY_ROW) -> dict[str, int]:
    """Reason to number of the main judgments that are not in the report; each is counted under one reason."""
    counts: dict[str, int] = {}
    for found in left_out_by_kind(study, among).values():
        for reason, n in found.items():
            counts[reason] = counts.get(reason, 0) + n
    return counts


def left_out_by_kind(study: Study, among: Q = EVERY_ROW) -> dict[str, dict[str, int]]:
    """The same of people, judges and simulated raters apart: by the kind of rater, in the order of the kinds."""
    rows = (
        main_judgments(study)
        .filter(among)
        .annotate(
            gone=Case(When(excluded_q(study), then=True), default=False),
            aside=Case(When(out_of_figures_q(study), then=True), default=False),
            withdrawn=Case(When(item__withdrawn_at__isnull=False, then=True), default=False),
        )
        .order_by()
        .values_list("rater__kind", "gone", "aside", "outcome", "surplus", "withdrawn")
        .annotate(n=Count("pk"))
    )
    counts: dict[str, dict[str, int]] = {kind: {} for kind in RATERS}
    for kind, *facts, n in rows:
        if reason := _why_left_out(*facts):
            counts[kind][reason] = counts[kind].get(reason, 0) + n
    return {kind: found for kind, found in counts.items() if found}


# The kinds of raters in words, people first.
RATERS = {
    Rater.Kind.PERSON.value: "people",
    Rater.Kind.JUDGE.value: "judges",
    Rater.Kind.SIMULATED.value: "simulated raters",
}


def left_out_in_words(found: Mapping[str, Mapping[str, int]]) -> str:
    """Counts by kind of rater, as `left_out_by_kind` has them: "people: 3 skipped; judges: 2 failed"; '' of none."""
    said = {
        kind: [f"{n:,} {reason.replace('_', ' ')}" for reason, n in reasons.items()]
        for kind, reasons in found.items()
    }
    return "; ".join(f"{RATERS[kind]}: {', '.join(reasons)}" for kind, reasons in said.items())


def _why_left_out(gone: bool, aside: bool, outcome: str, surplus: bool, withdrawn: bool) -> str:
    if gone:
        return "excluded"
    if aside:
        return "run not in figures"
    if outcome != Outcome.OK:
        return outcome
    if surplus:
        return "surplus"
    return "withdrawn item" if withdrawn else ""


def judges_in_figures(study: Study) -> QuerySet[Rater]:
    """The judges that a report is of, whatever became of their judgments; those excluded are not among them."""
    gone = standing_exclusions(study).filter(rater__isnull=False).values("rater")
    judges = Rater.objects.filter(study=study, kind=Rater.Kind.JUDGE, in_figures=True)
    return judges.exclude(pk__in=gone).order_by("label", "pseudonym")


def judge_outcome_counts(study: Study, among: Q = EVERY_ROW) -> dict[int, dict[str, int]]:
    """Rater to outcome to number of main judgments, for the judges in figures; exclusions and withdrawn items aside."""
    judges = list(judges_in_figures(study).values_list("pk", flat=True))
    if not judges:  # nothing is asked of the many judgments of a study without judges
        return {}
    rows = (
        main_judgments(study)
        .filter(~excluded_q(study), among, rater__in=judges, item__withdrawn_at=None)
        .order_by("rater", "outcome")
        .values_list("rater", "outcome")
        .annotate(n=Count("pk"))
    )
    found: dict[int, dict[str, int]] = {pk: {} for pk in judges}
    for rater, outcome, n in rows:
        found[rater][outcome] = n
    return found


def outcome_counts(study: Study) -> list[list[Any]]:
    """[outcome, surplus, number of judgments] of every kind that occurs, in a fixed order."""
    rows = Judgment.objects.filter(study=study).order_by("outcome", "surplus")
    return [list(row) for row in rows.values_list("outcome", "surplus").annotate(n=Count("pk"))]


def annotate_judgment_counts(studies: QuerySet[Study]) -> QuerySet[Any]:
    """The studies, newest first, with the number of main judgments in `n_judgments`."""
    judgments = main_judgment_count(OuterRef("pk"))
    return studies.annotate(n_judgments=Coalesce(Subquery(judgments), 0)).order_by("-created_at", "-pk")


def main_judgment_count(study: Any) -> QuerySet[Any]:
    """The number of a study's main judgments, for use in a subquery."""
    main = Judgment.objects.filter(study=study, item__role=Role.MAIN).order_by()
    return main.values("study").annotate(n=Count("pk")).values("n")


def pooled_revisions(study: Study) -> list[str]:
    """A sentence for the report's methods that names the revisions of its judgments, if there are several."""
    revisions = list(study.revisions.order_by("number"))
    if len(revisions) < 2:
        return []
    counted = added_item_counts(study)
    *others, last = [
        f"{each.number} ({each.hash[:12]}{_added(counted.get(each.number, 0))})" for each in revisions
    ]
    return [
        f"Judgments made under revisions {', '.join(others)} and {last} are pooled; participants finished in the "
        "revision they entered."
    ]


def pooled_rounds(study: Study) -> list[str]:
    """A sentence for the methods of a study that was pooled of two rounds (`evaluation.dumps.pooling`)."""
    origin = study.origin
    if origin.get("how") != "pooled":
        return []
    first, second = origin, origin["beside"]
    hashes = [f"{each['title']} ({each['study_hash'][:12]})" for each in (first, second)]
    return [
        f"Judgments of two rounds are pooled, {hashes[0]} and {hashes[1]}; {origin['said']} People of each round are a "
        "group."
    ]


def _added(n: int) -> str:
    return f", with {n:,} {'item' if n == 1 else 'items'} added" if n else ""


def added_item_counts(study: Study) -> dict[int, int]:
    """Number of a revision to how many items were added to the running study with it."""
    added = study.items.filter(revision_number__gt=1).order_by()
    return dict(added.values_list("revision_number").annotate(n=Count("pk")))


def published_leaderboard(slug: str) -> PublishedLeaderboard | None:
    """The copy that anybody may read of a study's leaderboard; None where nothing is published."""
    found = PublishedLeaderboard.objects.filter(study__slug=slug, study__in=Study.objects.visible())
    return found.only("description", "content", "computed_at", "published_at").first()
