"""Ranking: the responses in an order."""

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.protocols.answers.parts import parts_of, response_parts
from evaluation.protocols.base import AnswerValue, Over, Problem, QuestionSpec, Source, Stimulus
from evaluation.protocols.kinds.base import BadValue, QuestionKind, read_number, values_by_part

# What a ranking's form sends beside the ranks: the order that it began with, and that it was confirmed unmoved.
RANKING_START, RANKING_CONFIRMED = "start", "confirmed"


class RankingKind(QuestionKind):
    key = "ranking"
    storage = "number"
    form = "ranking"
    overs = frozenset({Over.RESPONSE})
    rule = "mean"

    def clean(
        self, question: QuestionSpec, stimulus: Stimulus, value: Any, source: Source
    ) -> list[AnswerValue]:
        """A rank per response, 1 for the best; all of them, each rank once unless ties are allowed.

        Equals share a rank, and the next rank is one more or skips as many as there are equals: both are read. They are
        kept as the mean of the places that they share. A form whose order is as it began must be confirmed.
        """
        if not isinstance(value, Mapping):
            raise BadValue(Problem("not_a_mapping", question.key))
        parts = response_parts(stimulus)
        given = {part: each for part, each in value.items() if part not in (RANKING_START, RANKING_CONFIRMED)}

        def clean_rank(where: str, each: Any) -> float:
            number = read_number(where, each) if isinstance(each, str) else each
            if (
                isinstance(number, bool)
                or not isinstance(number, int | float)
                or not 1 <= number <= len(parts)
            ):
                raise BadValue(Problem("not_a_rank", where, {"value": each, "highest": len(parts)}))
            return float(number)

        answers = values_by_part(self, question, stimulus, given, source, clean_rank)
        if source == "form" and not answers and not question.required:
            return []
        if len(answers) != len(parts):
            raise BadValue(Problem("missing", question.key))
        ranks = _shared_places([answer.number or 0.0 for answer in answers])
        if len(set(ranks)) != len(ranks) and not question.ties:
            raise BadValue(Problem("ranks_tied", question.key))
        if source == "form" and not value.get(RANKING_CONFIRMED):
            begun = [part for part in str(value.get(RANKING_START) or "").split(",") if part]
            now = [part for _, part in sorted(zip(ranks, parts, strict=True), key=lambda pair: pair[0])]
            if begun in ([], now) and len(set(ranks)) == len(ranks):
                if not question.required:
                    return []
                raise BadValue(Problem("unconfirmed", question.key))
        return [
            AnswerValue(question.key, question.kind, part, number=rank)
            for part, rank in zip(parts, ranks, strict=True)
        ]

    def find_gold_problems(
        self, question: QuestionSpec, stimulus: Stimulus, wanted: Mapping[str, Sequence[Any]]
    ) -> list[Problem]:
        """Ranks that are wanted of some responses only are fine, if they are ranks."""
        highest = len(parts_of(question, stimulus))
        return [
            Problem("not_a_rank", f"{question.key}.{part}", {"value": value, "highest": highest})
            for part, accepted in wanted.items()
            for value in accepted
            if isinstance(value, bool) or not isinstance(value, int | float) or not 1 <= value <= highest
        ]


def _shared_places(ranks: list[float]) -> list[float]:
    """Ranks as the places 1 to n; equals share the mean of theirs."""
    return [
        sum(other < rank for other in ranks) + (sum(other == rank for other in ranks) + 1) / 2
        for rank in ranks
    ]
