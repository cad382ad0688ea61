"""Reads of the judges that more than one place needs."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Sum
from django.utils import timezone
from django.utils.text import Truncator

from analytics.display.verdicts import verdict_sentences
from evaluation.extension import JudgingCost
from evaluation.models import Judgment, Outcome, Study
from evaluation.protocols.answers.measures import declared_measures
from judging.asking import asking_of
from judging.asking.scores.response_asking import ResponseAsking
from judging.backends.derived import (
    BY_MEASURE,
    CHOSEN_ON_PEOPLE,
    COMPOSITE,
    EQUAL,
    FITTED_ON_PEOPLE,
    FIXED,
    MAP_GIVEN,
    MAP_OF_HREF,
)
from judging.models import (
    ACTIVE,
    Call,
    CallState,
    Judge,
    LedgerEntry,
    Orders,
    Rationale,
    Run,
    SelfPreference,
    Verdict,
    WorkKind,
)

# Letters of a persona that a sentence quotes.
PERSONA = 90


def runs_of(study: Study) -> QuerySet[Run]:
    """A study's runs of judges, newest first, with what their lists say of them."""
    return (
        Run.objects.filter(study=study, judging__isnull=False)
        .select_related("judging__judge__endpoint", "judging__rater", "study")
        .order_by("-pk")
    )


def working_runs(study: Study) -> QuerySet[Run]:
    """Runs that workers take calls of, or have calls in flight of."""
    in_flight = Exists(
        Call.objects.filter(run=OuterRef("pk"), state=CallState.LEASED, leased_until__gt=timezone.now())
    )
    taken = Q(state__in=ACTIVE) & ~Q(work=WorkKind.REVISION)
    return Run.objects.filter(study=study).filter(taken | in_flight).order_by("pk")


def judges_in_figures(study: Study) -> Iterator[str]:
    """For the report's methods: a sentence or two per judge whose run is in the figures."""
    for run in runs_of(study).filter(judging__rater__in_figures=True).order_by("judging__judge__name"):
        yield describe(run)


def describe(run: Run) -> str:
    """Describe a judge for readers: its kind, what it was asked and shown, how often, and what was left out."""
    judge, derived = run.judging.judge, run.judging.rater.about.get("derived")
    if derived:
        said = _derivation(judge, derived)
    elif not judge.asks_model:
        said = [f"Judge {judge}: a heuristic, {judge.get_backend_display()}"]
    elif judge.is_repeatable:
        models = judge.options.get("models")
        by = f"the models {', '.join(models)}" if models else f"the model {judge.model}"
        said = [f"Judge {judge}: {judge.get_backend_display()}, by {by}"]
        if margin := judge.options.get("margin"):
            said.append(f"a tie where they differ by no more than {margin:g}")
    else:
        about = run.judging.rater.about
        prompt = "with a prompt of its own" if judge.template else "with a prompt derived from the protocol"
        said = [
            f"Judge {judge}: the model {judge.model}",
            f"{prompt}, asked for {', '.join(_asked(about))}",
        ]
        if judge.jury:
            said.append(f"a member of the jury {judge.jury.name}")
        if persona := judge.options.get("persona"):
            said.append(f"told to be this person: “{Truncator(persona).chars(PERSONA)}”")
        if last := judge.options.get("last_question"):
            said.append(f"asked for {last} last, with its own other answers before it")
        if judge.verdict == Verdict.LOGPROBS:
            said.append("its verdict read from the probabilities of the labels")
        if judge.rationale != Rationale.NONE:
            said.append(f"with a rationale {judge.rationale} the verdict")
        said += _sampled(judge)
        if judge.options.get("documents") is not None:
            said.append(f"with at most {judge.options['documents']} documents in the prompt")
        if judge.options.get("demonstrations"):
            said.append(f"with {judge.options['demonstrations']} worked examples")
        if judge.options.get("without_guideline"):
            said.append("without the guideline")
        if judge.with_reference:
            said.append("shown a human-written reference that people did not see")
    if not (derived or judge.is_repeatable):
        said.append(_how_often(judge))
    if run.judging.max_items is not None:
        said.append(f"on at most {run.judging.max_items:,} items drawn by the seed")
    said += _self_preference(judge)
    asking = asking_of(judge.backend) if judge.asks_model else None
    if isinstance(asking, ResponseAsking) and (n := run.calls.filter(outcome=Outcome.SKIPPED).count()):
        said.append(f"{n:,} items that leave it nothing to score left out")
    if run.unanswered:
        said.append(f"{run.unanswered:,} of its {run.asked:,} calls were not answered")
    if run.spent and (n := judging_count(run)):
        said.append(f"cost {run.spent / n:.4g} per judgment")
    return "; ".join(said) + "."


def _sampled(judge: Judge) -> Iterator[str]:
    """The settings that its replies were drawn with: what the model does not take was not sent."""
    able = judge.endpoint.capabilities.get(judge.model, {}) if judge.endpoint else {}
    if able.get("temperature") is False:
        yield "at the model's own temperature, since it takes none"
    elif judge.temperature is not None:
        yield f"temperature {judge.temperature:g}"
    if able.get("seed") is False:
        yield "without a seed, since it takes none"


