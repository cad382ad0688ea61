"""A second round on what was disagreed on: items without a majority, or on which a judge and people differ."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from evaluation.dumps.derivation import (
    DerivationOption,
    Deriving,
    Record,
    StudyDerivation,
    own_systems,
    same_spec,
)
from evaluation.dumps.exports.jsonl import item_record, response_contexts
from evaluation.dumps.exports.stored_study import StoredStudy
from evaluation.models import Answer, Rater, Role, Study
from evaluation.protocols import Kind
from evaluation.protocols.base import Spec
from evaluation.refusals import Refused
from evaluation.selectors import countable_q

LABELS = (Kind.PREFERENCE, Kind.CHOICE)
# What belongs to the first round alone.
FIRST_ROUND = ("judgments", "notes", "start_order", "stimulus_hash", "revision", "origin")


def label_questions(spec: Spec) -> list[str]:
    return [question["key"] for question in spec["questions"] if question["kind"] in LABELS]


class Disagreements(StudyDerivation):
    key = "disagreements"
    label = "Second round of disagreements"
    about = (
        "The items on which raters differ, asked again in the same words, with the same training and checks."
    )
    options = (
        DerivationOption(
            name="between", label="Who disagrees", default="people", choices=("people", "judge"),
            help="People among themselves; or a judge with what most people said.",
        ),
        DerivationOption(
            name="share", label="Share of the most common answer, at most", default=0.5, low=0, high=1,
            help="Among people: 0.5 takes the items without a majority.",
        ),
        DerivationOption(
            name="judge", label="Judge", default="", help="Its name with the version, if there are several."
        ),
        DerivationOption(
            name="question", label="Question", default="",
            help="Key of a question that is answered by a choice. Leave empty for the first one.",
        ),
    )  # fmt: skip

    def refusal(self, study: Study, spec: Spec) -> str:
        return "" if label_questions(spec) else "No question of this study is answered by a choice."

    def header(self, deriving: Deriving) -> Record:
        return {"spec": same_spec(deriving), "systems": own_systems(deriving.study)}

    def records(self, deriving: Deriving) -> Iterator[Record]:
        chosen = self._chosen(deriving)
        stored = StoredStudy(deriving.study)
        arms = {arm["key"]: arm for arm in deriving.spec["arms"]}
        drafts = deriving.study.protocol_object.drafts_entries
        for chunk in stored.chunks():
            given = response_contexts(stored, chunk)
            for item in chunk:
                if item.withdrawn or (item.role == Role.MAIN and item.pk not in chosen):
                    continue
                record = item_record(
                    item, arms[item.stimulus["arm"]], given.get(item.pk, {}), False, drafts=drafts
                )
                kept = {name: value for name, value in record.items() if name not in FIRST_ROUND}
                yield kept | {"origin": {"item": item.key, "judgments": sorted(chosen.get(item.pk, []))}}

    def _chosen(self, deriving: Deriving) -> dict[int, Sequence[int]]:
        """Items to the judgments that differ on them."""
        question = self._question(deriving)
        people = self._labels(deriving, question, {"judgment__rater__kind": Rater.Kind.PERSON})
        if deriving.options["between"] == "people":
            share = float(deriving.options["share"])
            several = {item: given for item, given in people.items() if len(given) > 1}
            deriving.left_out["items with fewer than two people's answers"] += len(people) - len(several)
            chosen = {item: given for item, given in several.items() if _top(given)[1] <= share}
            deriving.left_out["items on which people agree more than that"] += len(several) - len(chosen)
            return {item: list(given) for item, given in chosen.items()}
        return self._against_judge(deriving, question, people)

    def _against_judge(
        self, deriving: Deriving, question: str, people: dict[int, dict[int, str]]
    ) -> dict[int, Sequence[int]]:
        judge = self._judge(deriving)
        said = self._labels(deriving, question, {"judgment__rater": judge, "judgment__replicate": 0})
        chosen: dict[int, Sequence[int]] = {}
        for item, given in people.items():
            label, share = _top(given)
            if share <= 0.5:
                deriving.left_out["items without a majority among people"] += 1
            elif item not in said:
                deriving.left_out["items that the judge has not answered"] += 1
            elif set(said[item].values()) != {label}:
                chosen[item] = [*given, *said[item]]
            else:
                deriving.left_out["items on which the judge agrees with people"] += 1
        return chosen

    def _judge(self, deriving: Deriving) -> Rater:
        judges = deriving.study.raters.filter(kind=Rater.Kind.JUDGE, in_figures=True).order_by("label")
        named = judges.filter(label=deriving.options["judge"]) if deriving.options["judge"] else judges
        found = list(named[:2])
        if len(found) != 1:
            labels = ", ".join(judges.values_list("label", flat=True)) or "none"
            raise Refused(f"Name one judge that has judged this study; there are: {labels}.")
        return found[0]

    def _question(self, deriving: Deriving) -> str:
        known, chosen = label_questions(deriving.spec), str(deriving.options["question"])
        if chosen and chosen not in known:
            raise Refused(f"No question {chosen!r} is answered by a choice; there are: {', '.join(known)}.")
        return chosen or known[0]

    def _labels(self, deriving: Deriving, question: str, raters: Any) -> dict[int, dict[int, str]]:
        """Items to judgments to labels, of counting judgments of main items."""
        rows = Answer.objects.filter(
            countable_q(deriving.study, "judgment__"),
            judgment__item__role=Role.MAIN,
            judgment__item__withdrawn_at=None,
            question=question,
            part="",
            label__isnull=False,
            **raters,
        ).values_list("judgment__item", "judgment", "label")
        found: dict[int, dict[int, str]] = defaultdict(dict)
        for item, judgment, label in rows:
            found[item][judgment] = label or ""
        return found


def _top(given: dict[int, str]) -> tuple[str, float]:
    """The most common label and its share."""
    label, n = Counter(given.values()).most_common(1)[0]
    return label, n / len(given)


DERIVATION = Disagreements()
