"""Passages of a report's methods paragraph on the crowd's work: its steps, orders, assignment and checks."""

from collections.abc import Iterator
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from annotator.models import Participant
from annotator.selectors.slots import counted_early
from evaluation.models import Judgment, Outcome, Rater, Role, Study
from evaluation.models.item import count_responses
from evaluation.models.study import ArmPer, OncePer
from evaluation.selectors import queries_of_people
from evaluation.stopping import StoppingRule

# The steps of a participant's way in their order, and how a sentence names them; checks have a passage of their own.
STEPS = {
    "consent": "gave consent",
    "instructions": "read the instructions",
    "training": "practised on training items with feedback",
}
PER_ITEM = {
    OncePer.QUERY: "no two of them about the same query",
    OncePer.ITEM: "none of them twice",
}


def people_at_work(study: Study) -> QuerySet[Participant]:
    """The people who judged a main item here, whether it counts or not."""
    judged = Judgment.objects.filter(rater=OuterRef("rater"), outcome=Outcome.OK, item__role=Role.MAIN)
    found = Participant.objects.filter(study=study, rater__kind=Rater.Kind.PERSON)
    return found.filter(Exists(judged)).order_by("pk")


def methods_passages(study: Study) -> dict[str, str]:
    """Sentences on how people worked; nothing where nobody came to this installation."""
    revision = study.revisions.order_by("-number").first()
    if revision is None or not people_at_work(study).exists():
        return {}
    steps = revision.spec["steps"]
    found = {
        "procedure": _procedure(study, steps),
        "orders": _orders(study),
        "assignment": _assignment(study),
        "stopping": " ".join(_stopping(study, revision.spec)),
        "checks": " ".join(_checks(study, steps)),
    }
    return {place: sentence for place, sentence in found.items() if sentence}


def _procedure(study: Study, steps: dict[str, Any]) -> str:
    """The steps that there were: one of practice is passed over where nothing is there to practise on."""
    has_training = study.items.filter(role=Role.TRAINING).exists()
    done = [words for key, words in STEPS.items() if steps.get(key) and (key != "training" or has_training)]
    if not done:
        return ""
    listed = done[0] if len(done) == 1 else f"{', '.join(done[:-1])} and {done[-1]}"
    return f"Before the first item, participants {listed}."


def _orders(study: Study) -> str:
    main = study.items.filter(role=Role.MAIN)
    most = max(
        (count_responses(each) for each in main.values_list("lengths", flat=True).distinct()), default=0
    )
    if most < 2:
        return ""
    how = (
        "with either response first equally often, as far as possible, for each item"
        if most == 2
        else "in orders from the rows of a Williams square, with each response first equally often, as far as possible"
    )
    return (
        f"Responses were shown without the names of their systems, {how}, drawn from the seed {study.seed}."
    )


def _stopping(study: Study, spec: dict[str, Any]) -> Iterator[str]:
    """The registered rule, and where the study was closed early."""
    rule = StoppingRule.of(spec.get("stopping") or {})
    if rule is not None:
        yield f"It was registered before launch that the study may stop {rule}, whenever one looks."
    if early := counted_early(study):
        yield early
        if rule is None:
            yield "No rule for stopping early had been registered."


def _assignment(study: Study) -> str:
    n = study.items_per_participant
    judged = f"Each participant judged up to {n:,} {'item' if n == 1 else 'items'}"
    judged += f" in each of up to {study.visits:,} visits" if study.visits > 1 else ""
    within = f", {PER_ITEM[OncePer(study.once_per)]}" if n * study.visits > 1 else ""
    if study.arms.count() > 1:
        drawn = "for each participant" if study.arm_per == ArmPer.PARTICIPANT else "for each item"
        within += f", with the setting drawn at random {drawn}"
    wanted = study.redundancy
    times = "one judgment was" if wanted == 1 else f"{wanted:,} judgments, each by another participant, were"
    return f"{judged}{within}; {times} planned per item.{_sample(study)}"


def _sample(study: Study) -> str:
    theirs = queries_of_people(study)
    if theirs is None:
        return ""
    queries = study.queries.filter(items__role=Role.MAIN).distinct().count()
    return (
        f" People judged a simple random part of the queries, {len(theirs):,} of {queries:,}, which was registered at "
        f"launch and drawn from the seed {study.seed}."
    )


def _checks(study: Study, steps: dict[str, Any]) -> Iterator[str]:
    counts = {
        role: study.items.filter(role=role, withdrawn_at=None).count()
        for role in (Role.QUALIFICATION, Role.ATTENTION)
    }
    if rule := steps.get("qualification"):
        yield (
            f"Only those who judged at least {rule['pass_mark']:,} of {counts[Role.QUALIFICATION]:,} qualification "
            "items as expected continued."
        )
    if rule := steps.get("attention"):
        n = rule["checks"]
        checks = (
            "One attention check with a known answer was"
            if n == 1
            else f"{n:,} attention checks with known answers were"
        )
        allowed = rule.get("allowed_failures")
        ended = (
            f"; whoever failed {'one' if allowed == 0 else f'more than {allowed:,}'} could not continue"
            if allowed is not None
            else ""
        )
        yield f"{checks} mixed in with the items{ended}."
