"""Sentences on where a study's people come from, for the pages of its design."""

from collections.abc import Iterator

from annotator.panels.platforms import default_platform, get_platform
from annotator.panels.services.launch_advice import PLATFORM_URL_NAME
from annotator.panels.services.panel_settings import panel_of
from annotator.panels.services.preflight import codes_of
from annotator.panels.services.recruitment_filters import eligibility_of, filter_sentences
from evaluation.counting import counted
from evaluation.extension import Advice
from evaluation.models import Study


def recruitment_facts(study: Study) -> Iterator[Advice]:
    """The platform with its eligibility, and the number of codes."""
    panel = panel_of(study)
    if panel is None:
        label = default_platform().label
        said = f"No platform is set: whoever has the link can take part; {label}'s ids are recognised."
    else:
        platform = get_platform(panel.platform)
        eligibility = "; ".join(filter_sentences(panel)) or "open to everyone"
        said = platform.label + (f", {eligibility}." if eligibility_of(platform) is not None else ".")
    codes = len(codes_of(study))
    said += f" {counted(codes, 'completion code')}." if codes else " No completion codes."
    yield Advice(said, "Platform, codes and eligibility", PLATFORM_URL_NAME)
