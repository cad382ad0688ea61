"""Reads of the autoraters that more than one place needs."""

from collections.abc import Iterator

from django.db.models import QuerySet

from evaluation.models import Study
from judging.models import Judge, Orders, Rationale, Run, SelfPreference, Verdict


def runs_of(study: Study) -> QuerySet[Run]:
    """A study's runs, newest first, with what their lists say of them."""
    return Run.objects.filter(study=study).select_related("judge__endpoint", "rater", "study").order_by("-pk")


def judges_in_figures(study: Study) -> Iterator[str]:
    """For the report's methods: a sentence or two per judge whose run is in the figures."""
    for run in runs_of(study).filter(rater__in_figures=True).order_by("judge__name"):
        yield describe(run)


def describe(run: Run) -> str:
    """Describe a judge for readers: its kind, what it was asked and shown, how often, and what was left out."""
    judge = run.judge
    if not judge.asks_model:
        said = [f"Judge {judge}: a heuristic, {judge.get_backend_display()}"]
    else:
        about = run.rater.about
        prompt = "with a prompt of its own" if judge.template else "with a prompt derived from the protocol"
        said = [
            f"Judge {judge}: the model {judge.model}",
            f"{prompt}, asked for {', '.join(about['questions'])}",
        ]
        if judge.verdict == Verdict.LOGPROBS:
            said.append("its verdict read from the probabilities of the labels")
        if judge.rationale != Rationale.NONE:
            said.append(f"with a rationale {judge.rationale} the verdict")
        if judge.temperature is not None:
            said.append(f"temperature {judge.temperature:g}")
        if judge.with_reference:
            said.append("shown a human-written reference that people did not see")
    said.append(_how_often(judge))
    if run.max_items is not None:
        said.append(f"on at most {run.max_items:,} items drawn by the seed")
    said += _self_preference(judge)
    if run.unanswered:
        said.append(f"{run.unanswered:,} of its {run.asked:,} calls were not answered")
    return "; ".join(said) + "."


def _how_often(judge: Judge) -> str:
    orders = {
        Orders.RANDOM: "each item in an order that the study's seed decides",
        Orders.FIXED: "each item in canonical order",
        Orders.BOTH: "each item in both orders, a flip counted as a tie and as inconsistent",
    }[Orders(judge.orders)]
    return orders if judge.samples == 1 else f"{orders}, {judge.samples} samples each"


def _self_preference(judge: Judge) -> list[str]:
    family = judge.self_preference == SelfPreference.FAMILY
    if judge.self_preference == SelfPreference.NONE or not (
        judge.own_system or (family and judge.own_family)
    ):
        return []
    if family:
        return [f"items with a system of its family ({judge.own_family or judge.own_system}) left out"]
    return [f"items with its own system ({judge.own_system}) left out"]
