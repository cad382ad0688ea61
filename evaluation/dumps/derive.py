"""Deriving: what a derivation would make is counted and checked first, then written as a draft."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from django.conf import settings

from evaluation.canonical import canonical_hash
from evaluation.counting import counted
from evaluation.dumps.derivation import Deriving, Options, Record, StudyDerivation
from evaluation.dumps.derivations import DERIVATIONS
from evaluation.dumps.imports.checker import DumpChecker
from evaluation.dumps.imports.dump_import import import_dump
from evaluation.dumps.lines import SourceLine, parse_line
from evaluation.models import Erasure, Role, Status, Study
from evaluation.permissions import get_study_for
from evaluation.refusals import Refused
from evaluation.rendering.box import RenderBox
from evaluation.services.history import log_action, server_account
from evaluation.services.studies.duplication import MAX_SLUG, MAX_TITLE, free_slug
from evaluation.services.studies.origin import origin_of
from evaluation.services.studies.rehearsals import refuse_in_rehearsal

ERASED_MEANWHILE = "Somebody was erased from the study at this moment, so nothing was derived. Try again."


@dataclass(frozen=True)
class DerivedPlan:
    """The draft that would be made: its counts, what is left out and why, and its first item's record."""

    protocol: str
    items: int
    others: int
    queries: int
    left_out: Mapping[str, int]
    first: Record

    def sentences(self) -> list[str]:
        queries = counted(self.queries, "query", "queries")
        found = [f"{counted(self.items, 'item')} on {queries}, for the protocol {self.protocol}."]
        if self.others:
            found.append(f"Items for training, qualification and checks: {self.others:,}.")
        return found + [f"Left out: {n:,} {reason}." for reason, n in self.left_out.items() if n]


def derivations_of(study: Study) -> list[StudyDerivation]:
    """The derivations that this study has something for."""
    latest = study.revisions.order_by("-number").first()
    if latest is None or study.is_rehearsal:
        return []
    return [each for each in DERIVATIONS.values() if not each.refusal(study, latest.spec)]


def plan_derivation(
    study: Study, kind: str, given: Mapping[str, Any] | None = None, *, by: Any = None
) -> DerivedPlan:
    """Count what would be made, and make nothing; Refused says why there is nothing."""
    source = _source(study, kind, given or {}, by)
    with RenderBox(settings.ASSAY_RENDER_SECONDS) as box:
        checker = DumpChecker(source, slug="plan", protocol="", title=study.title, render=box.render)
        checker.run(lambda phase, done, total: None)
    return source.plan()


def derive_study(
    study: Study,
    kind: str,
    given: Mapping[str, Any] | None = None,
    *,
    by: Any = None,
    slug: str = "",
    title: str = "",
) -> Study:
    """Make the draft, which `by` owns; all of it, or Refused and nothing. Without `by`, whoever runs the server asks,
    and nobody owns it. Refused, too, where somebody was erased while their words were read."""
    erased_before = set(Erasure.objects.values_list("pk", flat=True))
    source = _source(study, kind, given or {}, by)
    asking = by or server_account()

    def refuse_erased() -> None:
        # Erasing locks the study that it erases from. One that comes later finds the copies.
        read = Study.objects.select_for_update(no_key=True).filter(pk__in=source.read).order_by("pk")
        if Erasure.objects.filter(study__in=list(read)).exclude(pk__in=erased_before).exists():
            raise Refused(ERASED_MEANWHILE)

    return import_dump(
        source,
        slug=slug or free_slug(f"{study.slug[: MAX_SLUG - 30]}-{kind.replace('_', '-')}"),
        title=(title or f"{study.title}: {source.derivation.label.lower()}")[:MAX_TITLE],
        owner=by,
        by=asking,
        said=f"Derived from {study.title}.",
        first=refuse_erased,
        and_then=lambda made: log_action(study=study, by=asking, message=f"Derived {made.title}."),
    )


class DerivedSource:
    """A derivation's records as a source of the dump format; asked for as often as it is read."""

    format, unit = "derived-1", "record"

    def __init__(self, derivation: StudyDerivation, study: Study, options: Options, by: Any) -> None:
        self.derivation, self.study, self.options, self.by = derivation, study, options, by
        self.name = f"{derivation.key} of {study.slug}"
        self.deriving: Deriving | None = None
        self._counted: dict[str, int] = {}
        self._queries: set[str] = set()
        self._first: Record = {}
        self._hashes: list[str] = []

    @property
    def total(self) -> int:
        return 0

    @property
    def read(self) -> set[int]:
        """The studies that the records are made of."""
        return self.deriving.read if self.deriving else set()

    def fingerprint(self) -> str:
        return canonical_hash(self._hashes)

    def notes(self) -> dict[str, Any]:
        return {"left_out": dict(self.deriving.left_out)} if self.deriving else {}

    def lines(self) -> Iterator[SourceLine]:
        revision = self.study.revisions.order_by("-number")[0]
        self.deriving = deriving = Deriving(self.study, revision, self.by, self.options)
        self._counted, self._queries, self._first, self._hashes = {}, set(), {}, []
        header = self.derivation.header(deriving)
        rules = {"contact": self.study.contact, "currency": self.study.currency, **header.get("rules", {})}
        origin = origin_of(self.study, self.derivation.key, options=dict(self.options))
        yield _line(0, {"assay": 1, **header, "rules": rules, "status": Status.DRAFT, "origin": origin})
        for number, record in enumerate(self.derivation.records(deriving), 1):
            role = record.get("role", Role.MAIN)
            self._counted[role] = self._counted.get(role, 0) + 1
            self._queries.add(record["query"]["key"])
            self._first = self._first or (record if role == Role.MAIN else {})
            self._hashes.append(canonical_hash(record))
            yield _line(number, record)
        if not self._counted.get(Role.MAIN):
            said = " ".join(f"Left out: {n:,} {reason}." for reason, n in deriving.left_out.items() if n)
            raise Refused(f"There is nothing to derive. {said}".strip())

    def plan(self) -> DerivedPlan:
        assert self.deriving is not None
        main = self._counted.get(Role.MAIN, 0)
        return DerivedPlan(
            protocol=str(self.derivation.header(self.deriving)["spec"]["protocol"]),
            items=main,
            others=sum(self._counted.values()) - main,
            queries=len(self._queries),
            left_out=dict(self.deriving.left_out),
            first=self._first,
        )


def _line(number: int, record: Record) -> SourceLine:
    raw = orjson.dumps(record)
    return parse_line(raw, number, number)


def _source(study: Study, kind: str, given: Mapping[str, Any], by: Any) -> DerivedSource:
    if by is not None:
        get_study_for(by, study.slug, right="write")
    refuse_in_rehearsal(study, "nothing is derived from it.")
    if kind not in DERIVATIONS:
        raise Refused(f"There is no derivation {kind!r}; there are: {', '.join(sorted(DERIVATIONS))}.")
    derivation = DERIVATIONS[kind]
    latest = study.revisions.order_by("-number").first()
    if latest is None:
        raise Refused("Only a study that was launched has something to derive from.")
    if reason := derivation.refusal(study, latest.spec):
        raise Refused(reason)
    known = {option.name: option for option in derivation.options}
    problems = [f"{name}: there is no such option" for name in given if name not in known]
    options = {}
    for name, option in known.items():
        try:
            options[name] = option.clean(given.get(name, option.default))
        except ValueError as wrong:
            problems.append(str(wrong))
    if problems:
        raise Refused(*problems)
    return DerivedSource(derivation, study, options, by)
