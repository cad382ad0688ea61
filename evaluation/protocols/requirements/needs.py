"""The needs of items, where they are the study's to say: a query or none, how many responses, a document."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from evaluation.protocols.base import MAX_PARTS, Kind, Over, Problem, QuestionSpec, Spec, Stimulus, arm_of
from evaluation.protocols.requirements.items import check_query, check_response_count

MAX_RESPONSES = 20
MAX_NAME = 60
# What a question over one of these can only be asked of.
OF_RESPONSES = frozenset({Over.RESPONSE, Over.FOLLOW_UP_RESPONSE, Over.TURN_RESPONSE, Over.CLAIM})
OF_FOLLOW_UPS = frozenset({Over.FOLLOW_UP, Over.FOLLOW_UP_RESPONSE, Over.VALUE})


@dataclass(frozen=True)
class Needs:
    """The parts that every item of a study has. `document` is the name of the document; empty where there is none."""

    query: bool = True
    least: int = 1
    most: int = 10
    document: str = ""

    @property
    def are_pairs(self) -> bool:
        return self.least == self.most == 2

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def read_needs(given: Mapping[str, Any]) -> Needs:
    """The needs in a spec or a study; what they leave out is as usual."""
    return Needs(**{name: given[name] for name in Needs.__dataclass_fields__ if name in given})


def find_needs_problems(given: Mapping[str, Any], questions: list[QuestionSpec]) -> Iterator[Problem]:
    """The problems of what a study says that its items need, and of questions that do not go with it."""
    for name in given.keys() - Needs.__dataclass_fields__.keys():
        yield Problem("needs_unknown", "needs", {"name": name})
    needs = read_needs(given)
    numbers = (needs.least, needs.most)
    if any(isinstance(each, bool) or not isinstance(each, int) for each in numbers) or not (
        0 <= needs.least <= needs.most <= MAX_RESPONSES
    ):
        yield Problem("needs_responses", "needs", {"limit": MAX_RESPONSES})
        return
    for question in questions:
        where = f"questions.{question.key}"
        if question.over in OF_RESPONSES and question.kind != Kind.RANKING and not needs.most:
            yield Problem("part_unneeded", where)
        elif question.kind in (Kind.PREFERENCE, Kind.RANKING) and needs.least < 2:
            yield Problem("compares_responses", where)
        elif question.kind == Kind.PREFERENCE and question.over != Over.ITEM and not needs.are_pairs:
            yield Problem("preference_of_parts", where)


def find_unmet_needs(
    needs: Needs, spec: Spec, questions: list[QuestionSpec], stimulus: Stimulus
) -> list[Problem]:
    """Problems of an item that lacks what the study and its questions need."""
    problems = check_query(stimulus) if needs.query else []
    problems += check_response_count(stimulus, needs.least, needs.most)
    has_document = bool(stimulus["query"].get("document"))
    if has_document != bool(needs.document):
        code = "document_unused" if has_document else "document_missing"
        problems.append(Problem(code, "query.document", {"name": needs.document}))
    overs = {question.over for question in questions}
    return [*problems, *_context_problems(spec, stimulus, overs), *_part_problems(stimulus, overs)]


def _context_problems(spec: Spec, stimulus: Stimulus, overs: set[Over]) -> Iterator[Problem]:
    follow_ups = stimulus["context"]["follow_ups"] if stimulus["context"] else []
    arm = arm_of(spec, stimulus["arm"])
    if not follow_ups:
        if arm["context_at_judging"]:
            yield Problem("context_missing", "context", {"arm": arm["key"]})
        elif overs & OF_FOLLOW_UPS:
            yield Problem("follow_ups_missing", "context")
    if Over.VALUE in overs:
        for number, each in enumerate(follow_ups, 1):
            if not each["answers"]:
                yield Problem("answers_missing", "context", {"number": number})
    if len(follow_ups) > MAX_PARTS:
        yield Problem("too_many_follow_ups", "context", {"found": len(follow_ups), "limit": MAX_PARTS})


def _part_problems(stimulus: Stimulus, overs: set[Over]) -> Iterator[Problem]:
    """Turns and claims, of which there must be some where they are asked about, and never more than fit."""
    responses = stimulus["responses"]
    replies = [len(response.get("turns", ())) for response in responses]
    asked = [turn["role"] == "user" for turn in stimulus["query"].get("turns") or ()]
    last = next((n for n, is_user in enumerate(reversed(asked)) if not is_user), len(asked))
    if len(set(replies)) > 1:
        yield Problem("turns_differ", "responses")
    elif replies and replies[0] > 1 and last < replies[0]:
        yield Problem("turns_unasked", "query.turns", {"replies": replies[0], "asked": last})
    found = max([*replies, len(asked)], default=0)
    if not (max(replies, default=0) if Over.TURN_RESPONSE in overs else found) and overs & {
        Over.TURN,
        Over.TURN_RESPONSE,
    }:
        yield Problem("turns_missing", "responses")
    claims = {response["part"]: len(response.get("claims", ())) for response in responses}
    if Over.CLAIM in overs and not any(claims.values()):
        yield Problem("claims_missing", "responses")
    for where, number, what in [
        ("the item", found, "turns"),
        *((part, n, "claims") for part, n in claims.items()),
    ]:
        if number > MAX_PARTS:
            params = {"where": where, "found": number, "what": what, "limit": MAX_PARTS}
            yield Problem("too_many_parts", "responses", params)
