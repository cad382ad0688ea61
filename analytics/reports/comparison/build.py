"""The comparison of two studies, or views, as one JSON-ready record with a versioned schema."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from analytics.display.numbers import corrected, decimal, in_percent, percent, points
from analytics.figures.families import ALPHA, correct, is_supported
from analytics.figures.figure_input import FigureInput, figure_inputs, question_record
from analytics.figures.quantities import Quantity
from analytics.frames.study import RaterGroup, StudyFrame, study_frame
from analytics.reports.build import applying, latest_revision, terms_of
from analytics.reports.code_version import code_version
from analytics.reports.common import LEVEL, REPLICATES, NothingToReport, study_record, why_nothing
from analytics.reports.comparison.matching import (
    GroupPair,
    MatchedQueries,
    alone,
    arms_in,
    match_groups,
    match_queries,
    other_responses,
    why_unlike,
)
from analytics.reports.comparison.sides import NAMES, SCHEMA, Side, Sides
from analytics.reports.judges import judges
from analytics.statistics.core.estimates import plain
from analytics.statistics.core.matched import matched_difference
from analytics.statistics.core.randomization import Randomization
from evaluation import design
from evaluation.models import Study
from evaluation.protocols import QuestionSpec
from evaluation.selectors import counting_judgments

Record = dict[str, Any]
# A quantity's name, the key of its setting and the keys of its systems.
Key = tuple[str, str | None, tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class _Read:
    """The arrays of one side; `inputs` are those of each question, by its key and form, of each group by key."""

    side: Side
    frame: StudyFrame
    record: Record
    questions: dict[tuple[str, str], QuestionSpec]
    inputs: dict[tuple[str, str], dict[str, FigureInput]]

    @property
    def arms(self) -> list[str]:
        return arms_in(self.frame.study_items)

    @property
    def systems(self) -> tuple[str, ...]:
        return self.frame.study_items.systems


@dataclass(frozen=True, eq=False)
class _Both:
    """One quantity of both sides, and the place where it stands."""

    question: str
    form: str
    group: GroupPair
    figure: str
    key: Key
    a: Quantity
    b: Quantity


def build_comparison(sides: Sides) -> Record:
    """Every comparable quantity that both sides have, over the queries that both have.

    A tie counts as half a win, as in every report unless it is asked otherwise. Raises NothingToReport where a side has
    no judgments that count, or nothing is shared.
    """
    a, b = (_read(each) for each in sides.both)
    queries = match_queries(sides, a.frame.study_items, b.frame.study_items)
    if not queries.matched:
        raise NothingToReport(_nothing_shared(sides, queries))
    groups, groups_a, groups_b = match_groups(a.frame.groups, b.frame.groups)
    unlike = {
        key: why_unlike(question, b.questions[key])
        for key, question in a.questions.items()
        if key in b.questions
    }
    found = list(_shared(a, b, [key for key in a.questions if unlike.get(key) == ""], groups))
    if not found:
        raise NothingToReport(
            f"{a.side.title} and {b.side.title} share {_queries(queries.matched)}, but no question that the same "
            "raters answered in both: the keys of questions and settings must be the same."
        )
    responses, other_text = other_responses(sides, _matched_keys(a, queries), set(a.systems) & set(b.systems))
    comparisons = _compared(found, queries, a.side.study)
    correct(each["test"] for each in comparisons)
    without = [
        *_questions_alone(a, b, unlike),
        *_raters_alone("a", groups_a, "B"),
        *_raters_alone("b", groups_b, "A"),
        *alone("system", a.systems, b.systems, "{side} has no system of this key."),
        *(
            alone("setting", a.arms, b.arms, "{side} has no setting of this key.")
            if not _one_arm(a, b)
            else ()
        ),
    ]
    record: Record = {
        "schema": SCHEMA,
        "parameters": {"level": LEVEL, "ties": "half", "version": code_version(), "seed": a.side.study.seed},
        "a": a.record,
        "b": b.record,
        "queries": {
            "matched": queries.matched,
            "only_a": queries.only_a,
            "only_b": queries.only_b,
            "other_text": queries.other_text,
        },
        "responses": {"shared": responses, "other_text": other_text},
        "questions": _questions(a, found),
        "groups": [plain(group) for group in groups if group in [each.group for each in found]],
        "comparisons": comparisons,
        "without_partner": without,
    }
    record["findings"] = list(_findings(record))
    return record


def _read(side: Side) -> _Read:
    study, filters = side.study, side.filters
    if not study.revisions.exists():
        raise NothingToReport(f"{study.slug} has not been launched, so there is nothing to compare yet.")
    revision = latest_revision(study)
    if not counting_judgments(study).filter(filters.judgments(study)).exists():
        raise NothingToReport(f"{study.slug}: {why_nothing(study, filters)}")
    frame = study_frame(study, filters)
    terms = terms_of(
        study,
        revision,
        judges(study, frame, filters),
        replicates=REPLICATES,
        ties="half",
        is_view=bool(filters),
    )
    questions, inputs = {}, {}
    for question, form, given in figure_inputs(frame, terms):
        questions[question.key, form] = question
        inputs[question.key, form] = {each.group_key: each for each in given}
    record = {
        **study_record(study, revision, filters, frame.study_items.systems),
        "view": filters.canonical(),
        "judgments": sum(group.judgments for group in frame.judges_apart),
        "queries": frame.queries,
    }
    return _Read(side, frame, record, questions, inputs)


def _nothing_shared(sides: Sides, queries: MatchedQueries) -> str:
    names = f"{sides.a.title} and {sides.b.title}"
    if queries.other_text:
        return f"{names} have {_queries(queries.other_text)} of the same key, but every one has another text there."
    return f"{names} share no query: the keys of their queries must be the same."


def _queries(n: int) -> str:
    return "one query" if n == 1 else f"{n:,} queries"


def _one_arm(a: _Read, b: _Read) -> bool:
    """True where each side has one setting: then these are compared, whatever their keys are."""
    return len(a.arms) == len(b.arms) == 1


def _matched_keys(a: _Read, queries: MatchedQueries) -> set[str]:
    named = zip(a.frame.study_items.queries, queries.codes_a, strict=True)
    return {key for key, code in named if code >= 0}


def _shared(
    a: _Read, b: _Read, keys: Iterable[tuple[str, str]], groups: Iterable[GroupPair]
) -> Iterator[_Both]:
    """Quantities of the same question, raters, figure, setting and systems."""
    groups, one_arm = list(groups), _one_arm(a, b)
    for key in keys:
        question, form = a.questions[key], key[1]
        for group in groups:
            own, other = a.inputs[key].get(group.a), b.inputs[key].get(group.b)
            if own is None or other is None:
                continue
            for figure in applying(question, form):
                ours, theirs = (
                    {_key(each, one_arm): each for each in figure.quantities(given)} for given in (own, other)
                )
                for name, quantity in ours.items():
                    if name in theirs:
                        yield _Both(question.key, form, group, figure.key, name, quantity, theirs[name])


def _key(quantity: Quantity, one_arm: bool) -> Key:
    return quantity.name, None if one_arm else quantity.arm, quantity.systems


def _compared(found: list[_Both], queries: MatchedQueries, study: Study) -> list[Record]:
    seed = design.derived_seed(study.seed, "comparison")
    tests = Randomization(seed, level=ALPHA / max(len(found), 1))
    return [_record(each, queries, tests) for each in found]


def _record(both: _Both, queries: MatchedQueries, tests: Randomization) -> Record:
    name, arm, systems = both.key
    sums = [
        replace(each.sums, query=codes[each.sums.query])
        for each, codes in ((both.a, queries.codes_a), (both.b, queries.codes_b))
    ]
    of_cell = tests.of(both.question, both.group.a, both.figure, name, arm or "", *systems)
    found = matched_difference(*sums, tests=of_cell, level=LEVEL)
    untested = both.a.untested or both.b.untested
    return {
        "question": both.question,
        "form": both.form,
        "group": both.group.a,
        "figure": both.figure,
        "name": name,
        "arm": arm,
        "systems": list(systems),
        "share": both.a.is_share,
        "a": plain(found.first),
        "b": plain(found.second),
        "difference": plain(found.difference),
        "queries": found.queries,
        "test": None if untested or found.test is None else plain(found.test),
        "untested": untested or found.untested,
    }


def _questions(a: _Read, found: list[_Both]) -> list[Record]:
    asked = dict.fromkeys((each.question, each.form) for each in found)
    return [question_record(a.questions[key], key[1]) for key in asked]


def _questions_alone(a: _Read, b: _Read, unlike: dict[tuple[str, str], str]) -> Iterator[Record]:
    named = [[_name(question) for question in each.questions.values()] for each in (a, b)]
    yield from alone("question", named[0], named[1], "{side} has no answers to a question of this key.")
    for key, reason in unlike.items():
        if reason:
            for side, read in zip(NAMES, (a, b), strict=True):
                yield {"kind": "question", "side": side, "name": _name(read.questions[key]), "reason": reason}


def _raters_alone(side: str, groups: Iterable[RaterGroup], other: str) -> Iterator[Record]:
    for group in groups:
        reason = f"{other} has no raters who are known to be the same."
        yield {"kind": "raters", "side": side, "name": group.label, "reason": reason}


def _name(question: QuestionSpec) -> str:
    return question.key or question.prompt


def labels_of(record: Record, factor: str) -> dict[str, str]:
    """Labels of systems or settings ("systems", "arms") by key; the first side's where both have one."""
    return {each["key"]: each["label"] for side in reversed(NAMES) for each in record[side][factor]}


