"""Erasing what somebody gave: their judgments, and every copy of these in the installation.

Copies are found by the rater's pseudonym, which is random: raters of studies that were pooled or read in from an
export; items that were made of a reason (their `origin` names the rater); and sets that a resolver settles, whose
system is named after the calibrator. `annotator.services.erasing` is the act for a participant; what stands here is
done within its transaction, but for `clear_erasures`, which removes files and kept figures after it.
"""

import json
import logging
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.core.cache import cache
from django.db import connection, transaction
from django.db.models import F, Q, QuerySet, TextField
from django.db.models.functions import Cast, Concat
from django.utils import timezone

from evaluation.canonical import canonical_hash
from evaluation.extension import extensions
from evaluation.job_kinds import job_kinds
from evaluation.models import (
    AnswerText,
    ApiRequest,
    CachedReport,
    Erasure,
    Exclusion,
    Item,
    ItemFlag,
    ItemResponse,
    Job,
    Judgment,
    Note,
    Rater,
    Response,
    SavedView,
    Seal,
    Study,
    System,
)
from evaluation.private_words import PrivateWords
from evaluation.protocols.entries.sets import (
    Entry,
    clean_entries,
    read_entry,
    read_json,
    write_entry,
    write_set,
)
from evaluation.refusals import WrongState
from evaluation.rendering.markdown import render_plain
from evaluation.seals import open_seal_key
from evaluation.services.history import erase_names, log_action
from evaluation.services.jobs import ACTIVE, files_of
from evaluation.services.private_texts import black_out_texts
from evaluation.services.seals import (
    JUDGMENT_FIELDS,
    count_judgments,
    judgment_content,
    seal_changed_items,
    seal_new,
    unseal,
    written_texts,
)
from evaluation.services.tallies import mark_items, mark_items_of

logger = logging.getLogger(__name__)

MARKER = "[erased]"
SOMEBODY = "an erased participant"
# Texts of so many characters are somebody's own wherever they stand; a shorter one is where it is all that stands.
OWN_WORDS = 20
# The kinds of jobs that write files of judgments.
TAKEN_AWAY = ("export", "bundle", "report")
Without = Callable[[Any], Any]


# --- somebody's words -------------------------------------------------------------------------------------------------


class Words:
    """The texts that somebody wrote, to be found where others quote them."""

    def __init__(self, given: Iterable[Any]) -> None:
        self._all = {text for value in given for text in _texts_in(value)}
        self._long = [text for text in self._all if len(text) >= OWN_WORDS]

    def are_in(self, text: str) -> bool:
        return text.strip() in self._all or any(each in text for each in self._long)

    def without(self, value: Any) -> Any:
        """The value with a marker in place of every text that quotes them; a text that is JSON stays JSON."""
        match value:
            case str():
                parsed = _parsed(value)
                if parsed is not None:
                    left = self.without(parsed)
                    return value if left == parsed else json.dumps(left, ensure_ascii=False)
                return MARKER if self.are_in(value) else value
            case Mapping():
                return {name: self.without(each) for name, each in value.items()}
            case list() | tuple():
                return [self.without(each) for each in value]
            case _:
                return value


def _parsed(text: str) -> Any:
    return read_json(text) if text.lstrip()[:1] in ("{", "[") else None


def _texts_in(value: Any) -> Iterator[str]:
    match value:
        case str():
            parsed = _parsed(value)
            if parsed is not None:
                yield from _texts_in(parsed)
            elif value.strip():
                yield value.strip()
        case Mapping():
            for each in value.values():
                yield from _texts_in(each)
        case list() | tuple():
            for each in value:
                yield from _texts_in(each)


def _blank(text: str) -> str:
    """A marker in place of a text; of a set of entries, as many entries that say nothing."""
    entries = clean_entries(read_json(text), None, "")[0]
    if not entries:
        return MARKER
    return write_set([_unsaid(each) for each in entries])


def _unsaid(entry: Entry) -> Entry:
    """The entry with a marker in place of what it says; where it came from stays."""
    return {"condition": MARKER, "answers": [], "citations": [], "reason": "", "origins": entry["origins"]}


# --- copies -----------------------------------------------------------------------------------------------------------


@dataclass
class Copies:
    """The copies of what a rater gave, beyond their own study's rows: raters, and items with their responses."""

    raters: list[Rater] = field(default_factory=list)
    # By item, the responses that are theirs.
    items: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    systems: list[System] = field(default_factory=list)

    def by_study(self) -> dict[Study, tuple[int, int]]:
        """The studies that have some: the numbers of their raters and of their items."""
        found: dict[Study, list[int]] = defaultdict(lambda: [0, 0])
        for rater in self.raters:
            found[rater.study][0] += 1
        for item in Item.objects.filter(pk__in=self.items).select_related("study").only("pk", "study"):
            found[item.study][1] += 1
        ordered = sorted(found.items(), key=lambda each: each[0].pk)
        return {study: (raters, items) for study, (raters, items) in ordered}


