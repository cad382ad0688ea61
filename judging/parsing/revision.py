"""A model's revision of drafted entries."""

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.protocols.base import Stimulus
from evaluation.protocols.entries.sets import (
    FIELDS,
    Entry,
    clean_entries,
    find_set_problems,
    fragments_of,
    is_blank,
)
from judging.backends.base import Reply
from judging.parsing.json_values import load_json
from judging.parsing.rejection import reject, require_answer, require_complete
from judging.parsing.wrappers import said_in
from judging.prompting.revision import quotations
from judging.prompting.wording import ORIGINS_FIELD


def read_revision(stimulus: Stimulus, before: Sequence[Entry], reply: Reply) -> list[Entry]:
    """The entries in a reply to `judging.prompting.revision.build_revision`, with their origins; or ReplyRejected.

    A citation is the number of one of the sources that the model was shown: a fragment, or a quotation of `before`.
    """
    require_answer(reply)
    require_complete(reply)
    given = [_with_origins(each, before) for each in _given_entries(said_in(reply))]
    quoted, fragments = quotations(before), fragments_of(stimulus)
    entries, problems = clean_entries(given, fragments + len(quoted), "entries")
    if problems:
        reject("; ".join(map(str, problems))[:500])
    said = [entry for entry in entries if not is_blank(entry)]
    rows = {f"e{number}": entry for number, entry in enumerate(said, 1)}
    origins = {origin for entry in before for origin in entry["origins"]}
    if problems := find_set_problems(rows, origins, "entries"):
        reject("; ".join(map(str, problems)))
    for entry in said:
        entry["citations"] = [
            each if not isinstance(each, int) or each <= fragments else quoted[each - fragments - 1]
            for each in entry["citations"]
        ]
    return said


def _with_origins(given: Mapping[str, Any], before: Sequence[Entry]) -> dict[str, Any]:
    """An entry with all that those had come from which it came from."""
    places: list[int] = given[ORIGINS_FIELD]
    if not all(1 <= place <= len(before) for place in places):
        reject(f"An entry came from one of {places}, of which there are {len(before)}.")
    origins = [origin for place in places for origin in before[place - 1]["origins"]]
    return {name: given[name] for name in FIELDS} | {"origins": origins}


def _given_entries(text: str) -> list[Any]:
    """The list in {"entries": [...]}, each of whose entries has the four fields, where it is from, and nothing else."""
    try:
        data = load_json(text)
        entries: list[Any] = data["entries"]
        if data.keys() != {"entries"} or not all(each.keys() == {*FIELDS, ORIGINS_FIELD} for each in entries):
            raise ValueError("other names than asked for")
        if not all(
            type(each) is int for entry in entries for each in entry["citations"] + entry[ORIGINS_FIELD]
        ):
            raise TypeError("a citation is a number, and so is an entry that another came from")
    except KeyError:
        return reject('The reply is JSON without "answers".')
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        return reject(f"The reply is not the JSON object that was asked for: {str(error)[:100]}.")
    return entries
