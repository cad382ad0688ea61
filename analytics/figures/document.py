"""The parts of a report as it is written: what the schema of `assay-report/2` is made from.

A report is read back from JSON, so that these are typed dicts. Where a dataclass of a statistic stands in one, as
`Times` does, it is `Written`, and that dataclass is the first note on it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NotRequired, TypedDict

from analytics.figures.families import TestedRecord
from analytics.figures.figure_input import GroupCounts, QuestionRecord
from analytics.statistics.core.estimates import Estimate, LeftOut
from analytics.statistics.preferences.win_rates import Ties
from analytics.statistics.raters.times import Times
from analytics.statistics.texts.code_shares import CodeShares
from evaluation.filters import TOGETHER
from evaluation.models import Outcome, Rater
from evaluation.models.study import Status

SCHEMA = "assay-report/2"

Count = Annotated[int, {"minimum": 0}]
AtLeastOne = Annotated[int, {"minimum": 1}]
Chosen = Annotated[list[str], {"minItems": 1}]
# A dataclass as `plain` writes it and `read` reads it back.
Written = Mapping[str, Any]


class NamedRecord(TypedDict):
    key: str
    label: str


class RevisionRecord(TypedDict):
    number: Count
    spec_hash: str


class StudyRecord(TypedDict):
    """The study as it was when the report was made."""

    slug: str
    title: str
    protocol: str
    status: Annotated[str, {"enum": Status.values}]
    launched: NotRequired[Annotated[str, "day of the latest revision's launch, YYYY-MM-DD"]]
    study_hash: str
    revisions: list[RevisionRecord]
    redundancy: Count
    baseline: Annotated[str, "key of the baseline system; empty where there is none"]
    simulated: Annotated[bool, "whether there are judgments by simulated raters"]
    arms: list[NamedRecord]
    systems: list[NamedRecord]


ViewRecord = TypedDict(
    "ViewRecord",
    {
        "query": Chosen,
        "category": Chosen,
        "source": Chosen,
        "split": Chosen,
        "arm": Chosen,
        "system": Chosen,
        "group": Chosen,
        "rater": Chosen,
        "without_rater": Chosen,
        "revision": AtLeastOne,
        "from": Annotated[str, "first day, UTC"],
        "to": Annotated[str, "last day, UTC"],
        "judges": Annotated[str, {"const": TOGETHER}],
    },
    total=False,
)


class ParametersRecord(TypedDict):
    """Parameters of the figures, besides the judgments."""

    replicates: Count
    level: float
    seed: Count
    ties: Annotated[Ties, "how a tie counts in expected win rates"]
    version: Annotated[str, "of the code that computes figures, and of the libraries that it rests on"]
    view: NotRequired[
        Annotated[
            ViewRecord,
            {"minProperties": 1},
            "The part of the study that the report is of; missing where it is of everything. Items with one of the "
            "values of each list, judgments of the raters, the revision and the days.",
        ]
    ]
    only: NotRequired[
        Annotated[
            list[str], "of a report of some figures alone, their keys and those of the figures beside them"
        ]
    ]


class KindCount(TypedDict):
    kind: Annotated[str, {"enum": Rater.Kind.values}]
    n: AtLeastOne


CountsByKind = Annotated[list[KindCount], "of people, judges and simulated raters apart"]


class LeftOutRecord(TypedDict):
    reason: str
    n: Count
    by_kind: CountsByKind


class CountsRecord(TypedDict):
    """Numbers of things that the report is of."""

    items: Count
    queries: Count
    judgments: Annotated[Count, "that count, replicates included"]
    raters: Count
    left_out: Annotated[list[LeftOutRecord], "judgments of main items that are not in the report"]
    excluded_raters: Count
    excluded_by_kind: NotRequired[CountsByKind]


class RaterRecord(TypedDict):
    """Somebody who judged, and how much."""

    rater: Annotated[str, "pseudonym"]
    label: str
    kind: Annotated[str, {"enum": Rater.Kind.values}]
    judgments: Count


class OutcomeRecord(TypedDict):
    outcome: Annotated[str, {"enum": Outcome.values}]
    n: Count
    share: Annotated[float | None, "of its judgments"]


class JuryRecord(TypedDict):
    name: str
    combination: Annotated[str, {"enum": ["majority", "mean"]}]


class JudgeCostRecord(TypedDict):
    """The cost of a judge's run, in the installation's currency, whatever came of the calls."""

    cost: Annotated[float, {"minimum": 0}]
    tokens: Annotated[Count, "of prompts and replies that were paid for"]
    judgments: Annotated[Count, "that it gave, of every order and sample"]
    per_judgment: Annotated[float | None, "the cost over these judgments; null where there are none"]


class JudgeRecord(TypedDict):
    """A judge in figures: how it was asked, and what came back. Empty or null where it is not known."""

    rater: Annotated[str, "pseudonym; the key of its group, if it has one"]
    label: str
    judge: str
    version: int | None
    model: str
    reference: Annotated[bool, "whether it saw a reference"]
    reference_from: Annotated[
        str, "the system whose responses were the references; empty where they were human-written"
    ]
    orders: Annotated[str, "random, fixed or both"]
    samples: int | None
    reduction: Annotated[
        str,
        {"enum": ["majority", "mean", "both_ways"]},
        "the rule by which several readings of an item became one judgment",
    ]
    questions: list[str]
    purpose: str
    heuristic: Annotated[bool, "whether it reads no response: no evidence, and in no finding"]
    judgments: Annotated[Count, "of main items, whatever became of them, replicates included"]
    outcomes: list[OutcomeRecord]
    reader: NotRequired[Annotated[int, "the version of what read its replies, where that is known"]]
    jury: NotRequired[Annotated[JuryRecord, {"additionalProperties": True}]]
    cost: NotRequired[Annotated[JudgeCostRecord, "left out where no model was paid"]]
    caveats: Annotated[list[str], "what must be said of it, a sentence each"]


class GroupRecord(TypedDict):
    """Raters who are read together."""

    key: Annotated[str, "person, judges, simulated, or a judge's pseudonym"]
    label: str
    kind: Annotated[str, {"enum": ["person", "judges", "jury", "judge", "simulated"]}]
    within: NotRequired[
        Annotated[str, "the key of the group that it is a part of; left out where there is none"]
    ]
    heuristic: Annotated[bool, "whether it reads no response: no evidence, and in no finding"]
    judgments: Annotated[Count, "that count, replicates included"]
    raters: Count
    items: Count


class RaterTimes(TypedDict):
    """Median seconds, and how many items the rater skipped."""

    rater: str
    judgments: Annotated[int, "that count and have a time"]
    active: Annotated[float | None, "median seconds"]
    visible: Annotated[float | None, "median seconds"]
    skipped: Annotated[int, "items"]


class ItemTimes(TypedDict):
    """Median seconds, and how many raters skipped the item."""

    item: str
    judgments: Annotated[int, "that count and have a time"]
    active: Annotated[float | None, "median seconds"]
    visible: Annotated[float | None, "median seconds"]
    skipped: Annotated[int, "raters"]


class TimesRecord(TypedDict):
    kind: Annotated[str, {"enum": ["person", "simulated"]}]
    active: Annotated[Written, Times]
    visible: Annotated[Written, Times]
    raters: list[RaterTimes]
    items: Annotated[
        list[ItemTimes], "those that took longest, the slowest first, and those that were skipped most"
    ]
    imported: Annotated[bool, "whether some of the times come from a file"]


class QueriesOfValue(TypedDict):
    value: Annotated[str, "empty where a query has none"]
    queries: AtLeastOne
    share: Annotated[float, "of all queries, or of those of the split"]
    items: AtLeastOne


class OtherValues(TypedDict):
    values: int
    queries: int
    items: int


class QueriesRecord(TypedDict):
    by: Annotated[str, {"enum": ["category", "split", "source"]}]
    split: Annotated[str | None, "the split whose queries these are; null of all queries"]
    values: Annotated[list[QueriesOfValue], {"minItems": 2}, "with the most queries first"]
    others: Annotated[OtherValues, "beyond the values that are listed, together"]


class CodeList(TypedDict):
    """A list of codes with the share of each, in the order of the systems."""

    list: str
    several: Annotated[bool, "true where one text has several codes"]
    codes: Sequence[Annotated[Written, CodeShares]]


class CodingRecord(TypedDict):
    key: Annotated[str, "the pipeline and its step"]
    title: str
    by: Annotated[str, "who coded, as the end of a sentence"]
    queries: Annotated[AtLeastOne, "that were coded, or have a text that was"]
    systems: Annotated[Chosen, "empty for what is of no system"]
    lists: list[CodeList]


class QueryCountRecord(TypedDict):
    """Queries, or what was made for them, counted."""

    name: Annotated[str, "what is counted"]
    by: Annotated[str, "who says so, or by which rule"]
    n: Count
    among: Count
    is_share: Annotated[bool, "false of things per query: n of them, of so many queries"]
    ratio: Annotated[float | None, "n by among; null of none"]
    low: Annotated[float | None, "Wilson's limits of a share of queries; null of other things"]
    high: float | None
    note: str


class GroupAnswers(GroupCounts):
    """The answers that one group of raters gave to a question."""

    group: Annotated[str, "key of the group"]


@dataclass(frozen=True)
class AnsweredQuestion(QuestionRecord):
    """A question, and the groups that have answers to it."""

    groups: list[GroupAnswers]


class FailedFigure(TypedDict):
    figure: str
    error: str


class FindingWords(TypedDict):
    """A sentence, and the systems that it is about."""

    kind: Annotated[str, "of finding, such as winner, pair_flip or too_few"]
    about: str
    heading: str
    text: str
    system: NotRequired[str]
    system_1: NotRequired[str]
    system_2: NotRequired[str]


class FigureFinding(FindingWords):
    """A finding of one figure; it stands under the figure's heading if it has no other anchor."""

    anchor: NotRequired[str]