def find_copies(rater: Rater) -> Copies:
    """Everything in the installation that is made of this rater's judgments, in whichever study."""
    found = Copies()
    # Pooling appends the number of the round.
    is_theirs = re.compile(rf"{re.escape(rater.pseudonym)}(-\d+)*").fullmatch
    named = Rater.objects.filter(pseudonym__startswith=rater.pseudonym).exclude(pk=rater.pk)
    found.raters = [
        each for each in named.select_related("study").order_by("pk") if is_theirs(each.pseudonym)
    ]
    made = Item.objects.exclude(origin={}).filter(origin__rater__startswith=rater.pseudonym)
    quoting = [pk for pk, origin in made.values_list("pk", "origin") if is_theirs(origin["rater"])]
    links = ItemResponse.objects.filter(item__in=quoting)
    for item, response in links.values_list("item", "response"):
        found.items[item].add(response)
    systems = System.objects.filter(key__startswith=rater.pseudonym).select_related("study").order_by("pk")
    found.systems = [each for each in systems if is_theirs(each.key)]
    theirs = Response.objects.filter(system__in=found.systems)
    for response, item in theirs.values_list("pk", "items"):
        if item is not None:
            found.items[item].add(response)
    return found


def is_being_copied(study: Study) -> bool:
    """True while a worker reads the study's judgments to make another study of them, which nobody would find here."""
    keys = [kind.key for kind in job_kinds().values() if kind.makes_study]
    at_work = Job.objects.filter(kind__in=keys, state__in=ACTIVE)
    theirs = at_work.filter(Q(study=study) | Q(parameters__other=study.pk))
    return any(not job.is_lost for job in theirs)


# --- judgments --------------------------------------------------------------------------------------------------------


def words_of(raters: Collection[Rater]) -> list[Any]:
    """The texts that raters wrote in their answers, and those that they had given before they revised them."""
    texts = AnswerText.objects.filter(judgment__rater__in=raters).values_list("text", flat=True)
    traces = (
        Judgment.objects.filter(rater__in=raters)
        .exclude(trace={})
        .values_list("trace__first_answers", flat=True)
    )
    return [*texts, *(each for trace in traces for each in _given_first(trace))]


def _given_first(trace: Any) -> list[str]:
    return [each["text"] for each in trace or () if isinstance(each, dict) and each.get("text")]


def delete_rater(rater: Rater) -> int:
    """Delete the rater with all judgments and whatever stands on these, and return how many there were. What the
    seals say of others stays as it was."""
    study = rater.study
    mark_items_of([rater])
    gone = Exclusion.objects.filter(Q(rater=rater) | Q(judgment__rater=rater))
    unseal(study, Seal.Kind.EXCLUSION, list(gone.values_list("pk", flat=True)))
    gone.delete()
    ItemFlag.objects.filter(rater=rater).delete()
    AnswerText.objects.filter(judgment__rater=rater).delete()
    Note.objects.filter(judgment__rater=rater).delete()
    deleted = Judgment.objects.filter(rater=rater).delete()[1]
    unseal(study, Seal.Kind.RATER, [rater.pk])
    rater.delete()
    Study.objects.filter(pk=study.pk).update(corrections=F("corrections") + 1)
    return deleted.get("evaluation.Judgment", 0)


# --- items that quote them --------------------------------------------------------------------------------------------


def erase_items(study: Study, items: Mapping[int, Collection[int]], without: Without) -> None:
    """Erase these responses of items of one study: a draft's items are deleted, launched ones withdrawn, and their
    texts replaced by a marker, here and in whatever judges and people have written about them.

    The item's hash stays that of what was launched, which the study's hash covers; what is left has a hash of its own.
    """
    if not study.is_frozen:
        responses = list(Response.objects.filter(items__in=items).values_list("pk", flat=True))
        Item.objects.filter(pk__in=items).delete()
        Response.objects.filter(pk__in=responses, items=None).delete()
        return
    if study.launching_since is not None:
        raise WrongState(f"{study.title}, which quotes them, is being launched. Try again once it is.")
    rows = Item.objects.select_for_update(no_key=True, of=("self",)).filter(pk__in=items).order_by("pk")
    parts = {item.pk: _erase_item(item, items[item.pk]) for item in rows.select_related("study", "arm")}
    for each in extensions():
        each.erase_quotes(study, list(items), without)
    _erase_texts_about(study, parts, without)
    seal_changed_items(study, list(items))
    mark_items(study, list(items))
    Study.objects.filter(pk=study.pk).update(corrections=F("corrections") + 1)


