"""Follow-up questions with their answer sets: those of every generator, and the set that is drawn of each query."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from evaluation.protocols.requirements.items import MAX_FOLLOW_UPS
from judging.generation.contexts.need import EXAMPLE, is_needed
from judging.generation.pipeline import (
    Content,
    ContentProblem,
    KeptProduct,
    PipelineStep,
    Planned,
    ProductText,
    Prompt,
    QueryState,
    UnitFacts,
    ask_each,
    reject,
)
from judging.generation.prompts import about_material
from judging.generation.shapes import KEPT, TEXTS, WHOLE_NUMBER, Shape

# The values of a follow-up question.
FOLLOW_UP_SHAPES: Mapping[str, Shape] = {
    "answers": TEXTS, "rank": WHOLE_NUMBER, "generator": KEPT, "votes": KEPT,
}  # fmt: skip

TASK = """\
Somebody put a query to an assistant, which may ask them back before it answers. Write the follow-up questions that it \
should ask: {most} at most, the most important one first.

A question is worth asking if the assistant has to know the answer to help this person: something about them (what \
they know, do, have or are) or about what they want (what it is for, the part of the subject, depth, form, length). \
Each of its answers must call for another response, so that one can tell from a response whether the answer was taken \
into account. Ask nothing that the query says already, and nothing twice. Together the questions should reach \
everything of weight that the query leaves open.

Give each question the set of answers among which the person chooses one. They are a few words each; every one of them \
is something that a person with this query might really say; no two of them mean the same; and most people find theirs \
among them. Leave out answers that say nothing, such as "Other" or "It depends".

For the query "How do I get rid of the stain?", such questions are "What made the stain?", with "Red wine", "Grease", \
"Ink" and "Blood"; then "What is the stain on?", with "Cotton clothes", "A wool carpet", "A leather sofa" and "A \
wooden table"; then "How old is it?", with "A few minutes", "Some days" and "Months"."""


def follow_up_schema(most: int) -> dict[str, Any]:
    text = {"type": "string", "minLength": 1}
    follow_up = {
        "type": "object",
        "properties": {"question": text, "answers": {"type": "array", "minItems": 2, "items": text}},
        "required": ["question", "answers"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {
            "follow_ups": {"type": "array", "minItems": 1, "maxItems": most, "items": follow_up},
        },
        "required": ["follow_ups"],
        "additionalProperties": False,
    }


def follow_up_problems(content: Any) -> list[ContentProblem]:
    """The problems of a follow-up question that somebody wrote."""
    if not isinstance(content, dict):
        return [ContentProblem("A follow-up question is a JSON object.")]
    question, answers, rank = content.get("question"), content.get("answers"), content.get("rank")
    problems: list[ContentProblem] = []
    if not isinstance(question, str) or not question.strip():
        problems.append(ContentProblem('"question" must be a text.', "question"))
    if not isinstance(answers, list) or not all(isinstance(each, str) and each.strip() for each in answers):
        problems.append(ContentProblem('"answers" must be a list of texts.', "answers"))
    elif len({_plain(each) for each in answers}) < max(2, len(answers)):
        said = '"answers" must be two different texts at least, and none of them twice.'
        problems.append(ContentProblem(said, "answers"))
    if not isinstance(rank, int) or isinstance(rank, bool):
        problems.append(ContentProblem('"rank" must be a whole number.', "rank"))
    return problems


def show_follow_up(content: Content) -> ProductText:
    lines = [("answers", "; ".join(content["answers"]))]
    others = {name: value for name, value in content.items() if name not in ("question", "answers")}
    return ProductText(content["question"], [*lines, *((name, str(value)) for name, value in others.items())])


def by_rank(products: Iterable[KeptProduct]) -> list[Content]:
    """The contents of follow-up questions, the most salient first."""
    return [each.content for each in sorted(products, key=lambda each: each.content["rank"])]


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


class FollowUpSets(PipelineStep):
    """Each generator's follow-up questions, a product each, ranked by salience in the order they were written in."""

    key, label, role = "follow_ups", "Follow-up questions", "generators"
    fields: ClassVar[Mapping[str, type]] = {"question": str, "answers": list, "rank": int}
    shapes = FOLLOW_UP_SHAPES

    def plan(self, state: QueryState) -> Iterable[Planned]:
        return ask_each(state, self.role, {}) if is_needed(state) else ()

    def prompt(self, asked: UnitFacts) -> Prompt:
        most = int(asked.options["follow_ups"])
        task = TASK.format(most=most)
        return about_material(task, [("Query", asked.query.text)], schema=follow_up_schema(most))

    def read(self, asked: UnitFacts, reply: Any) -> Sequence[Content]:
        found: list[Content] = []
        for rank, each in enumerate(reply["follow_ups"], 1):
            follow_up = {
                "question": each["question"].strip(),
                "answers": [answer.strip() for answer in each["answers"]],
                "rank": rank,
                "generator": asked.about["generators"],
            }
            if problems := follow_up_problems(follow_up):
                reject(f"Follow-up question {rank}: {problems[0]}")
            found.append(follow_up)
        if len({_plain(each["question"]) for each in found}) < len(found):
            reject("A follow-up question is asked twice.")
        return found

    def example(self) -> UnitFacts:
        return UnitFacts(EXAMPLE, "1", {}, {"follow_ups": MAX_FOLLOW_UPS})

    def shown(self, content: Content) -> ProductText:
        return show_follow_up(content)

    def problems(self, content: Any) -> list[ContentProblem]:
        return follow_up_problems(content)


class DrawnSet(PipelineStep):
    """The questions of one generator, drawn by the seed for each query."""

    key, label = "drawn", "Drawn set"
    fields: ClassVar[Mapping[str, type]] = {"question": str, "answers": list, "rank": int}
    shapes = FOLLOW_UP_SHAPES

    def plan(self, state: QueryState) -> Iterable[Planned]:
        made = state.products("follow_ups")
        sets = list(dict.fromkeys(each.key for each in made))
        if sets:
            drawn = sets[int(state.draw("set").integers(len(sets)))]
            yield Planned(products=by_rank(each for each in made if each.key == drawn))

    def shown(self, content: Content) -> ProductText:
        return show_follow_up(content)

    def problems(self, content: Any) -> list[ContentProblem]:
        return follow_up_problems(content)
