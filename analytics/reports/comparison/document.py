"""The parts of a comparison as it is written: what the schema of `assay-comparison/1` is made from."""

from collections.abc import Sequence
from typing import Annotated, Literal, TypedDict

from analytics.figures.document import AtLeastOne, Count, NamedRecord, StudyRecord, ViewRecord, Written
from analytics.figures.families import TestedRecord
from analytics.figures.figure_input import QuestionRecord
from analytics.figures.record_schema import Schema
from analytics.reports.compared_rankings import SystemStanding
from analytics.reports.schema import document_schema
from analytics.statistics.core.estimates import Estimate

# Version of its shape.
SCHEMA = "assay-comparison/1"
SideName = Annotated[Literal["a", "b"], {"type": "string"}]
# What the two sides are called, in addresses and records and, as capitals, on the page.
NAMES: Sequence[SideName] = ("a", "b")


class SideRecord(TypedDict):
    """A study or, with a view, a part of its judgments."""

    study: StudyRecord
    view: ViewRecord
    judgments: Annotated[AtLeastOne, "that count"]
    queries: AtLeastOne


class ComparisonParameters(TypedDict):
    level: Annotated[float, "of intervals"]
    ties: Annotated[str, {"const": "half"}, "a tie counts as half a win in expected win rates"]
    version: Annotated[str, "of the code that computed it"]
    seed: Annotated[int, "from which drawn outcomes of tests come: that of a's study"]


class MatchedRecord(TypedDict):
    """Numbers of queries that items are of."""

    matched: Annotated[AtLeastOne, "of the same key and text"]
    only_a: Count
    only_b: Count
    other_text: Annotated[Count, "of the same key, with another text"]


class SharedResponses(TypedDict):
    """Of matched queries and systems, in two studies; 0 for two views of one."""

    shared: Count
    other_text: Annotated[Count, "whose texts differ"]


class ComparedGroups(TypedDict):
    """A group of raters of each side, by its key there."""

    a: str
    b: str
    label: str
    kind: str


class ComparedNumber(TypedDict):
    """One number of both sides over the queries that both have it of."""

    question: Annotated[str, "key"]
    form: str
    group: Annotated[str, "key of the group of a"]
    figure: Annotated[str, "of the report that it is a number of"]
    name: str
    arm: Annotated[str | None, "key of the setting; null: of all, or where each side has one"]
    systems: Annotated[list[str], "keys: the system, or it and its opponent"]
    share: Annotated[bool, "true of what is shown in percent"]
    a: Annotated[Written, Estimate]
    b: Annotated[Written, Estimate]
    difference: Annotated[Written, Estimate]
    queries: Count
    test: TestedRecord | None
    untested: Annotated[str, "why there is no test"]


class ComparedLeaderboards(TypedDict):
    """The correlation of both sides' leaderboards over the systems that both have, each by its mean score on the
    queries that both have of it."""

    question: Annotated[str, "key"]
    form: str
    group: Annotated[str, "key of the group of a"]
    arm: Annotated[str | None, "key of the setting; null: where each side has one"]
    pearson: Annotated[Written, Estimate]
    spearman: Annotated[Written, Estimate]
    kendall: Annotated[Written, Estimate]


class PromptedRecord(TypedDict):
    key: str
    prompt: str


class ScoresAndRankings(TypedDict):
    """Scores of one side on a scale against the other's rankings of the same responses."""

    scored: Annotated[SideName, "the side with the scores; the other has the rankings"]
    question: PromptedRecord
    ranking: PromptedRecord
    scored_by: NamedRecord
    ranked_by: NamedRecord
    queries: Annotated[AtLeastOne, "of the responses that are compared"]
    responses: Annotated[AtLeastOne, "that were both scored and ranked"]
    only_scored: Annotated[Count, "responses"]
    only_ranked: Annotated[Count, "responses"]
    other_text: Annotated[Count, "responses whose text, or whose query's, differs"]
    tau: Annotated[Written, Estimate, "Kendall's tau-b of each query's responses, mean over queries"]
    linear: Annotated[Written, Estimate, "kappa of places within queries, linear weights"]
    quadratic: Annotated[Written, Estimate, "kappa of places within queries, quadratic weights"]
    of_systems: Annotated[
        float | None,
        "tau-b of the systems' means; null for fewer than two systems or without variation",
    ]
    systems: Annotated[list[Annotated[Written, SystemStanding]], {"minItems": 1}]


class WithoutPartner(TypedDict):
    """Something that one side alone has."""

    kind: Annotated[str, {"enum": ["question", "raters", "system", "setting", "figure"]}]
    side: SideName
    name: str
    reason: str


class ComparisonFinding(TypedDict):
    """A difference beyond chance after correction for all comparisons with enough queries."""

    comparison: Annotated[Count, "its place among the comparisons"]
    about: str
    heading: str
    text: str


class ComparisonRecord(TypedDict):
    """The figures that two sides share, over the queries that both have. Differences are b less a."""

    schema: Annotated[str, {"const": SCHEMA}]
    parameters: ComparisonParameters
    a: SideRecord
    b: SideRecord
    queries: MatchedRecord
    shared_judgments: Annotated[Count, "counting judgments that two views of one study both have"]
    responses: SharedResponses
    questions: Annotated[
        list[Annotated[Written, QuestionRecord]], "that both sides ask, as a's report describes them"
    ]
    groups: list[ComparedGroups]
    comparisons: list[ComparedNumber]
    leaderboards: list[ComparedLeaderboards]
    scores_and_rankings: Annotated[
        list[ScoresAndRankings], "of two studies; empty where neither scores responses that the other ranks"
    ]
    without_partner: list[WithoutPartner]
    findings: list[ComparisonFinding]


def comparison_schema() -> Schema:
    return document_schema(ComparisonRecord, "assay:comparison/1", "Two studies, or views, compared")