def _erase_item(item: Item, responses: Collection[int]) -> set[str]:
    """The parts of the stimulus that were theirs."""
    stimulus, parts = item.stimulus or {}, set()
    for response in Response.objects.filter(pk__in=responses).select_related("system"):
        text = _blank(response.text)
        for each in stimulus["responses"]:
            if (each["system"], each["key"]) == (response.system.key, response.key):
                parts.add(each["part"])
                kept = {"part": each["part"], "system": each["system"]}
                each.clear()
                each |= kept | {"key": f"erased-{response.pk}", "text": text, "html": render_plain(text)}
        response.text, response.turns, response.claims = text, [], []
        response.key = f"erased-{response.pk}"
        response.save(update_fields=["text", "turns", "claims", "key"])
    origin = {name: item.origin[name] for name in ("item",) if name in item.origin}
    item.stimulus, item.erased_hash, item.origin = stimulus, canonical_hash(stimulus), origin
    changed = ["stimulus", "erased_hash", "origin"]
    if item.withdrawn_at is None:
        item.withdrawn_at = timezone.now()
        changed.append("withdrawn_at")
    item.save(update_fields=changed)
    if "withdrawn_at" in changed:
        for extension in extensions():
            extension.item_withdrawn(item)
    return parts


def rename_systems(systems: Iterable[System]) -> None:
    """Give systems that are named after the rater another name; of a draft, delete those that have no response left."""
    for system in systems:
        study, before, after = system.study, system.key, f"erased-{system.pk}"
        if not study.is_frozen and not system.responses.exists():
            system.delete()
            continue
        System.objects.filter(pk=system.pk).update(key=after, label="")
        items = Item.objects.filter(study=study, responses__system=system).distinct()
        for item in items:
            for each in (item.stimulus or {"responses": ()})["responses"]:
                if each["system"] == before:
                    each["system"] = after
            item.systems_key = item.systems_key.replace(before, after)[:500]
            if item.stimulus is not None:
                item.erased_hash = canonical_hash(item.stimulus)
            item.save(update_fields=["stimulus", "systems_key", "erased_hash"])
        seal_changed_items(study, [item.pk for item in items])


def _erase_texts_about(study: Study, parts: Mapping[int, Collection[str]], without: Without) -> None:
    """Judges' texts about erased items go whole; people's where they quote, and entries that came from an erased one.
    Their labels and numbers stay."""
    judged = Judgment.objects.filter(item__in=parts)
    whole = set(judged.filter(rater__kind=Rater.Kind.JUDGE).values_list("pk", flat=True))
    changed: set[int] = set()
    for row in AnswerText.objects.filter(judgment__in=judged).select_related("judgment").order_by("pk"):
        text = without(row.text)
        if _comes_from(row.text, parts[row.judgment.item_id]):
            text = write_entry(_unsaid(read_entry(row.text)))
        if row.judgment_id in whole:
            text = text if _parsed(row.text) is not None else MARKER
        if text != row.text:
            AnswerText.objects.filter(pk=row.pk).update(text=text)
            changed.add(row.judgment_id)
    for judgment in judged.exclude(trace={}).only("pk", "trace"):
        trace = {} if judgment.pk in whole else without(judgment.trace)
        if trace != judgment.trace:
            Judgment.objects.filter(pk=judgment.pk).update(trace=trace)
            changed.add(judgment.pk)
    _renew_seals(study, changed)


def _comes_from(text: str, parts: Collection[str]) -> bool:
    """True of an entry that came from one of these parts ("r1.e2"), however it was edited."""
    entry = _parsed(text)
    origins = entry.get("origins", ()) if isinstance(entry, dict) else ()
    return any(str(origin).partition(".")[0] in parts for origin in origins)


def _renew_seals(study: Study, judgments: Collection[int]) -> None:
    key = open_seal_key(study.seal_key)
    if key is None or not judgments:
        return
    texts = written_texts(AnswerText.objects.filter(judgment__in=judgments))
    marks = []
    rows = Judgment.objects.select_for_update(no_key=True).filter(pk__in=judgments, seal__isnull=False)
    for pk, before, rater, *values in rows.order_by("pk").values_list("pk", "seal", *JUDGMENT_FIELDS):
        seal = key.seal(judgment_content([rater, *values], texts.get(pk, ())))
        Judgment.objects.filter(pk=pk).update(seal=seal)
        marks.append((rater, 0, key.mark(before or 0) ^ key.mark(seal)))
    count_judgments(marks)


# --- names ------------------------------------------------------------------------------------------------------------


