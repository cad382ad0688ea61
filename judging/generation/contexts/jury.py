"""The jury on a drawn set: each juror says of every question if it is important, and the votes are counted."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from judging.generation.contexts.follow_ups import (
    FOLLOW_UP_SHAPES,
    by_rank,
    follow_up_problems,
    show_follow_up,
)
from judging.generation.contexts.need import EXAMPLE
from judging.generation.pipeline import (
    Content,
    ContentProblem,
    PipelineStep,
    Planned,
    ProductText,
    Prompt,
    QueryState,
    UnitFacts,
    ask_each,
)
from judging.generation.prompts import about_material
from judging.generation.shapes import KEPT

EXAMPLE_SET = [
    {"question": "For how many people?", "answers": ["One", "Two", "A family"], "rank": 1},
    {"question": "Which bowl will you eat it from?", "answers": ["A deep one", "A flat one"], "rank": 2},
]

TASK = """\
Somebody put a query to an assistant, which thinks of asking them back. Say of each of its follow-up questions whether \
it is important.

A question is important if a good response to the query would be another one for each of its answers, in a way that \
this person would notice. It is not if the query has answered it already, if it leads away from what was asked, or if \
much the same response would do whatever they say. Judge each question by itself; all of them may be important, or \
none."""


def listed(follow_ups: Iterable[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Follow-up questions with their answers, as named texts of a prompt."""
    return [
        (
            f"Follow-up question {number}",
            "\n".join([each["question"], *(f"- {answer}" for answer in each["answers"])]),
        )
        for number, each in enumerate(follow_ups, 1)
    ]


def numbered_schema(values: Sequence[Mapping[str, Any]], name: str) -> dict[str, Any]:
    """The schema of an object with a value for each of so many numbers."""
    properties = {f"{name}_{number}": dict(value) for number, value in enumerate(values, 1)}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


class JuryVote(PipelineStep):
    """Each juror's votes on the questions, by their ranks."""

    key, label, role = "validity", "Importance", "jury"
    fields: ClassVar[Mapping[str, type]] = {"important": dict, "juror": str}
    shapes: ClassVar = {"juror": KEPT}

    def plan(self, state: QueryState) -> Iterable[Planned]:
        drawn = by_rank(state.products("drawn"))
        return ask_each(state, self.role, {"follow_ups": drawn}) if drawn else ()

    def prompt(self, asked: UnitFacts) -> Prompt:
        follow_ups = asked.about["follow_ups"]
        schema = numbered_schema([{"type": "boolean"}] * len(follow_ups), "question")
        return about_material(TASK, [("Query", asked.query.text), *listed(follow_ups)], schema=schema)

    def read(self, asked: UnitFacts, reply: Any) -> Sequence[Content]:
        votes = {
            str(each["rank"]): reply[f"question_{number}"]
            for number, each in enumerate(asked.about["follow_ups"], 1)
        }
        return [{"important": votes, "juror": asked.about["jury"]}]

    def example(self) -> UnitFacts:
        return UnitFacts(EXAMPLE, "1", {"follow_ups": EXAMPLE_SET}, {})

    def shown(self, content: Content) -> ProductText:
        votes = content["important"]
        ranks = ", ".join(rank for rank, vote in votes.items() if vote) or "none"
        return ProductText(
            f"Important: {sum(votes.values())} of {len(votes)}",
            [("ranks", ranks), ("juror", str(content.get("juror", "")))],
        )

    def problems(self, content: Any) -> list[ContentProblem]:
        votes = content.get("important") if isinstance(content, dict) else None
        fit = isinstance(votes, dict) and all(isinstance(vote, bool) for vote in votes.values())
        said = 'Votes have "important": an object with true or false by rank.'
        return [] if fit else [ContentProblem(said, "important")]


class KeptFollowUps(PipelineStep):
    """The questions that the whole jury finds important, or most of it, with the count of its votes."""

    key, label = "kept", "Kept questions"
    fields: ClassVar[Mapping[str, type]] = {"question": str, "answers": list, "rank": int}
    shapes = FOLLOW_UP_SHAPES

    def plan(self, state: QueryState) -> Iterable[Planned]:
        ballots = [each.content["important"] for each in state.products("validity")]
        needed = len(ballots) // 2 + 1 if state.options["jury_rule"] == "majority" else len(ballots)
        kept = []
        for follow_up in by_rank(state.products("drawn")):
            votes = sum(bool(ballot.get(str(follow_up["rank"]))) for ballot in ballots)
            if votes >= needed > 0:
                kept.append({**follow_up, "votes": f"{votes} of {len(ballots)}"})
        if kept:
            yield Planned(products=kept)

    def shown(self, content: Content) -> ProductText:
        return show_follow_up(content)

    def problems(self, content: Any) -> list[ContentProblem]:
        return follow_up_problems(content)
