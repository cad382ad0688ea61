"""Advice on a draft from where its people come from: missing codes, and a second attempt at its qualification."""

from collections.abc import Iterator
from typing import Any

from django.db import transaction

from annotator.models import ParticipantOutcome
from annotator.panels.platforms import default_platform, get_platform
from annotator.panels.services.panel_settings import panel_of, platform_to_draft
from annotator.panels.services.preflight import codes_of, lacks_second_attempt, needed_outcomes, one_attempt
from annotator.selectors.admission import steps_in_force
from evaluation.extension import Advice
from evaluation.models import Status, Study
from evaluation.refusals import Refused
from evaluation.services.history import log_action
from evaluation.services.studies.drafts import lock_draft
from evaluation.services.studies.revision import revise_study

ATTEMPTS = 2
RETRY_URL_NAME = "admin:evaluation_study_attempts"
PLATFORM_URL_NAME = "admin:evaluation_study_platform"

NO_PANEL = (
    "No recruitment platform is set. Visitors with {platform}'s ids are recognised and sent back "
    "there, but visitors without an id are let in, and other panels' ids are not read."
)


def launch_cautions(study: Study) -> Iterator[Advice]:
    """No panel, outcomes that need a code and have none, and visits that can't be told apart."""
    panel = panel_of(study)
    if panel is None:
        yield Advice(
            NO_PANEL.format(platform=default_platform().label), "Choose a platform", PLATFORM_URL_NAME
        )
    codes = codes_of(study)
    # The default platform's parameters are understood where none is set, and its people come back by codes alone.
    platform, settings = platform_to_draft(study), panel.settings if panel is not None else {}
    needed = [each for each in needed_outcomes(study) if platform.needs_code(each, settings)]
    if missing := [ParticipantOutcome(each).label for each in needed if each not in codes]:
        who = platform.label if panel is not None else f"{platform.label}, if they come from there,"
        text = f"Participants from {who} get no code for these outcomes: {', '.join(missing)}."
        yield Advice(text, "Enter the codes", PLATFORM_URL_NAME)
    yield from _visit_cautions(study)


def _visit_cautions(study: Study) -> Iterator[Advice]:
    """A sentence on what the study's platform can't do of several visits; without a platform, on what a link can't."""
    if study.visits == 1:
        return
    panel = panel_of(study)
    platform, settings = get_platform(panel.platform if panel else "link"), panel.settings if panel else {}
    if said := platform.visits_problem(settings):
        yield Advice(
            f"The study has up to {study.visits} visits per person. {said}",
            "Recruitment platform",
            PLATFORM_URL_NAME,
        )


def lacks_retry(study: Study) -> bool:
    """True where the panel that the study is set to wants a second attempt at its qualification."""
    api = platform_to_draft(study).api
    if panel_of(study) is None or api is None or study.status == Status.CLOSED:
        return False
    return lacks_second_attempt(study, api)


def allow_retry(study: Study, by: Any, *, reason: str = "") -> str:
    """Two attempts from now on: in a draft's own rules, later by a revision, which binds who enters from then on.

    Returns a sentence on it. The history of a launched study has the revision's line.
    """
    if not lacks_retry(study):
        raise Refused("No qualification needs a second attempt.")
    said = "The qualification now allows two attempts."
    rule = {**steps_in_force(study)["qualification"], "attempts": ATTEMPTS}
    if study.status != Status.DRAFT:
        revise_study(
            study=study, changes={"steps": {"qualification": rule}}, by=by, reason=f"{said} {reason}"
        )
        return said
    with transaction.atomic():
        locked = lock_draft(study)
        locked.steps = {**locked.steps, "qualification": rule}
        locked.save(update_fields=["steps"])
        log_action(study=study, by=by, message=said, reason=reason)
    study.steps = locked.steps
    return said


def launch_advice(study: Study, by: Any) -> Iterator[Advice]:
    """A qualification that the study's panel would have tried twice."""
    if lacks_retry(study):
        yield Advice(one_attempt(platform_to_draft(study)), "Allow two attempts", RETRY_URL_NAME)
