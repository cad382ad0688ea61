"""Rounds of one study pooled: the judgments of several studies of the same form as one closed study.

What was judged in both rounds, word for word, is one item with the judgments of both; people of each round are a group,
so that the report compares the rounds, too.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from tempfile import TemporaryFile
from typing import Any

import orjson
from django.db.models import QuerySet

from evaluation.canonical import canonical_hash
from evaluation.counting import counted
from evaluation.dumps.exports.jsonl import jsonl_lines, study_record
from evaluation.dumps.exports.stored_study import StoredStudy
from evaluation.dumps.imports.dump_import import import_dump
from evaluation.dumps.lines import SourceLine
from evaluation.extension import Watch
from evaluation.models import Rater, Role, Status, Study
from evaluation.permissions import studies_for
from evaluation.refusals import Refused
from evaluation.services.history import log_action, server_account
from evaluation.services.studies.duplication import MAX_SLUG, MAX_TITLE, free_slug
from evaluation.services.studies.origin import origin_of

Record = dict[str, Any]
# Of a round and not of the pool, or made anew.
# Of a spec, what says how one round was drawn and when it might stop: of the pool neither is true.
OF_ONE_ROUND = ("human_sample", "stopping")
DROPPED = ("study_hash", "sealed", "later_specs", "queries", "raters", "slug")
# Of an item, what is no part of what was judged.
APART = ("judgments", "start_order", "stimulus_hash", "renderer", "origin", "revision", "withdrawn", "notes")


def other_rounds(user: Any, study: Study) -> QuerySet[Study]:
    """The studies that the user may pool with this one: of its protocol, launched, and both open to their writing."""
    writable = studies_for(user, "write")
    if study.is_rehearsal or not writable.filter(pk=study.pk, revisions__isnull=False).exists():
        return Study.objects.none()
    like = writable.filter(protocol=study.protocol, revisions__isnull=False, rehearsal_of=None)
    return like.exclude(pk=study.pk).distinct().order_by("title", "slug")


def pool_rounds(
    first: Study,
    second: Study,
    *,
    by: Any = None,
    slug: str = "",
    title: str = "",
    replace_broken: bool = False,
    watch: Watch = lambda phase, done, total: None,
    and_then: Callable[[Study], None] = lambda study: None,
) -> Study:
    """The study of both rounds' judgments, which `by` owns; Refused, with nothing made, where their forms ask for
    different answers. The last three are those of `import_dump`."""
    source = PooledRounds((first, second))
    asking = by or server_account()

    def made(study: Study) -> None:
        for each in (first, second):
            log_action(study=each, by=asking, message=f"Pooled with another round as {study.title}.")
        and_then(study)

    return import_dump(
        source,
        slug=slug or free_slug(f"{first.slug[: MAX_SLUG - 10]}-pooled"),
        title=(title or f"{first.title}, both rounds")[:MAX_TITLE],
        owner=by,
        by=asking,
        said=f"Pooled from {first.title} and {second.title}: {source.said()}",
        replace_broken=replace_broken,
        watch=watch,
        and_then=made,
    )


class PooledRounds:
    """Both rounds' records as a source of the dump format; asked for as often as it is read."""

    format, unit = "pooled-1", "record"

    def __init__(self, rounds: Sequence[Study]) -> None:
        self.rounds = rounds
        self.name = " and ".join(study.slug for study in rounds)
        self.specs = [_spec_of(study) for study in rounds]
        _refuse_other_answers(self.rounds, self.specs)
        self.counts: Counter[str] = Counter()
        self._hashes: list[str] = []

    @property
    def total(self) -> int:
        return 0

    @property
    def differs(self) -> list[str]:
        """The parts of the spec in which the rounds differ, by name."""
        one, other = self.specs
        return sorted(name for name in {*one, *other} - {"title"} if one.get(name) != other.get(name))

    def said(self) -> str:
        differs = self.differs
        return (
            f"they differ in {', '.join(each.replace('_', ' ') for each in differs)}."
            if differs
            else "their forms are the same."
        )

    def fingerprint(self) -> str:
        return canonical_hash(self._hashes)

    def notes(self) -> dict[str, Any]:
        return {"counted": dict(self.counts)}

    def lines(self) -> Iterator[SourceLine]:
        self.counts, self._hashes = Counter(), []
        with TemporaryFile() as spool:
            later = _Spooled(spool, self._records(1))
            yield self._line(0, self._header())
            number = 0
            for record in self._records(0):
                number += 1
                if (same := later.take_same(record)) is not None:
                    self.counts["items of both rounds"] += 1
                    record["judgments"] = [*record.get("judgments", ()), *same.get("judgments", ())]
                yield self._line(number, record)
            for record in later.rest():
                number += 1
                yield self._line(number, record)

    def _line(self, number: int, record: Record) -> SourceLine:
        self._hashes.append(canonical_hash(record))
        return SourceLine(number, 0, number, record)

    def _header(self) -> Record:
        first, second = self.rounds
        spec = {name: value for name, value in self.specs[0].items() if name not in OF_ONE_ROUND}
        record = study_record(first, [spec])
        raters = [each for at, study in enumerate(self.rounds) for each in _raters(study, at)]
        systems = {each["key"]: each for study in reversed(self.rounds) for each in _systems(study)}
        rules = record["rules"] | {"groups": sorted({each["group"] for each in raters if "group" in each})}
        origin = origin_of(
            first, "pooled", beside=origin_of(second, "pooled"), differs=self.differs, said=self.said()
        )
        kept = {name: value for name, value in record.items() if name not in DROPPED}
        return kept | {
            "status": Status.CLOSED,
            "systems": [systems[key] for key in sorted(systems)],
            "rules": rules,
            "raters": raters,
            "origin": origin,
        }

    def _records(self, at: int) -> Iterator[Record]:
        """The main items of a round that were not withdrawn, with their judgments under the names of its raters."""
        lines = jsonl_lines(StoredStudy(self.rounds[at]))
        next(lines)
        for line, _ in lines:
            record = orjson.loads(line)
            if record["role"] != Role.MAIN or record.get("withdrawn"):
                continue
            judgments = [
                {name: value for name, value in each.items() if name != "revision"}
                | {"rater": _name(each["rater"], at)}
                for each in record.get("judgments", ())
            ]
            kept = {name: value for name, value in record.items() if name not in APART}
            yield kept | ({"judgments": judgments} if judgments else {})


