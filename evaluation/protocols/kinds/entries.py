"""Entries: a set of conditions with answers and citations (`evaluation.protocols.entries.sets`)."""

from collections.abc import Mapping
from typing import Any

from evaluation.protocols.base import AnswerValue, Problem, QuestionSpec, Source, Stimulus
from evaluation.protocols.entries.form import read_form
from evaluation.protocols.entries.sets import (
    clean_entries,
    clean_entry,
    drafted_entries,
    find_set_problems,
    fragments_of,
    write_entry,
)
from evaluation.protocols.kinds.base import BadValue, QuestionKind


class EntriesKind(QuestionKind):
    key = "entries"
    storage = "text"
    form = "entries"

    def clean(
        self, question: QuestionSpec, stimulus: Stimulus, value: Any, source: Source
    ) -> list[AnswerValue]:
        """An answer per entry of a set: from a form its rows (`read_form`), else a list of entries."""
        fragments = fragments_of(stimulus)
        if source == "form":
            if not isinstance(value, Mapping):
                raise BadValue(Problem("not_a_mapping", question.key))
            rows, problems = read_form(question.key, value)
            entries = {}
            for row, given in rows.items():
                entries[row], wrong = clean_entry(given, fragments, f"{question.key}.{row}")
                problems += wrong
        else:
            found, problems = clean_entries(value, fragments, question.key)
            entries = {f"e{number}": entry for number, entry in enumerate(found, 1)}
        problems = problems or find_set_problems(entries, drafted_entries(stimulus), question.key)
        if source == "form" and not entries and not question.required:
            return []
        if problems:
            raise BadValue(*problems)
        return [
            AnswerValue(question.key, question.kind, f"e{number}", text=write_entry(entry))
            for number, entry in enumerate(entries.values(), 1)
        ]
