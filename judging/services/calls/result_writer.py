"""Writes the judgments that finished calls make."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from evaluation.models import Outcome, Study
from evaluation.protocols import AnswerValue, Kind
from evaluation.protocols.answers.measures import clean_answers
from evaluation.protocols.base import MAX_TEXT, Stimulus
from evaluation.services.judgments import JudgmentInput, record_judgments
from judging.backends.base import Draws
from judging.models import Call, CallState, JudgeRun
from judging.prompting.item_call import ItemCall
from judging.services.calls.call_attempts import CallAttempt, worst
from judging.services.calls.plan import CallPlan

JUSTIFICATION = "justification"


class ResultWriter:
    """Writes a judge's judgments, each once every step of it is final."""

    def __init__(self, judging: JudgeRun, study: Study, plan: CallPlan) -> None:
        self.study = study
        self.plan = plan
        self.rater_id = judging.rater_id
        self.revision_id = judging.revision_id

    def write(self, final: Sequence[CallAttempt], rows: Mapping[int, Call], now: datetime) -> None:
        """Write every judgment whose last step was among these calls."""
        # Not as known to be new: a call that is retried after the run replaces what it failed to bring.
        record_judgments(study=self.study, batch=self._judgments(final, rows, now))

    def _judgments(
        self, final: Sequence[CallAttempt], rows: Mapping[int, Call], now: datetime
    ) -> list[JudgmentInput]:
        stepwise = [each for each in final if each.call.step]
        whole = [
            self._judgment(each.subject.stimulus, [each.call], each.product or (), now)
            for each in final
            if not each.call.step
        ]
        return whole + self._merged(stepwise, rows, now)

    def _merged(
        self, attempt: Sequence[CallAttempt], rows: Mapping[int, Call], now: datetime
    ) -> list[JudgmentInput]:
        """One judgment per (item, replicate) of which every step is final now."""
        steps: dict[tuple[int, int], list[Call]] = defaultdict(list)
        if attempt:
            for row in rows.values():
                steps[_place(row)].append(row)
        subjects = {_place(each.call): each.subject for each in attempt}
        merged = []
        for key, subject in subjects.items():
            calls = steps[key]
            if any(call.state != CallState.FINAL for call in calls):
                continue
            ok = all(call.outcome == Outcome.OK for call in calls)
            answers = self._joined(subject, calls) if ok else ()
            merged.append(self._judgment(subject.stimulus, calls, answers, now))
        return merged

    def _joined(self, subject: Any, calls: Sequence[Call]) -> Sequence[AnswerValue]:
        """The answers that all steps of a judgment make together; `subject` is the `JudgedItem`."""
        plan, asking, stimulus = self.plan, self.plan.asking, subject.stimulus
        assert asking is not None
        said = {call.step: call.data for call in calls}
        # Calls come in any order; a step that a later version would ask no more stands at the end.
        order = [step for step in plan.steps(stimulus) if step in said]
        order += sorted(set(said) - set(order))
        draws = Draws(self.study.seed, subject.key, calls[0].replicate)
        asked = ItemCall(plan.protocol, plan.spec, stimulus, plan.settings, order=calls[0].order, draws=draws)
        data = asking.joined(asked, [said[step] or {} for step in order])
        measures = asking.measures(plan.settings)
        return clean_answers(plan.protocol, plan.spec, measures, stimulus, data, source="judge")

    def _judgment(
        self, stimulus: Stimulus, calls: Sequence[Call], answers: Sequence[AnswerValue], now: datetime
    ) -> JudgmentInput:
        outcome = worst([call.outcome for call in calls])
        ok = outcome == Outcome.OK
        rationale = "\n\n".join(call.rationale for call in calls if call.rationale)
        given = list(answers) if ok else []
        trace = {} if ok else _unread_trace(calls)
        # A judge's reasons stand where people give theirs. Where the form asks for none, or they are too long for it,
        # they are kept beside the answers.
        if rationale and ok and self._takes_justification(stimulus, given) and len(rationale) <= MAX_TEXT:
            given.append(AnswerValue(JUSTIFICATION, Kind.TEXT, text=rationale))
        elif rationale:
            trace["rationale"] = rationale
        times = [call.latency_ms for call in calls if call.latency_ms is not None]
        first = calls[0]
        return JudgmentInput(
            rater_id=self.rater_id,
            item_id=_place(first)[0],
            revision_id=self.revision_id,
            replicate=first.replicate,
            outcome=outcome,
            answers=given,
            shown=first.order,
            duration_ms=sum(times) if times else None,
            judged_at=now,
            trace=trace,
        )

    def _takes_justification(self, stimulus: Stimulus, given: Sequence[AnswerValue]) -> bool:
        questions = self.plan.protocol.questions(self.plan.spec, stimulus)
        asks = any(each.key == JUSTIFICATION and each.kind == Kind.TEXT for each in questions)
        return asks and all(answer.question != JUSTIFICATION for answer in given)


def _place(call: Call) -> tuple[int, int]:
    """The item and the replicate of the judgment that a call belongs to."""
    assert call.item_id is not None
    return call.item_id, call.replicate


def _unread_trace(calls: Sequence[Call]) -> dict[str, Any]:
    """The raw replies of what could not be read, and why."""
    bad = [call for call in calls if call.outcome != Outcome.OK]
    if len(calls) == 1:
        return {"raw": bad[0].raw, "error": bad[0].error}
    return {"steps": {call.step: {"raw": call.raw, "error": call.error} for call in bad}}
