"""A judge's entries as drafts: its sets of conditions, answers and citations, put before people to calibrate."""

from collections.abc import Iterator, Sequence

from evaluation.dumps.derivation import DerivationOption, Deriving, Record, StudyDerivation, same_spec
from evaluation.models import Answer, Judgment, Rater, Role, Study
from evaluation.protocols import AnswerValue, Kind
from evaluation.protocols.base import Spec
from evaluation.protocols.entries.sets import read_answers, read_set, write_set
from evaluation.refusals import Refused
from evaluation.selectors import counting_judgments
from evaluation.services.answers import with_answers
from evaluation.services.studies.resolver import has_entries


class EntryDrafts(StudyDerivation):
    key = "entry_drafts"
    label = "A judge's entries as drafts"
    about = "Each set of entries that a judge gave becomes the draft that people calibrate."
    options = (
        DerivationOption(
            name="judge", label="Judge", default="", help="Its name with the version, if there are several."
        ),
    )  # fmt: skip

    def refusal(self, study: Study, spec: Spec) -> str:
        if not has_entries(spec):
            return "No condition-answer-citation entries are asked for in this study."
        return "" if self._judges(study) else "No judge has given entries in this study."

    def header(self, deriving: Deriving) -> Record:
        judge = self._judge(deriving)
        steps = {**deriving.spec["steps"], "training": False, "qualification": None, "attention": None}
        system = {"key": judge, "label": judge, "kind": "model"}
        return {"spec": same_spec(deriving) | {"steps": steps, "baseline": ""}, "systems": [system]}

    def records(self, deriving: Deriving) -> Iterator[Record]:
        judge = self._judge(deriving)
        judgments = (
            counting_judgments(deriving.study)
            .filter(rater__kind=Rater.Kind.JUDGE, rater__label=judge, item__role=Role.MAIN)
            .select_related("item__arm", "rater")
            .order_by("item__position", "item", "replicate", "pk")
        )
        seen: set[int] = set()
        for judgment, answers in with_answers(judgments):
            if judgment.item_id in seen:
                deriving.left_out["further readings of the same item"] += 1
                continue
            seen.add(judgment.item_id)
            yield _record(judgment, answers, judge)

    def _judges(self, study: Study) -> list[str]:
        given = Answer.objects.filter(
            kind=Kind.ENTRIES, judgment__study=study, judgment__rater__kind=Rater.Kind.JUDGE,
            judgment__rater__in_figures=True,
        )  # fmt: skip
        return sorted(set(given.values_list("judgment__rater__label", flat=True)))

    def _judge(self, deriving: Deriving) -> str:
        judges, chosen = self._judges(deriving.study), str(deriving.options["judge"])
        if chosen and chosen not in judges:
            raise Refused(f"No judge {chosen!r} has given entries; there are: {', '.join(judges)}.")
        if not chosen and len(judges) > 1:
            raise Refused(f"Several judges have given entries; choose one of {', '.join(judges)}.")
        return chosen or judges[0]


def _record(judgment: Judgment, answers: Sequence[AnswerValue], judge: str) -> Record:
    stimulus = judgment.item.stimulus or {}
    # As a draft has them: without origins, which are a judgment's.
    entries = read_set(write_set(read_answers(answers)))
    return {
        "key": judgment.item.key,
        "arm": judgment.item.arm.key,
        "query": stimulus["query"],
        "responses": [
            {
                "system": judge,
                "entries": [{name: value for name, value in each.items() if value} for each in entries],
            }
        ],
        "origin": {
            "item": judgment.item.key, "rater": judgment.rater.pseudonym, "judgments": [judgment.pk],
        },
    }  # fmt: skip


DERIVATION = EntryDrafts()