def erase_mentions(study: Study, pseudonym: str, names: Collection[str]) -> None:
    """The names that somebody has, in what members did and wrote: the study's history, notes, reasons of exclusions,
    jobs, views of the report, and answers of the API. `names` are those that only this study knows them by."""
    erase_names(study, pseudonym, names, SOMEBODY)
    black_out_texts(study, PrivateWords(names))
    for note in Note.objects.filter(text__contains=pseudonym):
        Note.objects.filter(pk=note.pk).update(text=note.text.replace(pseudonym, SOMEBODY))
    views = SavedView.objects.annotate(written=Cast("filters", TextField()))
    for view in views.filter(written__contains=pseudonym):
        _leave_out(view, pseudonym)
    _erase_in_jobs(pseudonym)
    requests = ApiRequest.objects.annotate(written=Cast("answer", TextField()))
    requests.filter(Q(path__contains=pseudonym) | Q(written__contains=pseudonym)).delete()


def _erase_in_jobs(pseudonym: str) -> None:
    """Jobs on a view that names them, and those that complained of a file that did. One that is at work is ended."""
    texts = {name: Cast(name, TextField()) for name in ("parameters", "problems")}
    jobs = Job.objects.annotate(written=Concat(*texts.values(), "message", output_field=TextField()))
    for job in jobs.filter(written__contains=pseudonym):
        if job.is_active:
            Job.objects.filter(pk=job.pk).delete()
            continue
        left = {
            name: json.loads(json.dumps(getattr(job, name)).replace(pseudonym, "erased"))
            for name in ("parameters", "problems", "message")
        }
        Job.objects.filter(pk=job.pk).update(**left)


def _leave_out(view: SavedView, pseudonym: str) -> None:
    """A view of nobody else goes with them."""
    left = {
        name: [each for each in chosen if not str(each).startswith(pseudonym)]
        if name in ("rater", "without_rater")
        else chosen
        for name, chosen in view.filters.items()
    }
    if not left.get("rater", True) or not any(left.values()):
        view.delete()
        return
    view.filters = {name: chosen for name, chosen in left.items() if chosen}
    view.save(update_fields=["filters"])


# --- the record, and what is done after it ----------------------------------------------------------------------------


def record_erasure(
    study: Study, *, by: Any, acting: Any, reason: str, raters: int = 0, judgments: int = 0, items: int = 0, said: str
) -> Erasure:  # fmt: skip
    """The act as the study remembers it; `acting` is the account that its history names."""
    made = Erasure.objects.create(
        study=study, by=by, reason=reason[:300], n_raters=raters, n_judgments=judgments, n_items=items
    )
    seal_new(study, [made])
    log_action(study=study, by=acting, message=said, reason=reason)
    return made


def clear_erasures() -> int:
    """Remove what was made of erased data before it was erased: files of jobs, kept reports and comparisons; have
    published figures computed anew. The number of erasures for which that is done.

    A job that was at work then may still write what it has read: so it is waited for, and this is called again.
    """
    done = 0
    for erasure in Erasure.objects.filter(is_cleared=False).select_related("study"):
        with transaction.atomic():
            done += _clear(erasure)
    if done:
        _empty_write_ahead_log()
    return done


def _clear(erasure: Erasure) -> bool:
    study = erasure.study
    jobs = Job.objects.filter(Q(study=study) | Q(slug=study.slug), created_at__lte=erasure.at)
    kept = ~Q(file="") | Q(parameters__has_key="left_out")
    if not _delete_files(jobs.filter(kept, state__in=[Job.State.DONE, Job.State.FAILED])):
        return False
    CachedReport.objects.filter(study=study).delete()
    _comparisons_with(study).delete()
    cache.delete(f"quality:{study.pk}")
    if any(not job.is_lost for job in jobs.filter(state__in=ACTIVE)):
        return False
    Erasure.objects.filter(pk=erasure.pk).update(is_cleared=True)
    for each in extensions():
        each.figures_erased(study)
    return True


def _empty_write_ahead_log() -> None:
    """SQLite keeps what was deleted in the file beside the database's until that is written over. While somebody reads
    from it that happens later, by itself."""
    if connection.vendor == "sqlite" and not connection.in_atomic_block:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _delete_files(jobs: QuerySet[Job]) -> bool:
    """False if the disk kept one: then it is tried again later."""
    for job in jobs:
        try:
            for path in files_of(job):
                path.unlink(missing_ok=True)
        except OSError as error:
            logger.error("A file that holds erased data could not be deleted: %s", error)
            return False
        Job.objects.filter(pk=job.pk).update(file="")
    return True


def _comparisons_with(study: Study) -> QuerySet[CachedReport]:
    """Those that are kept among another study's views."""
    return CachedReport.objects.exclude(view="").filter(payload__b__study__slug=study.slug)


def files_since(study: Study, since: datetime) -> list[Job]:
    """Exports, bundles and other files that were made of the study's judgments here from that moment on, the latest
    first: whoever fetched one has it still."""
    made = Job.objects.filter(study=study, state=Job.State.DONE, finished_at__gte=since)
    return [job for job in made.order_by("-finished_at") if job.kind in TAKEN_AWAY]
