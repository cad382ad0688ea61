"""The dictionaries from which templates draw a screen."""

from typing import Any, NotRequired, TypedDict

from evaluation.forms.entry_shapes import EntrySet


class Option(TypedDict):
    """A radio button or a box; `attributes` is all that its tag holds, ready and escaped.

    `about` says what a choice means.
    """

    attributes: str
    label: str
    id: str
    key: str
    checked: bool
    about: NotRequired[str]


class ChecklistCell(TypedDict):
    """One part of a checklist, as one follow-up and one response: a choice between the checklist's options."""

    name: str
    who: str
    who_id: str
    options: list[Option]
    error: str


class ChecklistRow(TypedDict):
    id: str
    number: str
    question: str
    answer: str
    cells: list[ChecklistCell]


class RankingEntry(TypedDict):
    """One response in a ranking; `name` and `places` are of the select with which scripts are not needed."""

    part: str
    name: str
    id: str
    label: str
    html: str
    rank: str
    tied: bool
    places: list[str]


class RankingList(TypedDict):
    """Further parts of a ranking: its entries from first to last, and its hidden fields."""

    entries: list[RankingEntry]
    name: str
    start: str
    confirmed: bool
    moves: str
    ties: bool


class ScalePoint(Option):
    """One point of a scale, with its label, if it has one."""

    number: str


class ScaleGroup(TypedDict):
    """One part that a question is about, and the points or choices to choose from, or the text so far.

    `who` is what the part is called; `head` what it belongs to, as an attribute to its value. `id` is of its first
    input.
    """

    name: str
    id: str
    part: str
    who: str
    who_id: str
    head: str
    head_id: str
    options: list[Any]
    value: str
    error: str


class PointMeaning(TypedDict):
    number: str
    label: str
    text: str


class ScaleLayout(TypedDict):
    """The layout of a scale's points in all its groups: classes, labelled points, and their meanings."""

    by_response: bool
    classes: str
    worded: bool
    ends: list[PointMeaning]
    meanings: list[PointMeaning]


class Field(TypedDict):
    """A question as its partial draws it; `options`, `rows`, `groups`, `points`, `value` as its kind needs them."""

    key: str
    id: str
    # How it is answered, and what it is about (`QuestionKind.form`, `evaluation.protocols.Over`).
    form: str
    over: str
    template: str
    prompt: str
    help: str
    required: bool
    error: str
    options: list[Option]
    heads: list["Card"]
    rows: list[ChecklistRow]
    groups: list[ScaleGroup]
    points: ScaleLayout | None
    value: str
    ranked: NotRequired[RankingList]
    # Of a text: what its hidden field says of pasting, empty until a script counts.
    moves: NotRequired[str]
    # Of a graded preference: the names at its two ends.
    sides: NotRequired[list[str]]
    # A text of fewer characters is refused; 0 where none is.
    least: NotRequired[int]
    # The same of a question that was frozen when that was a hint alone.
    hinted: NotRequired[int]
    # Of boxes: that none of them holds must be ticked.
    none: NotRequired[bool]
    entries: NotRequired[EntrySet]
    # Drawn with others in the cards of `Screen["follow_ups"]`.
    in_cards: NotRequired[bool]


class ResponseScale(TypedDict):
    """A question's scale or choices for one response, or another part that it is drawn beside."""

    field: Field
    group: ScaleGroup


class Card(TypedDict):
    """A response as it is shown; `tally` names the checklist whose total stands in its head, if there is one.

    `scales` are those of the questions that are asked once of every response, `claims` what is asked of each claim.
    """

    part: str
    name: str
    html: str
    tally: str
    met: str
    scales: list[ResponseScale]
    claims: NotRequired[list["ClaimLine"]]


class ClaimLine(TypedDict):
    """A claim of a response, with what is asked of it."""

    part: str
    text: str
    asked: list[ResponseScale]


class ReplyCell(TypedDict):
    """A response's reply in one turn, with what is asked of it."""

    part: str
    name: str
    html: str
    asked: list[ResponseScale]


class TurnLine(TypedDict):
    """A turn of a conversation: what was said, the replies side by side, and what is asked of the turn."""

    part: str
    number: int
    label: str
    said: str
    html: str
    replies: list[ReplyCell]
    asked: list[ResponseScale]


class SourceText(TypedDict):
    """The text that responses are held against, under its name in the study."""

    name: str
    html: str


class Document(TypedDict):
    """A reference document; `url` is empty unless it leads to a web page."""

    title: str
    url: str
    site: str
    text: str


class SummaryLine(TypedDict):
    href: str
    text: str


class FollowUp(TypedDict):
    """A follow-up question with its answers, and the checks that are asked of it."""

    part: str
    number: int
    question: str
    answers: list[str]
    checks: list[tuple[Field, ChecklistCell]]


class Screen(TypedDict):
    template: str
    query: dict[str, Any]
    context: list[dict[str, str]]
    documents: list[Document]
    # In a place of its own, where the study has one.
    source: SourceText | None
    turns: list[TurnLine]
    cards: list[Card]
    fields: list[Field]
    # Those that are not drawn beside the responses, turns or claims that they are about.
    apart: list[Field]
    # The same: the choice and its reason (`docked`), and what comes before and after them.
    before: list[Field]
    docked: list[Field]
    # Names of options that all comparisons of the dock have in common.
    shared_options: list[str]
    after: list[Field]
    is_long: bool
    # The responses where they are sets of entries and not texts.
    drafted: EntrySet | None
    follow_ups: list[FollowUp]
    has_scales: bool
    has_keys: bool
    has_grades: bool
    # A preference of which both bad is told from both good, with a key of its own.
    has_both_bad: bool
    summary: list[SummaryLine]
