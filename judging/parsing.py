"""Reading a judge's reply, strictly: what is not clearly a verdict is a counted failure, never a verdict.

A reply is read in the very form that was asked for, and in no other: all values, each once, nothing beside them but
the rationale where one was wanted. Words such as "Response 1" in a rationale are words.

Log-probabilities: at the verdict's place, the probabilities of the tokens that are a label (whatever blanks and case
they are written with) are summed per label and divided by their sum. The number is P(r2 is better) plus half of
P(tie), the mass of a tie being shared evenly; the presented order is undone first. The label is the most likely one,
or a tie where two share the first place. If the labels together have less than `MIN_LABEL_MASS`, the model was about
to say something else, and the reply is unparsed.
"""

import json
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from evaluation.protocols import AnswersInvalid, AnswerValue, Protocol, Question
from evaluation.protocols.base import Spec, Stimulus
from evaluation.protocols.entries.sets import (
    FIELDS,
    Entry,
    clean_entries,
    find_set_problems,
    fragments_of,
    is_blank,
)
from evaluation.storable import storable, storable_json
from judging.backends.base import BLANKS, Reply
from judging.prompting import (
    FROM,
    Cell,
    Settings,
    View,
    asked,
    cells_of,
    line_name,
    quoted_in,
    view_of,
    wants_labels,
)

MIN_LABEL_MASS = 0.5
CUT_SHORT = frozenset({"length", "max_tokens"})
FILTERED = frozenset({"content_filter", "safety"})
# One fenced block and nothing beside it.
FENCE = re.compile(r"```(?:json)?[ \t]*\n(.*)\n[ \t]*```", re.DOTALL | re.IGNORECASE)
RATIONALE = "Rationale:"
# A drafted entry as a prompt calls it: the response's number in the order shown, and the entry's.
NUMBERED = re.compile(r"[1-9][0-9]?\.[1-9][0-9]?", re.ASCII)


@dataclass(frozen=True)
class Reading:
    """What a reply says, against canonical responses: `data`, and the answers that the protocol makes of it."""

    data: dict[str, Any]
    answers: Sequence[AnswerValue]
    rationale: str = ""


class Unread(Exception):
    """The reply is no verdict; `outcome` is unparsed, refused or truncated, the text says why."""

    def __init__(self, outcome: str, reason: str) -> None:
        self.outcome = outcome
        super().__init__(reason)


def read_reply(
    protocol: Protocol,
    spec: Spec,
    stimulus: Stimulus,
    settings: Settings,
    *,
    order: str,
    step: str = "",
    reply: Reply,
) -> Reading:
    """The answers in a reply, or Unread."""
    _check_ending(reply)
    questions = asked(protocol, spec, stimulus, settings, step)
    view = view_of(stimulus, order)
    if wants_labels(questions, settings):
        data, rationale = _read_label(questions[0], view, settings, reply)
    else:
        data, rationale = _read_text(questions, view, settings, reply)
    try:
        answers = protocol.clean(spec, stimulus, data, source="judge")
    except AnswersInvalid as invalid:
        raise Unread("unparsed", str(invalid)) from None
    return Reading(data, answers, rationale)


def _check_ending(reply: Reply) -> None:
    if reply.refusal:
        raise Unread("refused", f"The model refused: {reply.refusal[:200]}")
    if reply.finish_reason in FILTERED:
        raise Unread("refused", "The endpoint's content filter held the reply back.")


def _unparsed(reason: str) -> NoReturn:
    raise Unread("unparsed", reason)


# --- text -----------------------------------------------------------------------------------------------------------

Values = dict[tuple[str, ...], str]


