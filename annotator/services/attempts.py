"""How often somebody may try to qualify, where the study's panel asks for more than once."""

from collections.abc import Iterator
from typing import Any

from annotator.services.draft_checks import ONE_ATTEMPT, PLATFORM, steps_in_force
from annotator.services.panels import panel_of
from evaluation.hooks import Advice
from evaluation.models import Status, Study
from evaluation.services import revise_study
from evaluation.services.drafts import locked_draft

ATTEMPTS = 2
URL_NAME = "admin:annotator_participant_attempts"


def lacks_attempts(study: Study) -> bool:
    """Whether the panel that the study is set to wants another attempt at its qualification."""
    panel = panel_of(study)
    if panel is None or panel.platform != PLATFORM or study.status == Status.CLOSED:
        return False
    rule = steps_in_force(study).get("qualification") or {}
    return bool(rule) and (rule.get("attempts") or 1) < ATTEMPTS


def allow_attempts(study: Study, by: Any) -> None:
    """Two attempts from now on: in a draft's own rules, later by a revision, which binds who enters from then on."""
    rule = {**steps_in_force(study)["qualification"], "attempts": ATTEMPTS}
    if study.status != Status.DRAFT:
        revise_study(study=study, changes={"steps": {"qualification": rule}}, by=by)
        return
    locked = locked_draft(study)
    locked.steps = {**locked.steps, "qualification": rule}
    locked.save(update_fields=["steps"])
    study.steps = locked.steps


def launch_advice(study: Study, by: Any) -> Iterator[Advice]:
    """Hook: a qualification that the study's panel would have tried twice."""
    if lacks_attempts(study):
        yield Advice(ONE_ATTEMPT, "Allow two attempts", URL_NAME)
