"""A study as lines of the dump format, which `import_study` reads back to an equal study.

Keys are sorted, and nothing depends on when or where the export ran, so that exporting what was read back gives
the same bytes.
"""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, time
from typing import Any

import orjson
from django.db.models import Exists, OuterRef, Q

from evaluation.dumps.derivation import system_record
from evaluation.dumps.exports.stored_study import StoredItem, StoredJudgment, StoredNote, StoredStudy
from evaluation.dumps.imports.items import complete_follow_ups, default_response_context, default_response_key
from evaluation.models import Context, ItemResponse, Judgment, Outcome, Rater, Status, Study
from evaluation.protocols import Kind
from evaluation.protocols.entries.sets import read_entry, read_set, write_set
from evaluation.rendering.rules import EARLIER
from evaluation.services.seals import sealed_state
from evaluation.services.studies.compilation import compile_spec, query_content
from evaluation.turns import written_turns

OPTIONS = orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
RULES = (
    "redundancy", "items_per_participant", "paid_minutes", "lease_minutes", "currency", "contact", "exact_times",
    "completion_codes", "groups", "revisions_in_all", "revisions_per_day", "revisions_anonymous", "going_back",
)  # fmt: skip
# Amounts of money, as texts.
AMOUNTS = ("pay", "people_budget")
# What is promised to people; a dump names them only where they are.
PROMISES = ("erases_withdrawn", "retention_days")


class JudgmentOrder:
    """The place of each judgment of a study among all, as they were recorded, and that of its moment among the moments
    of its rater's day: twelve bytes for each."""

    def __init__(self, study: Study) -> None:
        self._pks = array("q", study.judgments.order_by("pk").values_list("pk", flat=True).iterator())
        self._moments = array("i", bytes(4 * len(self._pks)))
        timed = study.judgments.filter(judged_at__isnull=False).order_by("rater", "judged_at", "pk")
        before: tuple[int, datetime] | None = None
        number = 0
        for pk, rater, judged_at in timed.values_list("pk", "rater", "judged_at").iterator():
            assert judged_at is not None
            now = (rater, judged_at.astimezone(UTC))
            if before is None or (now[0], now[1].date()) != (before[0], before[1].date()):
                number = 0
            # Of what only the day is known stands at its first moment.
            if now != before and now[1].time() != time():
                number += 1
            self._moments[bisect_left(self._pks, pk)] = number
            before = now

    def of(self, judgment: StoredJudgment) -> int:
        return bisect_left(self._pks, judgment.pk)

    def moment_of(self, judgment: StoredJudgment) -> int:
        """From 1, equal moments alike; 0 where no more than the day is known."""
        return self._moments[self.of(judgment)]


def jsonl_lines(
    stored: StoredStudy, *, in_order: bool = False, written: Callable[[Any], Any] | None = None
) -> Iterator[tuple[bytes, int]]:
    """Lines, each with the number of items written by then.

    `in_order`: with the order of raters and judgments, so that figures of what is read back are the same to the last
    digit. `written` is handed all that somebody wrote as they liked (texts of answers, traces, reasons of exclusions,
    notes) and gives what is to stand for it.
    """
    study = stored.study
    specs = list(study.revisions.order_by("number").values_list("spec", flat=True)) or [compile_spec(study)]
    arms = {arm["key"]: arm for arm in specs[-1]["arms"]}
    drafts = study.protocol_object.drafts_entries
    record = study_record(study, specs)
    if in_order:
        record |= {"in_order": True, "raters": _rater_records(study, in_order=True)}
    yield orjson.dumps(record, option=OPTIONS), 0
    places = JudgmentOrder(study) if in_order else None
    done = 0
    for chunk in stored.chunks():
        given = response_contexts(stored, chunk)
        for item in chunk:
            if written is not None:
                _rewrite(item, written)
            record = item_record(
                item, arms[item.stimulus["arm"]], given.get(item.pk, {}), study.exact_times, drafts=drafts
            )
            if places is not None:
                for each, judgment in zip(record.get("judgments", ()), item.judgments, strict=True):
                    each["place"] = places.of(judgment)
                    if "day" in each and (moment := places.moment_of(judgment)):
                        each["moment"] = moment
            done += 1
            yield orjson.dumps(record, option=OPTIONS), done


def _rewrite(item: StoredItem, written: Callable[[Any], Any]) -> None:
    for note in (*item.notes, *(note for each in item.judgments for note in each.notes)):
        note.text = written(note.text)
    for each in item.judgments:
        each.trace, each.excluded = written(each.trace), written(each.excluded)
        each.rater = replace(each.rater, excluded=written(each.rater.excluded))
        each.answers = [
            answer if answer.text is None else replace(answer, text=written(answer.text))
            for answer in each.answers
        ]


