"""A set of condition-answer-citation entries as its partials draw it: a card per entry, and what it can come from.

Every drafted entry, every entry of a set to be settled and every entry of a model's revision has a row of the form.
A row that is only offered is shown where it comes from and hidden in the set; taking it over is a change of `keep`.
"""

import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext

from evaluation.forms.documents import read_documents
from evaluation.forms.entry_shapes import (
    CitationBox,
    EntryRow,
    EntrySet,
    Offer,
    QuotationField,
    RoundCard,
    SetCell,
    SetHead,
    SetLine,
    TextPiece,
)
from evaluation.forms.fields.screen_input import ScreenInput
from evaluation.forms.input.posted_fields import LOOK
from evaluation.forms.problems import sentence_for
from evaluation.forms.shapes import Field, SummaryLine
from evaluation.protocols import Kind, QuestionSpec
from evaluation.protocols.entries.comparison import AlignedEntries, compare_sets, mark_differences
from evaluation.protocols.entries.form import (
    KEEP,
    REJECT,
    UNDECIDED,
    apply_merges,
    fields_of,
    order_rows,
    read_row,
    read_rows,
)
from evaluation.protocols.entries.sets import (
    FIELDS,
    MAX_ENTRIES,
    Entry,
    Quotation,
    add_origins,
    clean_entry,
    drafted_sets,
    is_blank,
    same_content,
)

# Blank rows for those without scripts.
SPARE = 2
# Rows of the model's first revision begin at e101, those of the second at e201: whatever is added stands below.
PER_ROUND = 100
# Of a condition, so much is its entry's name where it is spoken of.
BRIEF = 60
# Letters in a line of a card, roughly: a field is as high as its text, and no higher than this many lines.
LINE = 76
HIGHEST = 14
# What a hidden row of the script's template is called until it has a number.
BLANK_ROW = "eN"

Raw = dict[str, str]


def build_entries(field: Field, question: QuestionSpec, page: ScreenInput, value: Any) -> None:
    """The rows that were sent, and those of drafts and revisions that were not."""
    titles = [each["title"] for each in read_documents(page.stimulus["query"]["documents"])]
    sets = drafted_sets(page.stimulus)
    rounds = page.drafting["rounds"] if page.drafting else []
    revisions = {f"m{each['number']}": _read_revision(each["number"], each["after"]) for each in rounds}
    sources = {entry["origins"][0]: entry for each in (*sets.values(), *revisions.values()) for entry in each}
    builder = _Rows(question, page, titles, sources, settles=len(sets) > 1)
    rows = builder.build(_read_rows(value), sets, revisions)
    ids = _ids(rows)
    field["entries"] = {
        "name": escape(question.key),
        "settles": len(sets) > 1,
        "rows": rows,
        "spare": builder.spare(rows),
        "blank": builder.draw(BLANK_ROW, {"keep": KEEP}, len(rows) + 1),
        "look": LOOK,
        "sets": builder.heads(sets),
        "lines": list(builder.lines(sets, ids)),
        "rounds": [_round(each, revisions[f"m{each['number']}"], ids) for each in rounds],
        "drafting": page.drafting,
        "is_waiting": any(each["state"] == "waiting" for each in rounds),
        "still_open": _still_open(rows),
        "acts": json.dumps(page.trace.get(question.key, []), separators=(",", ":")),
        "words": json.dumps(_words(), ensure_ascii=False),
    }


def entry_lines(entries: EntrySet) -> Iterator[SummaryLine]:
    """Problems of entries, a line each, for the summary."""
    for row in entries["rows"]:
        name = gettext("Entry %(number)s:") % {"number": row["number"]}
        for text in row["errors"]:
            yield {"href": f"#{row['id']}", "text": f"{name} {text}"}


def _ids(rows: Sequence[EntryRow]) -> dict[str, str]:
    """The row of each drafted entry: its own, or the one that it was merged into."""
    merged = {origin: row["key"] for row in rows for origin in row["origins"].split()}
    return merged | {row["origins"]: row["key"] for row in rows if row["home"]}


def _read_revision(number: int, after: Sequence[Any]) -> list[Entry]:
    return add_origins([clean_entry(each, None, "")[0] for each in after], f"m{number}")


