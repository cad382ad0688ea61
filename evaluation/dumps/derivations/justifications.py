"""Justifications to be coded: each reason that somebody gave becomes an item of a justification coding."""

from collections.abc import Iterator

from evaluation.dumps.derivation import (
    DerivationOption,
    Deriving,
    Record,
    StudyDerivation,
    shared_spec,
)
from evaluation.models import AnswerText, Rater, Study
from evaluation.protocols import Kind
from evaluation.protocols.base import Spec
from evaluation.protocols.codebooks import CODEBOOKS, codebook_question
from evaluation.refusals import Refused
from evaluation.selectors import countable_q
from evaluation.services.studies.creation import questions_in

KINDS = {
    "people": [Rater.Kind.PERSON],
    "judges": [Rater.Kind.JUDGE],
    "all": [Rater.Kind.PERSON, Rater.Kind.JUDGE],
}
# By kind of rater, the reasons that are left out where only the others' are wanted.
OF_KIND = {Rater.Kind.PERSON: "reasons of people", Rater.Kind.JUDGE: "reasons of judges"}
CROWD = "crowd"
# Arms are kept, so that the figures tell them apart; whoever codes sees reasons, and no context.
HIDDEN = {"context_at_generation": False, "context_at_judging": False}
# The codebook that the protocol begins with.
OWN = "criteria"


def text_questions(spec: Spec) -> list[str]:
    return [question["key"] for question in spec["questions"] if question["kind"] == Kind.TEXT]


class Justifications(StudyDerivation):
    key = "justifications"
    label = "Justifications to code"
    about = "Each reason that a rater gave becomes an item, to be tagged with a codebook."
    options = (
        DerivationOption(
            name="question", label="Question", default="",
            help="Key of the question that was answered in words. Leave empty for the justification.",
        ),
        DerivationOption(name="raters", label="Whose", default="all", choices=tuple(KINDS),
            help="Of people, of judges, or of both alike."),
        DerivationOption(name="codebook", label="Codebook", default=OWN, choices=CODEBOOKS),
        DerivationOption(name="longest", label="Only the longest", default=0, help="So many at most; 0: all."),
    )  # fmt: skip

    def refusal(self, study: Study, spec: Spec) -> str:
        return "" if text_questions(spec) else "Nothing in this study is answered in words."

    def header(self, deriving: Deriving) -> Record:
        spec = shared_spec(deriving, "justification_coding", [arm | HIDDEN for arm in deriving.spec["arms"]])
        codebook = str(deriving.options["codebook"])
        if codebook != OWN:
            spec["questions"] = questions_in(deriving.study.language, [codebook_question(codebook)])
        # Several reasons are about one query.
        return {"spec": spec | {"once_per": "item"}, "systems": self._systems(deriving)}

    def _systems(self, deriving: Deriving) -> list[Record]:
        judges = deriving.study.raters.filter(kind=Rater.Kind.JUDGE).values_list("label", flat=True)
        return [
            {"key": CROWD, "label": "People", "family": "people", "kind": "person"},
            *({"key": label, "label": label} for label in sorted(set(judges)) if label),
        ]

    def records(self, deriving: Deriving) -> Iterator[Record]:
        study, longest = deriving.study, int(deriving.options["longest"])
        given = AnswerText.objects.filter(
            countable_q(study, "judgment__"),
            judgment__item__role="main",
            judgment__item__withdrawn_at=None,
            question=self._question(deriving),
            part="",
        )
        columns = ("pk", "text", "judgment__item__key", "judgment__rater__pseudonym", "judgment__rater__kind")
        wanted = KINDS[str(deriving.options["raters"])]
        found = []
        for *row, kind in given.values_list(*columns).order_by("pk"):
            if not row[1].strip():
                continue
            if kind in wanted:
                found.append(row)
            elif kind in OF_KIND:
                deriving.left_out[OF_KIND[kind]] += 1
        if longest:
            deriving.left_out["reasons that are shorter than the longest"] += max(0, len(found) - longest)
            found = sorted(found, key=lambda row: (-len(row[1]), row[2], row[3]))[:longest]
        answers = given.select_related("judgment__item", "judgment__rater").in_bulk([row[0] for row in found])
        for pk, *_ in found:
            yield self._record(answers[pk])

    def _question(self, deriving: Deriving) -> str:
        known, chosen = text_questions(deriving.spec), str(deriving.options["question"])
        if not chosen:
            return "justification" if "justification" in known else known[0]
        if chosen not in known:
            raise Refused(f"No question {chosen!r} is answered in words; there are: {', '.join(known)}.")
        return chosen

    def _record(self, answer: AnswerText) -> Record:
        judgment = answer.judgment
        item, rater = judgment.item, judgment.rater
        system = CROWD if rater.kind == Rater.Kind.PERSON else rater.label or rater.pseudonym
        # Without the rater's name: keys are covered by the study's hash, and stay where a rater is erased.
        name = f"reason-{judgment.pk}"
        return {
            "key": f"{item.key[: 119 - len(name)]}-{name}",
            "arm": (item.stimulus or {})["arm"],
            "query": (item.stimulus or {})["query"],
            "responses": [{"system": system, "key": name, "text": answer.text}],
            "origin": {"item": item.key, "rater": rater.pseudonym, "judgments": [judgment.pk]},
        }


DERIVATION = Justifications()