def _read_text(
    questions: Sequence[Question], view: View, settings: Settings, reply: Reply
) -> tuple[dict[str, Any], str]:
    """Answers in words. A reply that was cut short is truncated even if a verdict stands in it: what is missing might
    have taken it back, and lines that come first would always survive."""
    if reply.finish_reason in CUT_SHORT:
        raise Unread("truncated", "The reply was cut off at the token limit.")
    text = storable(reply.text).strip()
    if not text:
        _unparsed("The reply is empty.")
    cells = {
        (question.key, *cell.path): (question, cell)
        for question in questions
        for cell in cells_of(question, view)
    }
    if text.startswith(("{", "```")):
        lists = {path for path, (_, cell) in cells.items() if cell.entries}
        values, rationale = _from_json(text, settings, lists)
    else:
        values, rationale = _from_lines(text, list(_names(questions, view)), settings)
    if values.keys() != cells.keys():
        _unparsed(_difference(values, cells))
    return _data(values, cells, view), rationale


def _difference(values: Values, cells: Mapping[tuple[str, ...], Any]) -> str:
    missing = [".".join(path) for path in cells if path not in values]
    unknown = [".".join(path) for path in values if path not in cells]
    parts = [("missing", missing), ("not asked for", unknown)]
    return "; ".join(f"{what}: {', '.join(names)[:200]}" for what, names in parts if names)


def _data(
    values: Values, cells: Mapping[tuple[str, ...], tuple[Question, Cell]], view: View
) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for path, (question, cell) in cells.items():
        name, said = ".".join(path), values[path]
        value = _read_set(name, cell, view, said) if cell.entries else _value(name, cell, said)
        if cell.part:
            data.setdefault(question.key, {})[cell.part] = value
        else:
            data[question.key] = value
    return data


def _value(name: str, cell: Cell, said: str) -> Any:
    if cell.choices is None:
        return said
    choice = said.strip()
    if choice in cell.choices:
        return cell.choices[choice]
    alike = [value for known, value in cell.choices.items() if known.casefold() == choice.casefold()]
    if len(alike) == 1:  # a study's own choices may differ in case alone
        return alike[0]
    return _unparsed(f"{name}: {said[:80]!r} is none of {', '.join(cell.choices)}.")


def _read_set(name: str, cell: Cell, view: View, said: str) -> list[dict[str, Any]]:
    """The entries in a JSON list; each names the drafted entries that it came from as the judge saw them."""
    try:
        entries = json.loads(said, object_pairs_hook=_object, parse_constant=_no_number)
        if not isinstance(entries, list) or not all(each.keys() == set(cell.entries) for each in entries):
            raise ValueError("other names than asked for")
        return [
            {field: storable_json(each[field]) for field in FIELDS}
            | {"origins": _origins(each.get(FROM, []), view)}
            for each in entries
        ]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return _unparsed(f"{name}: {said[:80]!r} is not the list of entries that was asked for.")


def _origins(names: Sequence[str], view: View) -> list[str]:
    """Drafted entries by their canonical names: "2.1" is entry 1 of what was shown as Response 2."""
    found = []
    for name in names:
        response, _, entry = name.partition(".")
        if not NUMBERED.fullmatch(name) or int(response) > len(view.order):
            raise ValueError(f"{name!r} is no drafted entry")
        found.append(f"{view.order[int(response) - 1]}.e{entry}")
    return found


# --- JSON -----------------------------------------------------------------------------------------------------------


def _from_json(text: str, settings: Settings, lists: Collection[tuple[str, ...]]) -> tuple[Values, str]:
    """The values of {"rationale": ..., "answers": {...}}, also where the object stands in one fence.

    `lists` are the paths of those that are lists; their values are JSON again.
    """
    fenced = FENCE.fullmatch(text)
    try:
        data = json.loads(
            fenced[1] if fenced else text,
            object_pairs_hook=_object,
            parse_constant=_no_number,
        )
        answers = dict(_leaves(data.pop("answers"), (), lists))
    except KeyError:
        return _unparsed('The reply is JSON without "answers".')
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        return _unparsed(f"The reply is not the JSON object that was asked for: {str(error)[:100]}.")
    rationale = data.pop("rationale", "") if settings.rationale != "none" else ""
    if data or not isinstance(rationale, str):
        _unparsed(f"not asked for: {', '.join(map(str, data))[:200] or 'a rationale that is no text'}")
    return answers, storable(rationale).strip()


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which no name stands twice: whoever says two things has said nothing."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice")
    return found


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text[:40]} is no answer")


