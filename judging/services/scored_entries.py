"""The scores of single entries, from the replies that a judge by `entry_scores` was given (CondAmbigQA, Table 3).

As measures that judge keeps four numbers of a response; those of its entries stand in the replies alone.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from django.db.models import Q, QuerySet

from evaluation.models import Item, Judgment, Outcome, Study
from evaluation.protocols.base import Stimulus
from evaluation.protocols.entries.references import reference_set, response_set
from evaluation.refusals import Refused
from evaluation.selectors import counting_judgments, left_out_counts
from judging.asking.scores.entry_scores import ENTRY_SCORES, EntryScore
from judging.models import Call, Judge, Run
from judging.prompting.item_call import ItemCall
from judging.selectors import runs_of
from judging.services.calls.call_attempts import stored_reply
from judging.services.calls.plan import CallPlan
from judging.services.endpoints.targets import capabilities_of, targets_of
from judging.services.references import referenced

ITEMS_AT_ONCE = 500


@dataclass(frozen=True)
class ScoredEntry:
    """An entry of a response, and its scores, 0 to 1: the means over the judge's samples.

    `reference` is the number, from 1, of the reference entry that it is matched with in most samples, in the earliest
    of equals; 0 where that is none. A sample without a match counts 0.
    """

    system: str
    # The canonical part of the response, and the entry's place in it, from 1.
    part: str
    number: int
    text: str
    reference: int
    condition: float
    answer: float
    citation: float
    samples: int


@dataclass(frozen=True)
class ScoredItem:
    """`references` are the conditions of the reference set, `empty` the systems whose responses have no entry."""

    key: str
    query_key: str
    query: str
    arm_key: str
    arm: str
    references: tuple[str, ...]
    entries: tuple[ScoredEntry, ...]
    empty: tuple[str, ...]


@dataclass(frozen=True)
class ScoredEntries:
    """`left_out` are judgments outside the report, by the reason; `failures` the sentences of failed calls."""

    judge: str
    items: tuple[ScoredItem, ...]
    left_out: Mapping[str, int]
    failures: tuple[str, ...]


def scored_entries(study: Study, name: str, *, queries: Collection[str] = ()) -> ScoredEntries:
    """The scores of the entries that the judge of this name judged in the run that is in the figures.

    Of these queries by their keys, otherwise of all. Judgments count where they do in the report. Raises Refused with
    a sentence where there is no such judge, run or query.
    """
    run = _run_in_figures(study, name)
    counting = counting_judgments(study).filter(rater=run.judging.rater_id)
    among = Q(rater=run.judging.rater_id)
    calls = Call.objects.filter(run=run)
    if queries:
        known = set(study.queries.filter(key__in=queries).values_list("key", flat=True))
        if missing := [key for key in queries if key not in known]:
            raise Refused(f"{study.title} has no query {missing[0]!r}.")
        counting = counting.filter(item__query__key__in=queries)
        among &= Q(item__query__key__in=queries)
        calls = calls.filter(item__query__key__in=queries)
    failures = calls.filter(outcome=Outcome.FAILED).exclude(error="")
    return ScoredEntries(
        str(run.judging.judge),
        tuple(_scored(run, counting)),
        left_out_counts(study, among),
        tuple(failures.order_by("error").values_list("error", flat=True).distinct()),
    )


def _run_in_figures(study: Study, name: str) -> Run:
    judges = Judge.objects.filter(study=study)
    judge = judges.filter(name=name).order_by("-version").first()
    if judge is None or judge.backend != ENTRY_SCORES.key:
        able = sorted(set(judges.filter(backend=ENTRY_SCORES.key).values_list("name", flat=True)))
        why = f"{study.title} has no judge {name!r}" if judge is None else f"{judge} does not score entries"
        raise Refused(f"{why}. Judges that do: {', '.join(able)}." if able else f"{why}, and no judge does.")
    run = runs_of(study).filter(judging__judge__name=name, judging__rater__in_figures=True).first()
    if run is None:
        raise Refused(f"{judge} has no complete run that is in the figures.")
    if run.judging.judge.backend != ENTRY_SCORES.key:
        raise Refused(f"{run.judging.judge}, whose run is in the figures, does not score entries.")
    return run


def _scored(run: Run, counting: QuerySet[Judgment]) -> Iterator[ScoredItem]:
    samples: dict[int, set[int]] = defaultdict(set)
    for item, replicate in counting.values_list("item", "replicate"):
        samples[item].add(replicate)
    judge = run.judging.judge
    plan, able = CallPlan.of(judge, run.judging.revision.spec), capabilities_of(judge, targets_of(judge))
    keys = Item.objects.filter(pk__in=counting.values("item")).order_by("query", "arm", "pk")
    pks = list(keys.values_list("pk", flat=True))
    for start in range(0, len(pks), ITEMS_AT_ONCE):
        chunk = pks[start : start + ITEMS_AT_ONCE]
        items = Item.objects.select_related("query", "arm").in_bulk(chunk)
        stimuli = referenced(judge, {pk: items[pk].stimulus or {} for pk in chunk})
        calls: dict[int, list[Call]] = defaultdict(list)
        for call in Call.objects.filter(run=run, item__in=chunk).order_by("replicate", "pk"):
            if call.item_id is not None and call.replicate in samples[call.item_id]:
                calls[call.item_id].append(call)
        for pk in chunk:
            yield _item(plan, able, items[pk], stimuli[pk], calls[pk])


def _item(
    plan: CallPlan, able: Mapping[str, Any], item: Item, stimulus: Stimulus, calls: Sequence[Call]
) -> ScoredItem:
    found: dict[str, list[list[EntryScore]]] = defaultdict(list)
    for call in calls:
        asked = ItemCall(
            plan.protocol,
            plan.spec,
            stimulus,
            plan.settings,
            order=call.order,
            step=call.step,
            capabilities=able,
        )
        found[call.step].append(ENTRY_SCORES.entries(asked, stored_reply(call.raw, call.reply)))
    entries: list[ScoredEntry] = []
    empty = []
    for response in stimulus["responses"]:
        part, system = response["part"], response["system"]
        given = response_set(stimulus, part) or []
        if not given:
            empty.append(system)
        if part not in found:
            continue
        for number, (entry, scores) in enumerate(zip(given, zip(*found[part], strict=True), strict=True), 1):
            entries.append(_entry(system, part, number, entry["condition"], scores))
    return ScoredItem(
        item.key,
        item.query.key,
        item.query.text,
        item.arm.key,
        item.arm.label,
        tuple(each["condition"] for each in reference_set(stimulus) or ()),
        tuple(entries),
        tuple(empty),
    )


def _entry(system: str, part: str, number: int, text: str, scores: Sequence[EntryScore]) -> ScoredEntry:
    # Of equals, `most_common` gives the one that was met first.
    [(reference, _)] = Counter(each.reference for each in scores).most_common(1)
    return ScoredEntry(
        system,
        part,
        number,
        text,
        reference,
        fmean(each.condition for each in scores),
        fmean(each.answer for each in scores),
        fmean(each.citation for each in scores),
        len(scores),
    )
