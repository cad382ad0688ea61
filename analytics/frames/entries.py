"""Sets of entries: as answers that can be counted (what became of each drafted entry, and what the sets are made of),
and as responses whose entries are measured."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import TypeAlias

import numpy as np
from django.db.models.fields.json import KeyTransform

from analytics.frames.arrays import SetPairs, SetsByItem
from analytics.frames.rows import Asked, StudyRows, places
from analytics.statistics.core.tidy import Floats, Ints
from analytics.statistics.entries.calibrators import distance_from_draft, matched_f1
from analytics.statistics.entries.entry_sets import ADDED, DRAFTED, REVISED, compose
from evaluation.models import AnswerText, Item
from evaluation.protocols import Kind, QuestionSpec
from evaluation.protocols.base import Stimulus
from evaluation.protocols.entries.comparison import shared_words, words_of
from evaluation.protocols.entries.sets import (
    Decision,
    Entry,
    decisions,
    drafted_entries,
    read_entry,
)

LABELS = {
    Decision.ACCEPTED: "Accepted",
    Decision.EDITED: "Edited",
    Decision.MERGED: "Merged",
    Decision.REJECTED: "Rejected",
}
# A rater's pseudonym, and a set of theirs.
_SetOf: TypeAlias = tuple[str, Sequence[Entry]]
# What of a set is counted besides, after the question's key and a dot, which no key of a question holds.
SIZE, OF_ADDED, OF_REVISED, DISTANCE = ("size", "added", "revised", "distance")


def name_of(question: QuestionSpec, what: str) -> str:
    """Under which name answers of a set's own are kept beside the questions'."""
    return f"{question.key}.{what}"


def decision_question(question: QuestionSpec) -> QuestionSpec:
    """The decisions about drafted entries as a choice: its parts are "e2.r1", the second entry of the first draft."""
    options = {
        **{str(decision): label for decision, label in LABELS.items()},
        "form": {"choices": [str(decision) for decision in Decision]},
    }
    return QuestionSpec(question.key, Kind.CHOICE, question.prompt, options=options)


@dataclass(frozen=True, eq=False)
class EntrySets:
    """The sets that answer a question, in the order that was settled on, and what their items had drafted: both by the
    row of the judgment."""

    question: QuestionSpec
    settled: Mapping[int, Sequence[Entry]]
    drafts: Mapping[int, Stimulus]


def read_sets(rows: StudyRows, question: QuestionSpec) -> EntrySets:
    items: Ints = rows.judgments["item"].to_numpy()
    settled = _settled(rows, question)
    drafts = _drafts(rows.item_pks[sorted({int(items[row]) for row in settled})].tolist())
    return EntrySets(question, settled, {row: drafts[int(rows.item_pks[items[row]])] for row in settled})


def count_sets(sets: EntrySets) -> dict[str, Asked]:
    """Decisions by the question's key, and what sets are made of by `name_of`."""
    return {sets.question.key: _decisions(sets), **_composition(sets)}


def sets_by_item(rows: StudyRows, sets: EntrySets) -> SetsByItem:
    items: Ints = rows.judgments["item"].to_numpy()
    raters: Ints = rows.judgments["rater"].to_numpy()
    by_item: dict[int, dict[str, Sequence[Entry]]] = {}
    for row, entries in sets.settled.items():
        # Of a judge that was asked several times, its first set.
        rater = rows.raters[int(raters[row])].pseudonym
        by_item.setdefault(int(items[row]), {}).setdefault(rater, entries)
    return by_item


def pair_sets(sets: SetsByItem) -> SetPairs:
    """Every two sets of one item by different raters, compared by their conditions."""
    return _compared((item, pair) for item, given in sets.items() for pair in combinations(given.items(), 2))


def pair_sets_with(sets: SetsByItem, others: SetsByItem) -> SetPairs:
    """Each set of an item with each of the others' of the same item, compared by their conditions."""
    return _compared(
        (item, pair)
        for item, given in sets.items()
        for pair in product(given.items(), others.get(item, {}).items())
    )


def _compared(pairs: Iterable[tuple[int, tuple[_SetOf, _SetOf]]]) -> SetPairs:
    made = [
        (item, one, other, *matched_f1(_similarity(its, others)))
        for item, ((one, its), (other, others)) in pairs
    ]
    return SetPairs(
        item=np.array([each[0] for each in made], dtype=np.int64),
        one=np.array([each[1] for each in made], dtype=object),
        other=np.array([each[2] for each in made], dtype=object),
        matched=np.array([each[3] for each in made], dtype=np.float64),
        alike=np.array([each[4] for each in made], dtype=np.float64),
    )