def _read_rows(value: Any) -> dict[str, Raw]:
    """The rows of a form or a draft in their order, with those merged that were to be; without those that say nothing
    and came from nowhere."""
    rows, _ = read_rows("", value if isinstance(value, Mapping) else {})
    said = {
        key: row
        for key, row in apply_merges(rows).items()
        if row.get("origins", "").strip() or not is_blank(read_row(row))
    }
    return {key: said[key] for key in order_rows(said)}


class _Rows:
    """The rows of one question; `sources` are all entries that a row can come from, by name."""

    def __init__(
        self,
        question: QuestionSpec,
        page: ScreenInput,
        titles: Sequence[str],
        sources: Mapping[str, Entry],
        *,
        settles: bool,
    ) -> None:
        self.key = escape(question.key)
        self.page = page
        self.titles = titles
        self.sources = sources
        # Of several sets nothing is in the settled one before it is taken over.
        self.settles = settles
        parts = [card["part"] for card in page.cards]
        self.set_names = {part: gettext("Set %(number)s") % {"number": n} for n, part in enumerate(parts, 1)}

    def build(
        self, sent: dict[str, Raw], sets: Mapping[str, list[Entry]], revisions: Mapping[str, list[Entry]]
    ) -> list[EntryRow]:
        """The rows that were sent, in their order, then those that are offered and were not sent."""
        rows = dict(sent)
        known = {origin for row in rows.values() for origin in row.get("origins", "").split()}
        numbers = {name: n for n, name in enumerate(name for name in self.sources if name[0] == "r")}
        for entry in (entry for part in self.set_names for entry in sets[part]):
            if entry["origins"][0] not in known:
                # Who sent some rows and not this one has rejected it, or not taken it over.
                keep = REJECT if self.settles or sent else UNDECIDED
                rows[_free(rows, numbers[entry["origins"][0]] + 1)] = fields_of(entry, keep)
        # Rounds that failed have no rows, and there can be many.
        for number, entries in enumerate(filter(None, revisions.values()), 1):
            for at, entry in enumerate(entries, 1):
                if entry["origins"][0] not in known:
                    rows[_free(rows, number * PER_ROUND + at)] = fields_of(entry, REJECT)
        drawn = [self.draw(key, row, len(rows) + SPARE) for key, row in rows.items()]
        for place, each in enumerate(drawn, 1):
            each["place"] = place
        _say(drawn)
        return drawn

    def spare(self, rows: Sequence[EntryRow]) -> list[EntryRow]:
        taken = {row["key"] for row in rows}
        spare = []
        for place in range(len(rows) + 1, len(rows) + SPARE + 1):
            key = _free(taken, place)
            taken.add(key)
            row = self.draw(key, {"keep": KEEP}, len(rows) + SPARE)
            row["place"], row["number"] = place, str(place)
            spare.append(row)
        return spare

    def draw(self, key: str, row: Raw, n_places: int) -> EntryRow:
        name = SafeString(f"{self.key}.{escape(key)}")
        entry = read_row(row)
        origins = entry["origins"]
        drafted = self.sources.get(origins[0]) if len(origins) == 1 else None
        home = origins[0].partition(".")[0] if len(origins) == 1 else ""
        keep = row.get("keep", KEEP)
        quoted = [each for each in entry["citations"] if not isinstance(each, int)]
        return {
            "key": key,
            "name": name,
            "id": SafeString(f"q-{name}"),
            "number": "",
            "condition": row.get("condition", ""),
            "answers": row.get("answers", ""),
            "reason": row.get("reason", ""),
            "heights": {each: _height(row.get(each, "")) for each in ("condition", "answers", "reason")},
            "cites": list(self._cites(name, {each for each in entry["citations"] if isinstance(each, int)})),
            "quoted": [_quotation(each) for each in quoted],
            "quotations": json.dumps(quoted, ensure_ascii=False) if quoted else "",
            "origins": " ".join(origins),
            "source": self._source(origins),
            "home": home,
            "drafted": _comparable(drafted) if drafted else "",
            "keep": keep,
            "merges": bool(row.get("merge")),
            "status": _status(keep, entry, drafted),
            "says": "",
            "brief": _brief(entry),
            "is_offered": keep == REJECT and bool(home) and (home[0] == "m" or self.settles),
            "places": list(range(1, n_places + 1)),
            "place": 0,
            "errors": self._errors(key),
        }

    def _cites(self, name: str, cited: set[int]) -> Iterator[CitationBox]:
        for number, title in enumerate(self.titles, 1):
            cite = SafeString(f"{name}.cite.{number}")
            yield {
                "name": cite,
                "id": SafeString(f"q-{cite}"),
                "number": number,
                "title": title,
                "checked": number in cited,
            }

    def _errors(self, key: str) -> list[str]:
        """Problems of the entry or one of its fields."""
        wrong = (
            sentence_for(text, Kind.ENTRIES)
            for where, text in self.page.errors.items()
            if f"{where}.".startswith(f"{self.key}.{key}.")
        )
        return list(dict.fromkeys(wrong))

    def _source(self, origins: Sequence[str]) -> str:
        """The name of a row's draft; empty where there is only one draft."""
        if len(origins) != 1:
            return ""
        home, _, number = origins[0].partition(".e")
        if home[0] == "m":
            return gettext("Revision %(number)s, entry %(entry)s") % {"number": home[1:], "entry": number}
        if self.settles and home in self.set_names:
            return gettext("%(set)s, entry %(entry)s") % {"set": self.set_names[home], "entry": number}
        return ""

    def heads(self, sets: Mapping[str, list[Entry]]) -> list[SetHead]:
        return [
            {"part": part, "name": name, "count": len(sets[part])} for part, name in self.set_names.items()
        ]

    def lines(self, sets: Mapping[str, list[Entry]], ids: Mapping[str, str]) -> Iterator[SetLine]:
        """The sets side by side, in the order in which they are shown; of one set its entries."""
        names = list(self.set_names.values())
        for line in compare_sets([sets[part] for part in self.set_names]):
            cells: list[SetCell] = []
            for name, entry in zip(names, line.entries, strict=True):
                beside = next((each for each in line.entries if each is not None and each is not entry), None)
                cells.append({"name": name, "offer": _offer(entry, beside, ids) if entry else None})
            yield {"says": _difference(line, names), "is_agreed": line.agreed, "cells": cells}


