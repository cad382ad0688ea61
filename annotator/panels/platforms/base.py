"""The parts of a platform: the ids in its addresses, its settings, and the endings of visits.

Pure: settings are the JSON of `annotator.models.Panel.settings`, parameters those of an address.
"""

import re
from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from django.utils.translation import gettext_lazy

from annotator.panels.platforms.api import PlatformAPI
from annotator.panels.platforms.endings import LINK, LINK_AWAY, Endings, Words
from annotator.visit import Visit

MAX_ID = 120
# In place of the ids that a platform gives.
EXAMPLE = "EXAMPLE"
Settings = Mapping[str, Any]


# {{%PROLIFIC_PID%}}, %SURVEY_CODE%, ${e://Field/PID}, [ID], <id>, {}: what a panel was to replace; the words that
# `Link.entry_address` writes; and what programs make of nothing.
_PLACEHOLDER = re.compile(
    r"\$?\{.*\}|\[.*\]|<.*>|%.*%|external_id|external_study_id|session_id|null|undefined|none|nan",
    re.IGNORECASE | re.DOTALL,
)


def is_placeholder(text: str) -> bool:
    """True of what stands in an address where a panel should have filled an id in."""
    return _PLACEHOLDER.fullmatch(text.strip()) is not None


def clean_id(text: str) -> str:
    """A panel's id as it is stored; a placeholder is none."""
    return "" if is_placeholder(text) else text.strip()[:MAX_ID]


# Pairs of a parameter's name and the visit's field that it fills.
Names = Sequence[tuple[str, str]]


def read_ids(params: Mapping[str, str], names: Names) -> dict[str, Any]:
    """The visit's fields, cleaned; empty where a parameter is missing."""
    return {field: clean_id(params.get(name, "")) for name, field in names}


def id_params(visit: Visit, names: Names) -> dict[str, str]:
    """The ids as parameters again, without those that the visit lacks."""
    return {name: getattr(visit, field) for name, field in names if getattr(visit, field)}


@dataclass(frozen=True)
class Departure:
    """A participant's way back to the panel: a code to copy, an address to open, or a form to post there."""

    code: str = ""
    link: str = ""
    post_to: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Setting:
    """A setting of a platform; `name` is its key in the panel's settings."""

    name: str
    label: str
    help: str = ""
    default: str = ""
    required: bool = False
    # True of what belongs to one study there, as its completion codes do, such as an address with a code in it.
    of_one_study: bool = False


class Platform:
    """A panel, or a manner of panels. Subclasses say their parameters, what can be set, and how a way ends."""

    key: ClassVar[str]
    label: ClassVar[str]
    # What the researcher reads where they choose it.
    about: ClassVar[str]
    # Whether a study can be set to it.
    is_offered: ClassVar[bool] = True
    # Whether a study that is set to nothing takes its participants, and is set to it once it is drafted.
    is_default: ClassVar[bool] = False
    # Where there is a client of its API here.
    api: ClassVar[PlatformAPI | None] = None
    settings: ClassVar[tuple[Setting, ...]] = ()
    # The parameters that it adds to addresses by itself, the one that names a person first.
    params: ClassVar[tuple[str, ...]] = ()
    # What it says to participants of their pay, and what they shall do there, by outcome.
    endings: ClassVar[Endings] = LINK
    # The same for those whom the study does not take in, by the reason.
    away: ClassVar[Endings] = LINK_AWAY
    reward: ClassVar[Words] = gettext_lazy("Your pay")

    def ending(self, outcome: str, leave: Departure) -> tuple[Words, Words]:
        """The words on the pay, and on what to do now, for somebody who gets back like this."""
        ending = self.endings[outcome]
        has_way = bool(leave.code or leave.link or leave.post_to)
        return ending.pay, ending.go_back if has_way else ending.stay

    def read_params(self, settings: Settings) -> Collection[str]:
        """The names of the parameters that a study which is set like this reads."""
        return self.params

    def needs_code(self, outcome: str, settings: Settings) -> bool:
        """True where participants with this outcome get back by a code, so that the study must have one."""
        return False

    def needs_id(self, settings: Settings) -> bool:
        """True where nobody is taken in without the platform's id."""
        return False

    def unknown_people_reason(self, settings: Settings) -> str:
        """Why somebody who took part in another study of the platform is not known in this one; empty where they are:
        lists across studies go by ids, so they need the same one in both."""
        return "" if self.needs_id(settings) else f"{self.label} gives participants no id"

    def visits_problem(self, settings: Settings) -> str:
        """A sentence on what does not work here where one person is paid for several visits; empty where each visit has
        its own id there."""
        return ""

    @abstractmethod
    def read_visit(self, params: Mapping[str, str], settings: Settings) -> Visit:
        """The visit, from the address's parameters (or the entry form that carries them on)."""

    @abstractmethod
    def visit_params(self, visit: Visit, settings: Settings) -> dict[str, str]:
        """The same visit as parameters again."""

    def leave(self, outcome: str, code: str, visit: Visit, settings: Settings) -> Departure:
        """The way back for somebody with this outcome; `code` is the study's for it, empty where it has none."""
        return Departure(code=code)

    def example_visit(self, settings: Settings) -> Visit:
        """A visit of nobody, for a look at how the ways of participants end."""
        return Visit(self.key, EXAMPLE, EXAMPLE, EXAMPLE)

    def find_problems(self, settings: Settings) -> list[str]:
        """Sentences that say what is wrong with the settings."""
        return []

    def frame_ancestors(self, settings: Settings) -> tuple[str, ...]:
        """Origins of the platform that may show the participants' pages in a frame."""
        return ()

    def entry_address(self, address: str, settings: Settings) -> str:
        """The study's address as it is given to the panel, with the panel's own placeholders."""
        return address
