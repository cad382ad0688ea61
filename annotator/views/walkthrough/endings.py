"""The end pages of a walk: what the participant reads, and what their platform does then."""

from collections.abc import Iterator

from annotator.models import ParticipantOutcome
from annotator.panels.platforms import Departure, Platform, Settings, get_platform
from annotator.panels.platforms.addresses import origin_of
from annotator.panels.services.arrivals import code_for
from annotator.panels.services.panel_settings import panel_of
from annotator.panels.services.study_draft import RETURN_REASONS
from annotator.visit import Visit
from evaluation.models import Study

HIDDEN_CODE = "••••••"


def platform_of(study: Study) -> tuple[Platform, Settings]:
    panel = panel_of(study)
    return (get_platform("link"), {}) if panel is None else (get_platform(panel.platform), panel.settings)


def departure_for(study: Study, outcome: str, visit_number: int = 1, *, sees_codes: bool) -> Departure:
    """The way back of somebody with this outcome of that visit, with example ids. Who may not edit the study sees no
    code."""
    platform, settings = platform_of(study)
    code = code_for(study, outcome, visit_number)
    shown = code if sees_codes or not code else HIDDEN_CODE
    return platform.leave(outcome, shown, platform.example_visit(settings), settings)


def example_arrival(study: Study) -> Visit:
    """A visit of nobody as the study's platform tells it at the door, which may name neither person nor visit."""
    platform, settings = platform_of(study)
    return platform.read_visit(platform.visit_params(platform.example_visit(settings), settings), settings)


def consequences(platform: Platform, outcome: str, leave: Departure, *, sees_codes: bool) -> Iterator[str]:
    """Sentences for the researcher on what happens beside the page."""
    address = leave.post_to or leave.link
    # An address can hold the code, or a token that grants credit.
    where = address if sees_codes else origin_of(address)
    if leave.post_to:
        yield f"In the study, the button sends the work to {where}."
    elif leave.link:
        yield f"In the study, the button leads to {where}."
    elif outcome in (ParticipantOutcome.RETURNED, ParticipantOutcome.TIMED_OUT):
        yield "It has ended on the platform before it ends here, so nobody is sent there."
    elif leave.code:
        yield "The participant enters the code where they found the study."
    else:
        yield "The study has no code for this outcome, and nothing leads back."
    if platform.api is not None and leave.code and outcome in RETURN_REASONS:
        if reason := RETURN_REASONS[outcome]:
            yield f"With this code {platform.label} asks them to return the submission: “{reason}”"
        else:
            yield f"With this code the submission waits on {platform.label} for your review."
