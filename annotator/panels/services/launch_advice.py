"""Advice on a draft from where its people come from: missing codes, and a second attempt at its qualification."""

from collections.abc import Iterator
from typing import Any

from annotator.models import ParticipantOutcome
from annotator.panels.platforms import get_platform
from annotator.panels.services.panel_settings import panel_of
from annotator.panels.services.prolific_preflight import ONE_ATTEMPT, PLATFORM, codes_of, needed_outcomes
from annotator.selectors import steps_in_force
from evaluation.extension import Advice
from evaluation.models import Status, Study
from evaluation.services import revise_study
from evaluation.services.studies.drafts import lock_draft

ATTEMPTS = 2
RETRY_URL_NAME = "admin:evaluation_study_attempts"

NO_PANEL = (
    "No recruitment platform is set. Visitors with Prolific's ids are recognised and sent back "
    "there, but visitors without an id are let in, and other panels' ids are not read."
)


def launch_cautions(study: Study) -> Iterator[str]:
    """No panel, and outcomes that need a code and have none."""
    panel = panel_of(study)
    if panel is None:
        yield NO_PANEL
    codes = codes_of(study)
    # Prolific's parameters are understood where no platform is set, and its people come back by codes alone.
    platform, settings = (
        (get_platform("prolific"), {}) if panel is None else (get_platform(panel.platform), panel.settings)
    )
    needed = [each for each in needed_outcomes(study) if platform.needs_code(each, settings)]
    if missing := [ParticipantOutcome(each).label for each in needed if each not in codes]:
        who = platform.label if panel is not None else f"{platform.label}, if they come from there,"
        yield f"Participants from {who} get no code for these outcomes: {', '.join(missing)}."


def lacks_retry(study: Study) -> bool:
    """True where the panel that the study is set to wants a second attempt at its qualification."""
    panel = panel_of(study)
    if panel is None or panel.platform != PLATFORM or study.status == Status.CLOSED:
        return False
    rule = steps_in_force(study).get("qualification") or {}
    return bool(rule) and (rule.get("attempts") or 1) < ATTEMPTS


def allow_retry(study: Study, by: Any) -> None:
    """Two attempts from now on: in a draft's own rules, later by a revision, which binds who enters from then on."""
    rule = {**steps_in_force(study)["qualification"], "attempts": ATTEMPTS}
    if study.status != Status.DRAFT:
        revise_study(study=study, changes={"steps": {"qualification": rule}}, by=by)
        return
    locked = lock_draft(study)
    locked.steps = {**locked.steps, "qualification": rule}
    locked.save(update_fields=["steps"])
    study.steps = locked.steps


def launch_advice(study: Study, by: Any) -> Iterator[Advice]:
    """A qualification that the study's panel would have tried twice."""
    if lacks_retry(study):
        yield Advice(ONE_ATTEMPT, "Allow two attempts", RETRY_URL_NAME)
