"""Validated contexts to be judged by: pairs of responses, shown with the follow-up questions that passed."""

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

from evaluation.dumps.derivation import (
    DerivationOption,
    Deriving,
    Record,
    StudyDerivation,
    own_systems,
    shared_spec,
)
from evaluation.dumps.item_parts import context_content
from evaluation.models import Answer, Item, Rater, Response, Role, Study
from evaluation.protocols.base import Spec
from evaluation.refusals import Refused
from evaluation.selectors import countable_q
from evaluation.services.studies.creation import PAPER_ARMS

CHECKS = ("important", "realistic", "complete", "diverse")
# Of the responses that were written without knowing the context: the paper's first two arms.
WITHOUT_CONTEXT = {"context_at_generation": False, "context_at_judging": False}
ARMS = {
    name: [WITHOUT_CONTEXT | arm for arm in arms]
    for name, arms in (("both", PAPER_ARMS[:2]), ("with_context", PAPER_ARMS[1:2]))
}


class ValidatedContexts(StudyDerivation):
    key = "validated_contexts"
    label = "Pairs with validated contexts"
    about = (
        "Pairs of responses, judged with the follow-up questions that passed their validation, and without."
    )
    options = (
        *(
            DerivationOption(
                name=check, label=f"Share that found it {check}, more than", default=0.5, low=0, high=1
            )
            for check in CHECKS
        ),
        DerivationOption(
            name="responses_from", label="Study with the responses", default="",
            help="Slug of a study with responses to the same queries. Leave empty if this study has them.",
        ),
        DerivationOption(name="arms", label="Arms", default="both", choices=tuple(ARMS)),
    )  # fmt: skip

    def refusal(self, study: Study, spec: Spec) -> str:
        asked = {question["key"] for question in spec["questions"]}
        missing = [check for check in CHECKS if check not in asked]
        return (
            f"The study does not ask whether follow-up questions are {', '.join(missing)}." if missing else ""
        )

    def header(self, deriving: Deriving) -> Record:
        arms = ARMS[str(deriving.options["arms"])]
        spec = shared_spec(deriving, "pairwise", arms)
        source = self._source(deriving)
        return {"spec": spec | {"baseline": source.baseline}, "systems": own_systems(source)}

    def _source(self, deriving: Deriving) -> Study:
        slug = str(deriving.options["responses_from"])
        return deriving.other_study(slug) if slug else deriving.study

    def records(self, deriving: Deriving) -> Iterator[Record]:
        passed = self._passed(deriving)
        source = self._source(deriving)
        responses = self._responses(source)
        if not responses:
            raise Refused(
                f"{source.title} has no responses of two systems to a query. Name the study that has them "
                "(responses_from)."
            )
        items = Item.objects.filter(study=deriving.study, role=Role.MAIN, withdrawn_at=None)
        for item in items.select_related("context").order_by("position", "pk").iterator():
            stimulus = item.stimulus or {}
            follow_ups = self._follow_ups(deriving, item, passed)
            pairs = responses.get(stimulus["query"]["key"], [])
            if not follow_ups:
                deriving.left_out["queries of whose follow-up questions none passed"] += 1
            elif not pairs:
                deriving.left_out["queries without responses of two systems"] += 1
            else:
                yield from self._pairs(deriving, item, follow_ups, pairs)

    def _passed(self, deriving: Deriving) -> dict[int, dict[str, dict[str, float]]]:
        """Items to follow-up questions to checks to the share of people who said yes."""
        rows = Answer.objects.filter(
            countable_q(deriving.study, "judgment__"),
            judgment__rater__kind=Rater.Kind.PERSON,
            question__in=CHECKS,
            number__isnull=False,
        ).values_list("judgment__item", "part", "question", "number")
        given: dict[Any, list[float]] = defaultdict(list)
        for item, part, check, number in rows:
            given[item, part, check].append(number or 0)
        found: dict[int, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
        for (item, part, check), numbers in given.items():
            found[item][part][check] = sum(numbers) / len(numbers)
        return found

    def _follow_ups(self, deriving: Deriving, item: Item, passed: Mapping[int, Any]) -> list[Record]:
        """Those that passed every check, each with an answer: its own, or one drawn by the study's seed."""
        context = (item.stimulus or {})["context"]
        kept = []
        for follow_up in context["follow_ups"] if context else []:
            shares = passed.get(item.pk, {}).get(follow_up["part"], {})
            if any(shares.get(check, 0) <= float(deriving.options[check]) for check in CHECKS):
                deriving.left_out["follow-up questions that did not pass"] += 1
                continue
            answer = follow_up.get("answer") or _drawn(deriving.study.seed, item.key, follow_up)
            kept.append(
                {"question": follow_up["question"], "answers": follow_up["answers"], "answer": answer}
            )
        return kept

    def _responses(self, source: Study) -> dict[str, list[tuple[Response, Response]]]:
        """Queries to the pairs of responses that were written without a context; with a baseline, those with it."""
        rows = Response.objects.filter(query__study=source, context=None).select_related("query", "system")
        by_query: dict[str, dict[str, Response]] = defaultdict(dict)
        for row in rows.order_by("query", "system__key", "pk"):
            by_query[row.query.key].setdefault(row.system.key, row)
        found = {}
        for query, systems in by_query.items():
            pairs = list(combinations(systems.values(), 2))
            if source.baseline in systems:
                pairs = [pair for pair in pairs if source.baseline in {each.system.key for each in pair}]
            if pairs:
                found[query] = pairs
        return found

    def _pairs(
        self, deriving: Deriving, item: Item, follow_ups: list[Record], pairs: list[tuple[Response, Response]]
    ) -> Iterator[Record]:
        stimulus, context = item.stimulus or {}, item.context
        assert context is not None
        for arm in ARMS[str(deriving.options["arms"])]:
            for pair in pairs:
                name = "-".join([item.key, str(arm["key"]), *(each.system.key for each in pair)])
                yield {
                    "key": name[:120],
                    "arm": arm["key"],
                    "query": stimulus["query"],
                    "context": {"key": context.key, **context_content(context, follow_ups)},
                    "responses": [
                        {"system": each.system.key, "key": each.key, "text": each.text, "context": None}
                        for each in pair
                    ],
                    "origin": {"item": item.key},
                }


def _drawn(seed: int, item: str, follow_up: Record) -> str:
    """One of the possible answers; which one depends on the seed, the item and the question alone."""
    answers: list[str] = follow_up["answers"]
    digest = hashlib.sha256(f"{seed}\x1fanswer\x1f{item}\x1f{follow_up['part']}".encode()).digest()
    return answers[int.from_bytes(digest[:8], "big") % len(answers)]


DERIVATION = ValidatedContexts()
