"""The dictionaries from which templates draw a set of entries."""

from typing import Any, TypedDict


class CitationBox(TypedDict):
    """A fragment that an entry may cite; its box is ticked where it does."""

    name: str
    id: str
    number: int
    title: str
    checked: bool


class QuotationField(TypedDict):
    """A citation of something other than a fragment: its name, and the whole of it as JSON."""

    title: str
    json: str


class EntryRow(TypedDict):
    """An entry as its card draws it; `name` begins the names of its fields, `id` their ids.

    `keep` is "1", "0" or "" where nobody has decided yet. `home` is the draft that it came from alone ("r1", "m2"),
    `drafted` what it said there, as JSON, and `source` where that was, in words. `is_offered`: it is not in the set,
    and can be taken over from where it is shown.
    """

    key: str
    name: str
    id: str
    number: str
    condition: str
    answers: str
    reason: str
    # How high its fields are, in lines.
    heights: dict[str, int]
    cites: list[CitationBox]
    quoted: list[QuotationField]
    quotations: str
    origins: str
    source: str
    home: str
    drafted: str
    keep: str
    # To be merged with the one above, which there is none of.
    merges: bool
    status: str
    says: str
    brief: str
    is_offered: bool
    places: list[int]
    place: int
    errors: list[str]


class TextPiece(TypedDict):
    """A part of a text, and whether the set beside it lacks it."""

    text: str
    differs: bool


class Offer(TypedDict):
    """An entry as it is shown to be taken over: `row` is the one that stands for it in the form."""

    row: str
    label: str
    condition: list[TextPiece]
    answers: list[list[TextPiece]]
    citations: list[TextPiece]
    reason: list[TextPiece]


class SetCell(TypedDict):
    """One set's cell in a line of the comparison."""

    name: str
    offer: Offer | None


class SetLine(TypedDict):
    """Entries of several sets that are about the same; `says` how they differ."""

    says: str
    is_agreed: bool
    cells: list[SetCell]


class SetHead(TypedDict):
    """One of the sets side by side."""

    part: str
    name: str
    count: int


class RoundRecord(TypedDict):
    """A round with a model as it is kept; `after` are the revised entries."""

    number: int
    state: str
    instruction: str
    after: list[Any]
    problem: str


class ModelRevisions(TypedDict):
    """The model that can be asked for a revised draft ("" for none), its address, requests left, and rounds so far.

    `instruction` is what has been written and not sent, `look` where the page is loaded anew without losing anything,
    `page` where it is found, whatever address a refused form has left it at.
    """

    name: str
    revise: str
    rounds_url: str
    look: str
    page: str
    left: int
    instruction: str
    rounds: list[RoundRecord]


class RoundCard(TypedDict):
    """One request to the model, with its result."""

    number: int
    part: str
    state: str
    instruction: str
    problem: str
    offers: list[Offer]


class EntrySet(TypedDict):
    """Further parts of a question of kind `entries`: its rows, the sets that they may come from, and the model.

    `settles`: there are several sets, of which one is to be made. `spare` are the blank rows that stand there for
    those without scripts, `blank` what scripts copy. `still_open` counts what is undecided, and one more where there
    is no entry; `acts` and `words` are JSON for the page's script. `look` names the button that shows what is filled in
    once more.
    """

    name: str
    look: str
    settles: bool
    rows: list[EntryRow]
    spare: list[EntryRow]
    blank: EntryRow
    sets: list[SetHead]
    lines: list[SetLine]
    rounds: list[RoundCard]
    drafting: ModelRevisions | None
    is_waiting: bool
    still_open: int
    acts: str
    words: str
