"""Rankings beside scores: the queries and systems of a study whose responses were scored, to be put in order."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext_noop

from evaluation.dumps.derivation import (
    DerivationOption,
    Deriving,
    Record,
    StudyDerivation,
    own_systems,
    shared_spec,
)
from evaluation.dumps.item_parts import context_record, given_context
from evaluation.models import ItemResponse, Role, Study
from evaluation.protocols import Kind, get_protocol
from evaluation.protocols.base import Spec
from evaluation.protocols.ranking import MAX_RANKED
from evaluation.services.studies.compilation import query_content
from evaluation.services.studies.creation import questions_in, texts_in

# Where responses are answers and no clarifying questions, which the protocol's own words are about.
PROMPTS = (
    gettext_noop("Put the responses in order, the best first."),
    gettext_noop("What made the first one the best?"),
)
TEXTS = {
    "consent": gettext_noop(
        "You will read what people asked, and put responses to it into an order, from the best to the worst."
    ),
    "instructions": gettext_noop(
        "For each question you see a list of responses.\n\n"
        "1. Imagine you asked the question.\n"
        "2. Put the responses in order: the best at the top. Drag them, or use the arrows beside them.\n"
        "3. If the order is right as it stands, confirm it.\n\n"
        "The order you find them in is arbitrary."
    ),
    "guideline": gettext_noop(
        "A response is better if it answers what was asked, is correct, says what the person needs and leaves out what "
        "they don't. Neither its length nor its look makes it better."
    ),
}


class Rankings(StudyDerivation):
    key = "rankings"
    label = "Rankings beside scores"
    about = "Of each query, the responses that were scored one by one or together are put in order."
    options = (
        DerivationOption(
            name="systems", label="Systems", default="",
            help="Keys, separated by commas. Leave empty for all.",
        ),
    )  # fmt: skip

    def refusal(self, study: Study, spec: Spec) -> str:
        scored = any(question["kind"] == Kind.SCALE for question in spec["questions"])
        if not scored:
            return "Nothing was scored on a scale in this study."
        return "" if study.systems.count() > 1 else "The study has fewer than two systems."

    def header(self, deriving: Deriving) -> Record:
        spec = shared_spec(deriving, "ranking", deriving.spec["arms"])
        if deriving.study.protocol != "question_quality":
            protocol, language = get_protocol("ranking"), deriving.study.language
            questions = [
                replace(question, prompt=prompt)
                for question, prompt in zip(protocol.default_questions(), PROMPTS, strict=True)
            ]
            spec |= {
                "questions": questions_in(language, questions),
                "texts": texts_in(language, protocol.default_texts() | TEXTS),
            }
        return {"spec": spec, "systems": own_systems(deriving.study)}

    def records(self, deriving: Deriving) -> Iterator[Record]:
        wanted = {each.strip() for each in str(deriving.options["systems"]).split(",") if each.strip()}
        rows = ItemResponse.objects.filter(
            item__study=deriving.study, item__role=Role.MAIN, item__withdrawn_at=None
        ).select_related("item__arm", "item__query", "item__context", "response__system", "response__context")
        places: dict[Any, list[ItemResponse]] = {}
        for row in rows.order_by("item__position", "item", "response"):
            if not wanted or row.response.system.key in wanted:
                where = (row.item.arm_id, row.item.query_id, row.item.context_id)
                places.setdefault(where, []).append(row)
        for found in places.values():
            # One response of each system.
            by_system: dict[str, ItemResponse] = {}
            for row in found:
                by_system.setdefault(row.response.system.key, row)
            if not 2 <= len(by_system) <= MAX_RANKED:
                deriving.left_out[f"queries without 2 to {MAX_RANKED} systems' responses"] += 1
                continue
            yield self._record(list(by_system.values()), sorted({row.item.key for row in found}))

    def _record(self, rows: list[ItemResponse], items: list[str]) -> Record:
        item = rows[0].item
        name = f"{item.query.key}-{item.arm.key}" + (f"-{item.context.key}" if item.context else "")
        return {
            "key": name[:120],
            "arm": item.arm.key,
            "query": query_content(item.query),
            "context": context_record(item.context),
            "responses": [
                {
                    "system": row.response.system.key,
                    "key": row.response.key,
                    "text": row.response.text,
                    "context": given_context(row.response.context, item.context),
                }
                for row in rows
            ],
            "origin": {"items": items},
        }


DERIVATION = Rankings()
