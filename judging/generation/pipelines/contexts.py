"""Contexts of queries: follow-up questions by several models, validated by a jury, with one person's answers.

ContextEval section 3.3; what the answers are sampled for, section 4.1.
"""

from collections.abc import Iterable, Iterator

from evaluation.protocols.requirements.items import MAX_FOLLOW_UPS
from judging.backends.chat_options import whole
from judging.backends.options import Input, JudgeOption
from judging.generation.contexts.answers import SampledAnswers
from judging.generation.contexts.follow_ups import DrawnSet, FollowUpSets, by_rank
from judging.generation.contexts.jury import JuryVote, KeptFollowUps
from judging.generation.contexts.need import ContextNeed, is_needed
from judging.generation.pipeline import CastRole, Making, Pipeline, QueryState, Record
from judging.generation.responding import context_key

ARM: Record = {
    "key": "all", "label": "Follow-up questions", "context_at_generation": False, "context_at_judging": True,
}  # fmt: skip


class Contexts(Pipeline):
    key, label = "contexts", "Contexts"
    about = (
        "Finds the queries that need a context, has models write follow-up questions with answer sets, keeps those "
        "that a jury finds important, and samples one person's answers."
    )
    roles = (
        CastRole(
            key="generators", label="Generators", most=None, temperature=None, max_tokens=2_000,
            help="Each says whether a query needs a context and writes a set of questions; two or three are usual.",
        ),
        CastRole(key="jury", label="Jury", least=3, most=None, max_tokens=500),
        CastRole(key="sampler", label="Sampler", temperature=1.0, max_tokens=1_000),
    )  # fmt: skip
    options = (
        JudgeOption(
            key="need", label="A query needs a context if", input=Input.CHOICE, default="all",
            choices={"all": "all generators say so", "any": "any generator says so"},
        ),
        JudgeOption(
            key="follow_ups", label="Follow-up questions in a set, at most", input=Input.NUMBER,
            default=MAX_FOLLOW_UPS, clean=whole(MAX_FOLLOW_UPS, 1),
        ),
        JudgeOption(
            key="jury_rule", label="A question is kept if", input=Input.CHOICE, default="all",
            choices={"all": "all jurors find it important", "majority": "most jurors do"},
        ),
    )  # fmt: skip
    making = (
        JudgeOption(
            key="which", label="People validate", input=Input.CHOICE, default="drawn",
            choices={"drawn": "every question of the drawn sets", "kept": "those that the jury kept"},
        ),
    )  # fmt: skip
    steps = (ContextNeed(), FollowUpSets(), DrawnSet(), JuryVote(), KeptFollowUps(), SampledAnswers())
    makes = "context_validation"

    def header(self, making: Making) -> Record:
        return {"spec": {**making.spec, "protocol": self.makes, "arms": [ARM]}, "systems": []}

    def records(self, making: Making, states: Iterable[QueryState]) -> Iterator[Record]:
        which = str(making.options["which"])
        for state in states:
            products = state.products(which)
            follow_ups = [
                {"question": each["question"], "answers": each["answers"]} for each in by_rank(products)
            ]
            if follow_ups:
                yield {
                    "key": state.query.key,
                    "arm": ARM["key"],
                    "query": state.query.record(),
                    "context": {
                        "key": context_key(follow_ups),
                        "follow_ups": follow_ups,
                        # Of one query they are all of the generator whose set was drawn.
                        "source": str(products[0].content["generator"]),
                    },
                    "responses": [],
                    "origin": {"item": state.query.key, "products": [each.product for each in products]},
                }
            elif not is_needed(state):
                making.left_out["queries that need no context"] += 1
            else:
                making.left_out[f"queries without {which} follow-up questions"] += 1


PIPELINE = Contexts()