def _free(rows: Container[str], number: int) -> str:
    while f"e{number}" in rows:
        number += 1
    return f"e{number}"


def _height(text: str) -> int:
    return min(HIGHEST, max(1, sum(1 + len(line) // LINE for line in text.splitlines())))


def _quotation(quoted: Quotation) -> QuotationField:
    title = quoted["title"] or Truncator(quoted["text"]).chars(BRIEF)
    return {"title": title, "json": json.dumps(quoted, ensure_ascii=False)}


def _brief(entry: Entry) -> str:
    words = " ".join((entry["condition"] or " ".join(entry["answers"])).split())
    return Truncator(words).chars(BRIEF)


def _comparable(entry: Entry) -> str:
    """The original with which the page's script compares an entry, field by field."""
    return json.dumps(
        [entry["condition"], entry["answers"], entry["citations"], entry["reason"]], ensure_ascii=False
    )


def _status(keep: str, entry: Entry, drafted: Entry | None) -> str:
    if keep == REJECT:
        return "rejected" if entry["origins"] else "removed"
    if not entry["origins"]:
        return "added"
    if len(entry["origins"]) > 1:
        return "merged"
    if keep == KEEP:
        return "accepted" if drafted and same_content(entry, drafted) else "edited"
    return "draft"


def _say(rows: list[EntryRow]) -> None:
    """Set the rows' numbers and statuses in words; a merged row names the one it was merged into."""
    words = _words()
    number = 0
    owners: dict[str, str] = {}
    for row in rows:
        if row["keep"] != REJECT:
            number += 1
            row["number"] = str(number)
            owners |= dict.fromkeys(row["origins"].split(), row["number"])
    for row in rows:
        if row["status"] == "rejected" and all(origin in owners for origin in row["origins"].split()):
            row["status"], row["is_offered"] = "gone", False
        row["says"] = words[row["status"]].replace("{n}", owners.get(row["origins"].partition(" ")[0], ""))


def _still_open(rows: Iterable[EntryRow]) -> int:
    kept = [row for row in rows if row["keep"] != REJECT]
    return sum(row["keep"] != KEEP for row in kept) + (not kept)


def _words() -> dict[str, str]:
    """The script's messages; the statuses by their names."""
    return {
        "draft": gettext("Draft"),
        "accepted": gettext("Accepted"),
        "edited": gettext("Edited"),
        "merged": gettext("Merged"),
        "added": gettext("Added"),
        "rejected": gettext("Rejected"),
        "removed": gettext("Removed"),
        "gone": gettext("Merged into entry {n}"),
        "entry": gettext("Entry {n}"),
        "blank": gettext("nothing written yet"),
        "citing": gettext("Citing for entry {n}"),
        "citing_none": gettext("Add an entry before you cite a fragment"),
        "take": gettext("Take this entry"),
        "taken": gettext("Taken as entry {n}"),
        "cite": gettext("Cite"),
        "cited": gettext("Cited"),
        "moved": gettext("Entry {n} of {all}"),
        "said": gettext("Entry {n}: {says}"),
        "said_gone": gettext("{says}: {brief}"),
        "now_cites": gettext("Entry {n} cites fragment {fragment}"),
        "no_longer": gettext("Entry {n} no longer cites fragment {fragment}"),
        "no_fragment": gettext("There is no fragment {fragment}"),
        "full": gettext("There can be no more than %(limit)s entries.") % {"limit": MAX_ENTRIES},
        "asking": gettext(
            "The model is working. This takes up to a minute; continue with your entries meanwhile."
        ),
        "answered": gettext("The model has answered. Its draft is below."),
        "failed": gettext("That did not work. Please try again."),
        "unseen": gettext(
            "The model's answer could not be loaded. Please reload this page to see whether it is there."
        ),
    }


def _offer(entry: Entry, beside: Entry | None, ids: Mapping[str, str]) -> Offer:
    """An entry to take over; what the one beside it lacks is marked."""
    cited = {_cite_text(each) for each in beside["citations"]} if beside else None
    return {
        "row": ids.get(entry["origins"][0], ""),
        "label": _brief(entry),
        "condition": _pieces(entry["condition"], beside["condition"] if beside else None),
        "answers": [_pieces(answer, _nearest(answer, beside)) for answer in entry["answers"]],
        "citations": [
            {"text": text, "differs": cited is not None and text not in cited}
            for text in map(_cite_text, entry["citations"])
        ],
        "reason": _pieces(entry["reason"], beside["reason"] if beside else None),
    }


def _pieces(text: str, other: str | None) -> list[TextPiece]:
    if other is None:
        return [{"text": text, "differs": False}] if text else []
    return [{"text": piece, "differs": differs} for piece, differs in mark_differences(text, other)]


def _nearest(answer: str, beside: Entry | None) -> str | None:
    """The other answer with the most words in common."""
    if beside is None:
        return None
    words = set(answer.split())
    return max(beside["answers"], key=lambda each: len(words & set(each.split())), default="")


def _cite_text(citation: Any) -> str:
    return str(citation) if isinstance(citation, int) else str(citation["title"] or citation["text"])


def _difference(line: AlignedEntries, names: Sequence[str]) -> str:
    """A sentence about how the entries of a line differ."""
    if line.agreed:
        return gettext("All sets say the same")
    there = [name for name, entry in zip(names, line.entries, strict=True) if entry is not None]
    if len(there) == 1:
        return gettext("Only in %(set)s") % {"set": there[0]}
    words = {
        "condition": gettext("condition"),
        "answers": gettext("answers"),
        "citations": gettext("citations"),
        "reason": gettext("reason"),
    }
    fields = ", ".join(words[each] for each in FIELDS if each in line.differs)
    if not fields:
        return gettext("The same in %(sets)s") % {"sets": ", ".join(there)}
    return gettext("They differ in: %(fields)s") % {"fields": fields}


def _round(each: Mapping[str, Any], entries: Sequence[Entry], ids: Mapping[str, str]) -> RoundCard:
    return {
        "number": each["number"],
        "part": f"m{each['number']}",
        "state": each["state"],
        "instruction": each["instruction"],
        "problem": each["problem"],
        "offers": [_offer(entry, None, ids) for entry in entries],
    }