def tested_judges(study: Study) -> str:
    """For the report's methods paragraph: the choice and the test of judges whose runs are in the figures."""
    runs = runs_of(study).filter(judging__rater__in_figures=True).order_by("judging__judge__name")
    return " ".join(sentence for run in runs for sentence in _tested(run))


def judging_costs(study: Study) -> dict[str, JudgingCost]:
    """The cost of the run of each judge's rater, by the rater's pseudonym."""
    runs = list(runs_of(study))
    used = LedgerEntry.objects.filter(run__in=runs).order_by().values_list("run")
    tokens = dict(used.annotate(n=Sum(F("prompt_tokens") + F("completion_tokens"))))
    read = Judgment.objects.filter(rater__in=[run.judging.rater_id for run in runs], outcome=Outcome.OK)
    judgments = dict(read.order_by().values_list("rater").annotate(n=Count("pk")))
    return {
        run.judging.rater.pseudonym: JudgingCost(
            run.spent, tokens.get(run.pk, 0), judgments.get(run.judging.rater_id, 0)
        )
        for run in runs
    }


def judging_count(run: Run) -> int:
    """The number of its judgments, of every order and sample."""
    return Judgment.objects.filter(rater=run.judging.rater_id, outcome=Outcome.OK).count()


def _tested(run: Run) -> Iterator[str]:
    """The choice and the test of a judge (`JudgeValidation`), in the words of its verdict."""
    about = run.judging.rater.about.get("validation")
    if about is None:
        return
    names, n = ", ".join(about["variants"]), len(about["variants"])
    among = f"among {n:,} variants ({names})" if n > 1 else "without another variant"
    yield (
        f"The judge {run.judging.judge.name} was chosen {among} on {about['tuning']:,} queries that people judged, a "
        f"random half of them, and tested once on the {about['test']:,} others."
    )
    yield from verdict_sentences(about["result"], run.judging.judge.name)
    if about["seen"]:
        yield (
            f"Before the test, the report had judgments of {', '.join(about['seen'])} beside people's on the same "
            "queries."
        )
    worth, labelled = about["result"]["worth"], about["result"]["labelled"]
    if worth is not None and round(worth) > labelled:
        yield (
            f"By this test, people's {labelled:,} queries beside it are as precise as {round(worth):,} judged by "
            "people alone."
        )


def _asked(about: Mapping[str, Any]) -> list[str]:
    """The questions that a judge was asked or, of one that gives none of their answers, the scores."""
    return about["questions"] or [measure.title for measure in declared_measures(about)]


def _derivation(judge: Judge, derived: Mapping[str, Any]) -> list[str]:
    members = ", ".join(sorted(derived["members"]))
    said = [f"Judge {judge}: {judge.get_backend_display()}, derived from the judgments of {members}"]
    if derived["kind"] == COMPOSITE.key:
        how = {
            CHOSEN_ON_PEOPLE: "each item by the member that agreed best with people in its category in the other folds",
            MAP_GIVEN: "each item by the member that a given map names for its category",
            MAP_OF_HREF: "each item by the member that HREF's published map names for its category",
        }[derived["chosen"]]
        return [*said, how]
    if derived["kind"] == BY_MEASURE.key:
        [measure] = declared_measures({"measures": [derived["measure"]]})
        margin = judge.options["margin"]
        ties = f", a tie where they differ by no more than {margin:g}" if margin else ""
        return [*said, f"the response with the {measure.direction} {measure.title} preferred{ties}"]
    weights = ", ".join(f"{key} {derived['weights'][key]:.4g}" for key in derived["aspects"])
    how = {
        FITTED_ON_PEOPLE: f"weights fitted on people in the other folds (fitted on all folds: {weights})",
        FIXED: f"fixed weights ({weights})",
        EQUAL: f"equal weights ({weights})",
    }[derived["by"]]
    return [*said, f"{derived['overall']} by {how}"]


def _how_often(judge: Judge) -> str:
    orders = {
        Orders.RANDOM: "each item in a random order set by the study's seed",
        Orders.FIXED: "each item in canonical order",
        Orders.BOTH: "each item in both orders, a flip counted as a tie and as inconsistent",
    }[Orders(judge.orders)]
    if judge.samples == 1:
        return orders
    share = float(judge.options.get("repeated_share", 100))
    some = "" if share >= 100 else f" on {share:g} % of the queries, drawn by the seed, and one on the others"
    return f"{orders}, {judge.samples} samples each{some}"


def _self_preference(judge: Judge) -> list[str]:
    family = judge.self_preference == SelfPreference.FAMILY
    if judge.self_preference == SelfPreference.NONE or not (
        judge.own_system or (family and judge.own_family)
    ):
        return []
    if family:
        return [f"items with a system of its family ({judge.own_family or judge.own_system}) left out"]
    return [f"items with its own system ({judge.own_system}) left out"]
