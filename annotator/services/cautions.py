"""What participants of a draft would be left without when their visit ends."""

from collections.abc import Iterator

from annotator.models import ParticipantOutcome
from annotator.platforms import get_platform
from annotator.services.draft_checks import codes_of, needed_outcomes
from annotator.services.panels import panel_of
from evaluation.models import Study

NO_PANEL = (
    "It is not set where people come from. Whoever comes with Prolific's ids is known by them and sent back there, but "
    "nobody is kept out without an id, and other panels' ids are not read."
)


def launch_cautions(study: Study) -> Iterator[str]:
    """Hook: no panel, and outcomes that need a code and have none."""
    panel = panel_of(study)
    if panel is None:
        yield NO_PANEL
    codes = codes_of(study)
    # Prolific's parameters are understood where no panel is set, and its people come back by codes alone.
    platform, settings = (
        (get_platform("prolific"), {}) if panel is None else (get_platform(panel.platform), panel.settings)
    )
    needed = [each for each in needed_outcomes(study) if platform.needs_code(each, settings)]
    if missing := [ParticipantOutcome(each).label for each in needed if each not in codes]:
        who = platform.label if panel is not None else f"{platform.label}, if they come from there,"
        yield f"Participants from {who} get no code at these ends of a visit: {', '.join(missing)}."
