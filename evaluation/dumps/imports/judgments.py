"""A line's judgments, cleaned by the protocol and made ready for `record_judgments`."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from evaluation.dumps.imports.notes import prepare_notes
from evaluation.dumps.problems import LineInvalid
from evaluation.models import Outcome
from evaluation.protocols import AnswersInvalid, AnswerValue, Protocol
from evaluation.protocols.answers.measures import Measure, clean_answers
from evaluation.protocols.base import Spec, Stimulus
from evaluation.services.imports import ImportedJudgment, RaterInput

Record = Mapping[str, Any]


# Those that a rater declares on the study's line, by its name.
Declared = Mapping[str, Sequence[Measure]]


def prepare_judgments(
    specs: Sequence[Spec],
    protocol: Protocol,
    stimulus: Stimulus,
    records: Sequence[Record],
    measures: Declared,
) -> tuple[list[ImportedJudgment], list[str]]:
    """The valid judgments of an item, and all problems of the others."""
    prepared, problems = [], _duplicates(records)
    for number, record in enumerate(records):
        judgment, wrong = _prepare(specs, protocol, stimulus, record, measures)
        problems += [f"judgments[{number}]: {problem}" for problem in wrong]
        if judgment is not None:
            prepared.append(judgment)
    return prepared, problems


def _duplicates(records: Iterable[Record]) -> list[str]:
    seen, problems = set(), []
    for number, record in enumerate(records):
        key = (record["rater"], record.get("replicate", 0))
        if key in seen:
            problems.append(
                f"judgments[{number}]: rater {key[0]!r} has replicate {key[1]} of this item twice"
            )
        seen.add(key)
    return problems


def _prepare(
    specs: Sequence[Spec], protocol: Protocol, stimulus: Stimulus, record: Record, measures: Declared
) -> tuple[ImportedJudgment | None, list[str]]:
    """The judgment, or all its problems: none hides another."""
    problems: list[str] = []

    def read(reading: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return reading(*arguments)
        except LineInvalid as invalid:
            problems.extend(invalid.problems)

    # Where the revision is unknown, the answers are read as the latest one's: which questions there are never changes.
    revision = read(_revision, specs, stimulus, record) or len(specs)
    values = {
        "replicate": int(record.get("replicate", 0)),
        "outcome": record.get("outcome", Outcome.OK),
        "answers": read(
            _answers, specs[revision - 1], protocol, stimulus, record, measures.get(record["rater"], ())
        ),
        "shown": read(_shown, stimulus, record.get("shown", [])),
        "judged_at": read(_judged_at, record),
        "trace": record.get("trace", {}),
        "surplus": record.get("surplus", False),
    }
    times = read(_times, record)
    notes, wrong = prepare_notes(record.get("notes", ()))
    problems += wrong
    if problems:
        return None, problems
    reasons = {each["scope"]: each["reason"] for each in as_list(record.get("excluded", []))}
    judgment = ImportedJudgment(
        rater=_rater(record),
        revision=revision,
        values=values | times,
        rater_excluded=reasons.get("rater", ""),
        excluded=reasons.get("judgment", ""),
        place=record.get("place"),
        notes=notes,
    )
    return judgment, []


def _rater(record: Record) -> RaterInput:
    return RaterInput(
        record["rater"], record["kind"], record.get("label", ""), record.get("source", "imported")
    )


def _revision(specs: Sequence[Spec], stimulus: Stimulus, record: Record) -> int:
    revision = int(record.get("revision", 1))
    if revision > len(specs):
        raise LineInvalid(f"revision {revision} is not in the study's line")
    if all(arm["key"] != stimulus["arm"] for arm in specs[revision - 1]["arms"]):
        raise LineInvalid(f"revision {revision} has no arm {stimulus['arm']!r}")
    return revision


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _answers(
    spec: Spec, protocol: Protocol, stimulus: Stimulus, record: Record, measures: Sequence[Measure]
) -> list[AnswerValue]:
    outcome, data = record.get("outcome", Outcome.OK), record.get("answers", {})
    if outcome != Outcome.OK:
        wrong = [
            what for what, there in (("has answers", data), ("is surplus", record.get("surplus"))) if there
        ]
        if wrong:
            raise LineInvalid(*(f"{what} though its outcome is {outcome}" for what in wrong))
        return []
    try:
        return clean_answers(protocol, spec, measures, stimulus, data, source="import")
    except AnswersInvalid as invalid:
        raise LineInvalid(*(f"answers: {problem}" for problem in invalid.problems)) from None


def _shown(stimulus: Stimulus, order: Sequence[str]) -> str:
    parts = [response["part"] for response in stimulus["responses"]]
    if order and sorted(order) != sorted(parts):
        raise LineInvalid(f"shown: {','.join(order)!r} is not an order of {', '.join(parts)}")
    return ",".join(order)


def _times(record: Record) -> dict[str, int | None]:
    """Durations; a page can't have been in view for longer than the judgment took."""
    duration, visible = record.get("duration_ms"), record.get("visible_ms")
    if duration is not None and visible is not None and visible > duration:
        raise LineInvalid("visible_ms is greater than duration_ms")
    return {
        "duration_ms": None if duration is None else int(duration),
        "visible_ms": None if visible is None else int(visible),
    }


def _judged_at(record: Record) -> datetime | None:
    """The exact time, or the start of the day where only that is known."""
    if "day" in record and "judged_at" in record:
        raise LineInvalid("has both day and judged_at")
    try:
        if "day" in record:
            day = datetime.combine(date.fromisoformat(record["day"]), time(), UTC)
            # The moments of a rater's day were left out and their order kept: the nth stands n microseconds later.
            return day + timedelta(microseconds=record.get("moment", 0))
        if "judged_at" not in record:
            return None
        moment = datetime.fromisoformat(record["judged_at"])
        if moment.tzinfo is None:
            raise LineInvalid("judged_at has no time zone")
        return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        value = record.get("day", record.get("judged_at"))
        raise LineInvalid(f"{value!r} is not a date or time that exists") from None