def amounts_of(study: Study) -> dict[str, str | None]:
    """A study's rules about money."""
    return {name: None if (value := getattr(study, name)) is None else str(value) for name in AMOUNTS}


def study_record(study: Study, specs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    rules = {name: getattr(study, name) for name in RULES}
    if study.visits > 1:
        rules |= {"visits": study.visits, "practice_each_visit": study.practice_each_visit}
    rules |= {name: value for name in PROMISES if (value := getattr(study, name))}
    rules |= {name: value for name, value in amounts_of(study).items() if value is not None or name == "pay"}
    systems = sorted(study.systems.all(), key=lambda system: system.key)
    record = {
        "assay": 1,
        "slug": study.slug,
        # What the study becomes when it is read back; its crowd does not travel with it.
        "status": Status.CLOSED if study.is_frozen else Status.DRAFT,
        "spec": specs[0],
        "rules": rules,
        "systems": [system_record(system) for system in systems],
    }
    if len(specs) > 1:
        record["later_specs"] = list(specs[1:])
    # Whoever reads it could not compute the hash from what was erased since.
    if study.study_hash and not study.items.exclude(erased_hash="").exists():
        record["study_hash"] = study.study_hash
        if study.seal_key:
            record["sealed"] = sealed_state(study)
    if study.simulated:
        record["simulated"] = True
    if study.origin:
        record["origin"] = study.origin
    if raters := _rater_records(study):
        record["raters"] = raters
    if queries := _unused_queries(study):
        record["queries"] = queries
    return record


def _unused_queries(study: Study) -> list[dict[str, Any]]:
    """The queries that no item is about; the others stand on their items' lines."""
    unused = study.queries.filter(items__isnull=True).order_by("pk")
    return [query_record(query_content(query)) for query in unused.iterator()]


def query_record(query: dict[str, Any]) -> dict[str, Any]:
    """A query as it was given: what was rendered, and a conversation's transcript, are made anew from it."""
    written = dict(query)
    if isinstance(query.get("document"), dict):
        written["document"] = query["document"]["text"]
    if "turns" in query:
        written["turns"] = written_turns(query["turns"])
        del written["text"]
    return written


def _rater_records(study: Study, *, in_order: bool = False) -> list[dict[str, Any]]:
    """Facts about the raters that have judgments; `in_order`: of all of them, in the order in which they came."""
    known = study.raters.filter(Exists(Judgment.objects.filter(rater=OuterRef("pk"))))
    if not in_order:
        known = known.filter(Q(in_figures=False) | ~Q(about={}) | ~Q(group=""))
    records = []
    for pseudonym, in_figures, group, about in known.order_by("pk" if in_order else "pseudonym").values_list(
        "pseudonym", "in_figures", "group", "about"
    ):
        facts = {
            "in_figures": None if in_figures else False,
            "group": group or None,
            "about": about or None,
        }
        records.append({"rater": pseudonym, **{k: v for k, v in facts.items() if v is not None}})
    return records


ResponseContexts = dict[str, dict[str, Any]]


def response_contexts(stored: StoredStudy, chunk: Sequence[StoredItem]) -> dict[int, ResponseContexts]:
    """Per item and response key: the context that the response was given, where it was given one."""
    links = ItemResponse.objects.filter(item__in=[item.pk for item in chunk], response__context__isnull=False)
    rows = list(links.values_list("item_id", "response__key", "response__context_id"))
    contexts = Context.objects.in_bulk({context for _, _, context in rows if context is not None})
    given: dict[int, ResponseContexts] = {}
    for item, key, pk in rows:
        if pk is not None:
            context = stored.context(contexts[pk])
            given.setdefault(item, {})[key] = _context_record(context)
    return given


def _context_record(context: dict[str, Any]) -> dict[str, Any]:
    return {**context, "follow_ups": complete_follow_ups(context["follow_ups"])}


def item_record(
    item: StoredItem, arm: dict[str, Any], given: ResponseContexts, exact_times: bool, *, drafts: bool
) -> dict[str, Any]:
    """`drafts`: the responses are sets of entries."""
    stimulus, context = item.stimulus, item.context
    record: dict[str, Any] = {
        "key": item.key,
        "arm": arm["key"],
        "role": item.role,
        "query": query_record(stimulus["query"]),
        "context": context and _context_record(context),
        "responses": [
            _text_record(response, drafts)
            | _response_record(response, arm, context, given.get(response["key"]))
            for response in stimulus["responses"]
        ],
    }
    optional = {
        "clarifying_question": stimulus["clarifying_question"] or None,
        "clarifying_source": item.clarifying_source or None,
        "gold": item.gold,
        "withdrawn": item.withdrawn or None,
        "start_order": item.start_order,
        "stimulus_hash": item.stimulus_hash or None,
        "renderer": _renderer(item),
        "judgments": [judgment_record(each, exact_times) for each in item.judgments] or None,
        "notes": _note_records(item.notes) or None,
        "origin": item.origin or None,
        "revision": item.revision if item.revision > 1 else None,
    }
    record.update((name, value) for name, value in optional.items() if value is not None)
    return record


def _renderer(item: StoredItem) -> str | None:
    """Renderer of a frozen item, where it is not the version that lines without one are of."""
    version: str = item.stimulus["renderer"]
    return version if item.stimulus_hash and version != EARLIER else None


def _text_record(response: dict[str, Any], drafts: bool) -> dict[str, Any]:
    """A response's text: as its turns where it has some, as entries where reading them back gives the same text."""
    text, claims = response["text"], {"claims": response["claims"]} if "claims" in response else {}
    if "turns" in response:
        return {"turns": [turn["text"] for turn in response["turns"]], **claims}
    if drafts and write_set(entries := read_set(text)) == text:
        return {"entries": [{name: value for name, value in each.items() if value} for each in entries]}
    return {"text": text, **claims}


def _response_record(
    response: dict[str, Any], arm: dict[str, Any], item_context: Any, given: dict[str, Any] | None
) -> dict[str, Any]:
    record: dict[str, Any] = {"system": response["system"]}
    given_key = given["key"] if given else None
    item_key = item_context["key"] if item_context else None
    if response["key"] != default_response_key(response["system"], given_key):
        record["key"] = response["key"]
    if given_key != default_response_context(arm, item_key):
        record["context"] = given_key if given is None or given_key == item_key else given
    return record


def judgment_record(judgment: StoredJudgment, exact_times: bool) -> dict[str, Any]:
    """A judgment without what it has by default."""
    rater = judgment.rater
    optional = {
        "label": rater.label or None,
        "source": None if rater.source == Rater.Source.IMPORTED else rater.source,
        "replicate": judgment.replicate or None,
        "revision": None if judgment.revision == 1 else judgment.revision,
        "outcome": None if judgment.outcome == Outcome.OK else judgment.outcome,
        "shown": judgment.shown.split(",") if judgment.shown else None,
        "answers": answers_record(judgment) or None,
        "duration_ms": judgment.duration_ms,
        "visible_ms": judgment.visible_ms,
        "surplus": judgment.surplus or None,
        "excluded": _exclusions(judgment),
        "trace": judgment.trace or None,
        "notes": _note_records(judgment.notes) or None,
    }
    if judgment.judged_at is not None:
        moment = judgment.judged_at.astimezone(UTC)
        optional["judged_at" if exact_times else "day"] = (
            moment.isoformat() if exact_times else moment.date().isoformat()
        )
    present = {name: value for name, value in optional.items() if value is not None}
    return {"rater": rater.pseudonym, "kind": rater.kind, **present}


def _note_records(notes: Sequence[StoredNote]) -> list[dict[str, str]]:
    return [{"text": each.text, "day": each.at.astimezone(UTC).date().isoformat()} for each in notes]


def _exclusions(judgment: StoredJudgment) -> Any:
    reasons = (("rater", judgment.rater.excluded), ("judgment", judgment.excluded))
    standing = [{"scope": scope, "reason": reason} for scope, reason in reasons if reason]
    return standing if len(standing) > 1 else standing[0] if standing else None


def answers_record(judgment: StoredJudgment) -> dict[str, Any]:
    """The answers in the shape that a protocol's `clean` takes, derived from what kind of value each holds."""
    record: dict[str, Any] = {}
    for answer in judgment.answers:
        if answer.kind == Kind.ENTRIES:
            record.setdefault(answer.question, []).append(read_entry(answer.text or ""))
            continue
        value: Any = answer.text if answer.text is not None else answer.label
        if answer.number is not None:
            number = _plain(answer.number)
            value = number if value is None else {"label": value, "number": number}
        if answer.part:
            record.setdefault(answer.question, {})[answer.part] = value
        else:
            record[answer.question] = value
    return record


def _plain(number: float) -> float | int:
    """Whole numbers without a fraction, as people write them."""
    return int(number) if number.is_integer() and abs(number) < 2**53 else number
