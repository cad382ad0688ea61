"""The platforms that people come from, one module each: what their addresses carry and how a way ends there."""

from collections.abc import Mapping

from annotator.platforms.base import Leave, Platform, Setting, Settings, Visit
from annotator.platforms.connect import Connect
from annotator.platforms.external_question import ExternalQuestion
from annotator.platforms.link import Link, Personal
from annotator.platforms.prolific.profile import Prolific
from annotator.platforms.sona import Sona

# Those that a study can be set to, as a researcher is offered them.
CHOICES: tuple[Platform, ...] = (Link(), Prolific(), Connect(), Sona(), ExternalQuestion())
PLATFORMS: dict[str, Platform] = {each.key: each for each in (*CHOICES, Personal())}


def get_platform(key: str) -> Platform:
    return PLATFORMS[key]


def understood(params: Mapping[str, str]) -> Platform:
    """Whose parameters these are, for a study that is set to no platform: Prolific's, or just a link."""
    return PLATFORMS["prolific" if params.get("PROLIFIC_PID", "").strip() else "link"]


__all__ = [
    "CHOICES",
    "PLATFORMS",
    "Leave",
    "Platform",
    "Setting",
    "Settings",
    "Visit",
    "get_platform",
    "understood",
]