class _Spooled:
    """The later round's items on disk, by key, so that they are met where the first round has the same."""

    def __init__(self, file: Any, records: Iterator[Record]) -> None:
        self._file = file
        self._place: dict[str, int] = {}
        self._queries: dict[str, str] = {}
        for record in records:
            self._place[record["key"]] = file.tell()
            file.write(orjson.dumps(record) + b"\n")
        # What the first round has under each key of a query, and its items' keys.
        self._seen: set[str] = set()

    def take_same(self, record: Record) -> Record | None:
        """The later round's item of the same key, if it is the same; it is left out of the rest then."""
        key = record["key"]
        self._seen.add(key)
        self._queries[record["query"]["key"]] = canonical_hash(record["query"])
        if key not in self._place:
            return None
        found = self._read(self._place[key])
        if _content(found) != _content(record):
            return None
        del self._place[key]
        return found

    def rest(self) -> Iterator[Record]:
        """The others, each under keys of its own where the first round has something else under them."""
        for place in list(self._place.values()):
            record = self._read(place)
            query = record["query"]
            known = self._queries.get(query["key"])
            if known is not None and known != canonical_hash(query):
                query["key"] = f"{query['key'][:116]}-2"
                if record.get("context"):
                    record["context"]["key"] = f"{record['context']['key'][:116]}-2"
            if record["key"] in self._seen:
                record["key"] = f"{record['key'][:116]}-2"
            yield record

    def _read(self, place: int) -> Record:
        self._file.seek(place)
        found: Record = orjson.loads(self._file.readline())
        return found


def _content(record: Record) -> str:
    return canonical_hash({name: value for name, value in record.items() if name not in APART})


def _group(own: str, at: int) -> str:
    """The round, and the group that somebody has in it ("experts-round-1")."""
    return f"{own[:50]}-round-{at + 1}" if own else f"round-{at + 1}"


def _name(rater: str, at: int) -> str:
    return f"{rater}-{at + 1}"


def _raters(study: Study, at: int) -> Iterator[Record]:
    for rater in study.raters.filter(judgments__isnull=False).distinct().order_by("pk"):
        facts: Record = {"rater": _name(rater.pseudonym, at)}
        if rater.kind not in (Rater.Kind.JUDGE, Rater.Kind.SETTLED):
            facts["group"] = _group(rater.group, at)
        if not rater.in_figures:
            facts["in_figures"] = False
        if rater.about:
            facts["about"] = rater.about
        yield facts


def _systems(study: Study) -> list[Record]:
    found: list[Record] = study_record(study, [{}])["systems"]
    return found


def _spec_of(study: Study) -> Record:
    revision = study.revisions.order_by("-number").first()
    if revision is None:
        raise Refused(f"{study.title} has not been launched, so that it has no judgments to pool.")
    found: Record = revision.spec
    return found


def _refuse_other_answers(rounds: Sequence[Study], specs: Sequence[Record]) -> None:
    """Pooled answers are answers to the same: question by question, with the same values."""
    first, second = rounds
    if first.pk == second.pk:
        raise Refused("A study can't be pooled with itself.")
    if first.protocol != second.protocol:
        raise Refused(
            f"{first.title} is of the protocol {first.protocol}, {second.title} of {second.protocol}."
        )
    one, other = ({each["key"]: each for each in spec["questions"]} for spec in specs)
    problems = [
        f"Only {study.title} asks the question {key}."
        for study, own, others in ((first, one, other), (second, other, one))
        for key in own
        if key not in others
    ]
    problems += [
        f"The question {key} takes other answers in {second.title} than in {first.title}."
        for key in one
        if key in other and _answers(one[key]) != _answers(other[key])
    ]
    if problems:
        raise Refused(*problems)


def _answers(question: Record) -> Record:
    """The part of a question that decides its answers: kind, form and the values that it offers, not their wording."""
    options = dict(question.get("options") or {})
    form = options.pop("form", {})
    return {"kind": question["kind"], "form": form, "values": sorted(options)}


def pooled_in_words(made: Study) -> str:
    """The sentence on a study that was pooled."""
    return f"{made.title} has {counted(made.items.count(), 'item')}: {made.origin.get('said', '')}"
