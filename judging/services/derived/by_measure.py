"""Verdicts by a measure that another rater gave to the responses: a metric that a script has computed, perplexities
that came with the items (HREF section 2.2), a judge's scores."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from django.db.models import Avg

from evaluation.models import Answer, Rater
from evaluation.protocols import QuestionSpec
from evaluation.protocols.answers.measures import Measure, Subject, declared_measures
from evaluation.protocols.base import Spec, Stimulus
from evaluation.refusals import Refused
from evaluation.selectors import countable_q
from judging.backends.base import Draws, StopRun, Unmeasurable
from judging.backends.derived import BY_MEASURE, named_members
from judging.backends.measured import fits_scale, is_comparison, verdict_by_measure
from judging.models import Judge, JudgeRun
from judging.services.derived.base import (
    Answering,
    JudgmentDerivation,
    Preparation,
    members_of,
    prepared_with,
)
from judging.services.derived.members import Member, without_figures


class MeasureDerivation(JudgmentDerivation):
    key = BY_MEASURE.key

    def problems(self, judge: Judge, spec: Spec) -> list[str]:
        if len(named_members(judge.options.get("members") or [])) != 1:
            return ["Verdicts by a measure have one member: the rater that gave it."]
        if not self.questions(judge, spec):
            return [
                "The study asks nothing that the better number would answer: no preference and no ranking."
            ]
        return []

    def questions(self, judge: Judge, spec: Spec) -> list[str]:
        """Every preference and ranking, or those that are chosen; scales only where they are."""
        questions = [QuestionSpec.from_json(each) for each in spec["questions"]]
        if judge.questions:
            return [each.key for each in questions if each.key in judge.questions]
        return [each.key for each in questions if is_comparison(each)]

    def prepare(self, judge: Judge, spec: Spec) -> Preparation:
        members = members_of(judge)
        measure = _measure_of(judge, members[0])
        questions = [QuestionSpec.from_json(each) for each in spec["questions"]]
        unfit = [
            each.key
            for each in questions
            if each.key in self.questions(judge, spec)
            and not (is_comparison(each) or fits_scale(each, measure))
        ]
        if unfit:
            raise Refused(f"{measure.title} does not answer {', '.join(unfit)}.")
        about = {"kind": self.key, "measure": measure.as_json(), "answered": self.questions(judge, spec)}
        return prepared_with(members, about, fitted=False, by_query={})

    def answering(self, judging: JudgeRun) -> Answering:
        about, study = judging.rater.about["derived"], judging.judge.study
        [(name, key)] = about["members"].items()
        rater = Rater.objects.filter(study=study, pseudonym=key, in_figures=True).first()
        if rater is None:
            raise StopRun(without_figures(name))
        [measure] = declared_measures({"measures": [about["measure"]]})
        numbers = _numbers(rater, measure)
        questions = [QuestionSpec.from_json(each) for each in judging.revision.spec["questions"]]
        answered = [each for each in questions if each.key in about["answered"]]
        protocol, spec, margin = study.protocol_object, judging.revision.spec, judging.judge.options["margin"]

        def answer(stimulus: Stimulus, key: str) -> Mapping[str, Any]:
            asked = {each.key for each in protocol.questions(spec, stimulus)}
            given = numbers.get(key, {})
            missing = [each["part"] for each in stimulus["responses"] if each["part"] not in given]
            if missing:
                raise Unmeasurable(f"{name}: no {measure.title} of {', '.join(missing)}.")
            draws = Draws(study.seed, key, 0)
            return {
                each.key: verdict_by_measure(each, stimulus, measure, given, draws, margin=margin)
                for each in answered
                if each.key in asked
            }

        return answer


def _measure_of(judge: Judge, member: Member) -> Measure:
    rater = Rater.objects.get(study=judge.study, pseudonym=member.key)
    fit = [
        each for each in declared_measures(rater.about) if each.subject == Subject.RESPONSE and each.direction
    ]
    wanted = judge.options["measure"]
    found = [each for each in fit if not wanted or each.name == wanted]
    if len(found) == 1:
        return found[0]
    known = ", ".join(each.name for each in fit) or "none"
    problem = "names none of them" if wanted else "must name one of them"
    raise Refused(
        f"{member.label}: measures of responses of which one end is better: {known}. The judge {problem}."
    )


def _numbers(rater: Rater, measure: Measure) -> Mapping[str, Mapping[str, float]]:
    """The number of each response, by item and part: the mean of the rater's replicates."""
    answers = Answer.objects.filter(
        countable_q(rater.study, "judgment__"), judgment__rater=rater, question=measure.key
    )
    found: dict[str, dict[str, float]] = defaultdict(dict)
    rows = answers.values("judgment__item__key", "part").annotate(mean=Avg("number")).order_by()
    for row in rows:
        found[row["judgment__item__key"]][row["part"]] = row["mean"]
    return found