def about(record: Record, found: Record) -> str:
    """The systems and the setting that a comparison is of; empty where it is of all."""
    systems, arms = labels_of(record, "systems"), labels_of(record, "arms")
    named = " vs ".join(systems.get(key, key) for key in found["systems"])
    return ", ".join(filter(None, [named, arms.get(found["arm"], found["arm"]) if found["arm"] else ""]))


def _findings(record: Record) -> Iterator[Record]:
    """Sentences on the differences that are beyond chance after correction for all that are shown."""
    prompts = {each["key"]: each["prompt"] for each in record["questions"]}
    groups = {each["a"]: each["label"] for each in record["groups"]}
    for at, found in enumerate(record["comparisons"]):
        if not is_supported(found["test"]) or not found["difference"]["value"]:
            continue
        form = in_percent if found["share"] else decimal
        change = found["difference"]
        size = f"{points(change['value'])} points" if found["share"] else decimal(abs(change["value"]))
        limits = ""
        if change["low"] is not None:
            each = percent if found["share"] else decimal
            limits = f" (B less A: {each(change['low'])} to {each(change['high'])})"
        which = about(record, found)
        higher = "higher" if change["value"] > 0 else "lower"
        several = [groups[found["group"]]] if len(groups) > 1 else []
        asked = [prompts[found["question"]]] if len(prompts) > 1 else []
        yield {
            "comparison": at,
            "about": ", ".join([found["name"], *filter(None, [which]), *asked, *several]),
            "heading": f"{higher} in B",
            "text": f"{form(found['b']['value'])} in B and {form(found['a']['value'])} in A, a difference of "
            f"{size}{limits}, over {_queries(found['queries'])} that both have ({corrected(found['test'])}).",
        }