def _leaves(
    value: Any, path: tuple[str, ...], lists: Collection[tuple[str, ...]]
) -> Iterator[tuple[tuple[str, ...], str]]:
    """The texts in nested objects, and numbers as the texts that were asked for."""
    if isinstance(value, list) != (path in lists):
        raise TypeError("a list where none was asked for, or none where one was")
    if isinstance(value, list):
        yield path, json.dumps(value)
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _leaves(each, (*path, name), lists)
    elif isinstance(value, str):
        yield path, storable(value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, str(value)
    else:
        raise TypeError("an answer is a text")


# --- lines ----------------------------------------------------------------------------------------------------------


def _names(questions: Sequence[Question], view: View) -> Iterator[tuple[str, tuple[str, ...]]]:
    for question in questions:
        for cell in cells_of(question, view):
            yield line_name(question, cell), (question.key, *cell.path)


def _from_lines(
    text: str, names: Sequence[tuple[str, tuple[str, ...]]], settings: Settings
) -> tuple[Values, str]:
    """The values of lines `name: value`, which stand together, in any order, where the prompt put them."""
    paths = dict(names)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    given = [(number, *_split(line)) for number, line in enumerate(lines) if _split(line)[0] in paths]
    if len({name for _, name, _ in given}) != len(given):
        _unparsed("The reply answers a question more than once.")
    if not given:
        _unparsed("The reply is neither the JSON object nor the lines that were asked for.")
    if len(given) != len(paths):
        _unparsed(f"The reply has {len(given)} of the {len(paths)} lines that were asked for.")
    first, last = given[0][0], given[-1][0]
    before, after = lines[:first], lines[last + 1 :]
    if last - first + 1 != len(given) or (after and settings.rationale != "after") or (
        before and settings.rationale != "before"
    ):  # fmt: skip
        _unparsed("The reply says more than it was asked for, or in another place.")
    return {paths[name]: value for _, name, value in given}, _rationale([*before, *after])


def _split(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    return (name.strip(), value.strip()) if colon else ("", "")


def _rationale(lines: Sequence[str]) -> str:
    return "\n".join(lines).removeprefix(RATIONALE).strip()


# --- log-probabilities ----------------------------------------------------------------------------------------------


def _read_label(
    question: Question, view: View, settings: Settings, reply: Reply
) -> tuple[dict[str, Any], str]:
    """A preference with the probability that r2 is better.

    Where the label is asked for alone, its place is the first token and what follows does not matter. With a rationale
    the label must stand alone in its line, the first or the last.
    """
    choices = cells_of(question, view, as_labels=True)[0].choices or {}
    if settings.rationale != "none" and reply.finish_reason in CUT_SHORT:
        raise Unread("truncated", "The reply was cut off at the token limit.")
    rationale = _beside_label(reply.text, choices, settings)
    if not reply.logprobs:
        _unparsed("No log-probabilities came with the reply.")
    place = reply.logprobs[-1 if settings.rationale == "before" else 0]
    verdict = _continuous(_masses(place, choices))
    # The number of a graded preference is a grade, which a probability is not.
    return {question.key: verdict["label"] if question.grades else verdict}, rationale


def _beside_label(text: str, choices: Mapping[str, str], settings: Settings) -> str:
    """The rationale, without the line that is the label."""
    if settings.rationale == "none":
        return ""
    lines = [line.strip() for line in storable(text).splitlines() if line.strip()]
    label = lines[-1 if settings.rationale == "before" else 0] if lines else ""
    labels = [line for line in lines if line.casefold() in {each.casefold() for each in choices}]
    if label not in labels or len(labels) > 1:
        _unparsed("No line is the label alone where it was asked for, or several are.")
    return _rationale(lines[:-1] if settings.rationale == "before" else lines[1:])


def _masses(place: Mapping[str, float], choices: Mapping[str, str]) -> dict[str, float]:
    """Probability per canonical label, adding up to one."""
    stored = {label.casefold(): value for label, value in choices.items()}
    masses = dict.fromkeys(stored.values(), 0.0)
    for token, logprob in place.items():
        label = stored.get(token.strip(BLANKS).casefold())
        if label is None:
            continue
        if not isinstance(logprob, int | float) or not logprob <= 1e-3:  # also refuses NaN
            _unparsed(f"The log-probability {logprob!r} is none.")
        masses[label] += math.exp(logprob)
    total = sum(masses.values())
    if total < MIN_LABEL_MASS:
        _unparsed(f"The labels have {total:.2f} of the probability, and {MIN_LABEL_MASS} is needed.")
    return {label: mass / total for label, mass in masses.items()}


def _continuous(masses: Mapping[str, float]) -> dict[str, Any]:
    most = max(masses.values())
    likeliest = [label for label, mass in masses.items() if mass == most]
    label = likeliest[0] if len(likeliest) == 1 else "tie"
    if masses.keys() | {"tie"} != {"r1", "r2", "tie"}:  # of three responses or more, none is the other
        return {"label": label}
    return {"label": label, "number": min(masses["r2"] + masses.get("tie", 0.0) / 2, 1.0)}


# --- revised drafts -------------------------------------------------------------------------------------------------


def read_revision(stimulus: Stimulus, before: Sequence[Entry], reply: Reply) -> list[Entry]:
    """The entries in a reply to `prompting.build_revision`, with the origins of those that they came from; or Unread.

    A citation is the number of one of the sources that the model was shown: a fragment, or a quotation of `before`.
    """
    _check_ending(reply)
    if reply.finish_reason in CUT_SHORT:
        raise Unread("truncated", "The reply was cut off at the token limit.")
    given = [_with_origins(each, before) for each in _given_entries(storable(reply.text).strip())]
    quoted, fragments = quoted_in(before), fragments_of(stimulus)
    entries, problems = clean_entries(given, fragments + len(quoted), "entries")
    if problems:
        _unparsed("; ".join(map(str, problems))[:500])
    said = [entry for entry in entries if not is_blank(entry)]
    rows = {f"e{number}": entry for number, entry in enumerate(said, 1)}
    origins = {origin for entry in before for origin in entry["origins"]}
    if problems := find_set_problems(rows, origins, "entries"):
        _unparsed("; ".join(map(str, problems)))
    for entry in said:
        entry["citations"] = [
            each if not isinstance(each, int) or each <= fragments else quoted[each - fragments - 1]
            for each in entry["citations"]
        ]
    return said


def _with_origins(given: Mapping[str, Any], before: Sequence[Entry]) -> dict[str, Any]:
    """An entry with all that those had come from which it came from."""
    places: list[int] = given[FROM]
    if not all(1 <= place <= len(before) for place in places):
        _unparsed(f"An entry came from one of {places}, of which there are {len(before)}.")
    origins = [origin for place in places for origin in before[place - 1]["origins"]]
    return {name: given[name] for name in FIELDS} | {"origins": origins}


def _given_entries(text: str) -> list[Any]:
    """The list in {"entries": [...]}, each of whose entries has the four fields, where it is from, and nothing else."""
    fenced = FENCE.fullmatch(text)
    try:
        data = json.loads(fenced[1] if fenced else text, object_pairs_hook=_object, parse_constant=_no_number)
        entries: list[Any] = data["entries"]
        if data.keys() != {"entries"} or not all(each.keys() == {*FIELDS, FROM} for each in entries):
            raise ValueError("other names than asked for")
        if not all(type(each) is int for entry in entries for each in entry["citations"] + entry[FROM]):
            raise TypeError("a citation is a number, and so is an entry that another came from")
    except KeyError:
        return _unparsed('The reply is JSON without "answers".')
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        return _unparsed(f"The reply is not the JSON object that was asked for: {str(error)[:100]}.")
    return entries