def measure_distances(sets: EntrySets) -> Asked:
    """Distance of each set from what was drafted, of items with a draft."""
    measured = {
        row: distance_from_draft(_beside_drafts(entries, sets.drafts[row]))
        for row, entries in sets.settled.items()
        if drafted_entries(sets.drafts[row])
    }
    judgments = np.array(list(measured), dtype=np.int64)
    return _asked(sets.question, DISTANCE, judgments, np.array(list(measured.values()), dtype=np.float64))


def _similarity(one: Sequence[Entry], other: Sequence[Entry]) -> Floats:
    """Shared words of every two conditions, twice those in common over those of both (Dice)."""
    similarity = [[shared_words(a["condition"], b["condition"]) for b in other] for a in one]
    return np.array(similarity, dtype=np.float64).reshape(len(one), len(other))


def _beside_drafts(entries: Sequence[Entry], stimulus: Stimulus) -> Iterator[tuple[list[str], list[str]]]:
    """Each settled entry's words with those of the drafted ones it came from; of one draft, also what was rejected.

    Of several drafts what nothing came from is left out: they say the same several times.
    """
    drafted = drafted_entries(stimulus)
    used: set[str] = set()
    for entry in entries:
        origins = [origin for origin in entry["origins"] if origin in drafted]
        used.update(origins)
        yield _words_of(entry), [word for origin in origins for word in _words_of(drafted[origin])]
    if len(stimulus["responses"]) == 1:
        yield from (([], _words_of(entry)) for origin, entry in drafted.items() if origin not in used)


def _words_of(entry: Entry) -> list[str]:
    return words_of(" ".join([entry["condition"], *entry["answers"]]))


def _settled(rows: StudyRows, question: QuestionSpec) -> dict[int, list[Entry]]:
    texts = AnswerText.objects.filter(rows.counting("judgment__"), question=question.key)
    stored = list(texts.order_by("judgment_id").values_list("judgment_id", "part", "text"))
    at, known = places(rows.judgment_pks, np.array([each[0] for each in stored], dtype=np.int64))
    sets: dict[int, list[tuple[int, Entry]]] = {}
    for row, (_, part, text), there in zip(at.tolist(), stored, known.tolist(), strict=True):
        if there:
            sets.setdefault(row, []).append((int(part.removeprefix("e")), read_entry(text)))
    in_order = {row: sorted(entries, key=lambda each: each[0]) for row, entries in sorted(sets.items())}
    return {row: [entry for _, entry in entries] for row, entries in in_order.items()}


def _decisions(sets: EntrySets) -> Asked:
    codes = {decision: code for code, decision in enumerate(Decision)}
    made = [
        (row, _part(origin), codes[decision])
        for row, entries in sets.settled.items()
        for origin, decision in decisions(sets.drafts[row], entries).items()
    ]
    parts = sorted(
        {part for _, part, _ in made}, key=lambda part: [int(each[1:]) for each in part.split(".")]
    )
    place = {part: at for at, part in enumerate(parts)}
    return Asked(
        decision_question(sets.question),
        tuple(parts),
        np.array([row for row, _, _ in made], dtype=np.int64),
        np.array([place[part] for _, part, _ in made], dtype=np.int64),
        np.array([code for _, _, code in made], dtype=np.float64),
    )


def _part(origin: str) -> str:
    """The response's place stands last in the names of parts ("e2.r1" of the origin "r1.e2")."""
    return ".".join(reversed(origin.split(".")))


def _drafts(pks: Sequence[int]) -> dict[int, Stimulus]:
    """The part of each item's stimulus that says which entries were drafted."""
    responses = KeyTransform("responses", "stimulus")
    found: dict[int, Stimulus] = {}
    for at in range(0, len(pks), 500):
        asked = Item.objects.filter(pk__in=pks[at : at + 500])
        found |= {pk: {"responses": drafted} for pk, drafted in asked.values_list("pk", responses)}
    return found


def _composition(sets: EntrySets) -> dict[str, Asked]:
    rows = [(row, _origin(entry)) for row, entries in sets.settled.items() for entry in entries]
    made = compose(
        np.array([row for row, _ in rows], dtype=np.int64),
        np.array([kind for _, kind in rows], dtype=np.int64),
    )
    columns = {SIZE: made.size, OF_ADDED: made.added, OF_REVISED: made.revised}
    return {
        name_of(sets.question, what): _asked(sets.question, what, made.judgment, column.astype(np.float64))
        for what, column in columns.items()
    }


def _origin(entry: Entry) -> int:
    if any(origin.startswith("r") for origin in entry["origins"]):
        return DRAFTED
    return REVISED if entry["origins"] else ADDED


def _asked(question: QuestionSpec, what: str, judgment: Ints, value: Floats) -> Asked:
    number = QuestionSpec(name_of(question, what), Kind.SCALE, question.prompt)
    return Asked(number, ("",), judgment, np.zeros(len(judgment), dtype=np.int64), value)