class FindingRecord(FindingWords):
    """A sentence that may be said; `supported` says whether a test does."""

    anchor: Annotated[str, "where its figures stand on the page"]
    supported: bool
    question: NotRequired[Annotated[str, "key of the question that it is of"]]


class FigureRecord(TypedDict):
    """One group's record of one figure; the rest is the figure's own."""

    figure: Annotated[str, "key of the figure, its folder and its name"]
    question: Annotated[str, "key of the question"]
    group: Annotated[str, "key of the group of raters"]


class ReportRecord(TypedDict):
    """Every figure of a study. Shares lie between 0 and 1; an undefined figure is null and says why. The records of
    each figure are described by their dataclasses, in analytics/figures."""

    schema: Annotated[str, {"const": SCHEMA}]
    study: StudyRecord
    parameters: ParametersRecord
    counts: CountsRecord
    raters: list[RaterRecord]
    judges: list[JudgeRecord]
    groups: Annotated[list[GroupRecord], {"minItems": 1}, "of raters who are read together"]
    times: Annotated[
        list[TimesRecord],
        "of the kinds of raters whose judgments have recorded times, or who skipped something",
    ]
    queries: Annotated[
        list[QueriesRecord], "The queries of main items, by what has several values among them."
    ]
    codings: Annotated[
        list[CodingRecord], "Codes that models gave to the study's queries or to texts of its systems."
    ]
    contexts: Annotated[
        list[QueryCountRecord],
        "Queries that need a context and that have one, and their follow-up questions; empty without contexts.",
    ]
    questions: Annotated[list[Annotated[Written, AnsweredQuestion]], {"minItems": 1}]
    # With the rest of each, which is its figure's own.
    records: Annotated[
        list[FigureRecord], {"items": {"$ref": "#/$defs/record"}}, "one per figure, question and group"
    ]
    deferred: NotRequired[
        Annotated[
            Chosen, "keys of figures that are computed once their section is opened; without it, all are here"
        ]
    ]
    failed: NotRequired[
        Annotated[
            list[FailedFigure],
            {"minItems": 1},
            "figures that could not be computed, by a fault of Assay; without it, there are none",
        ]
    ]
    findings: list[FindingRecord]
    methods: Annotated[list[str], "How the figures are made, a sentence each."]
    methods_paragraph: Annotated[str, "Who judged what, how, and with which software, as prose."]


# Definitions that several parts and all documents share.
DEFINITIONS = {"estimate": Estimate, "left_out": LeftOut, "test": TestedRecord}
