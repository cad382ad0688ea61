"""An arrival at a study, as the platform's address names it. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Visit:
    """One arrival: who, and under which submission of the panel.

    `extra` holds whatever else the platform needs again at the end (an address to post to); it is kept with the
    submission. `preview`: somebody looks at the task before taking it on; nothing can be answered.
    """

    platform: str
    external_id: str = ""
    external_study_id: str = ""
    session_id: str = ""
    extra: Mapping[str, str] = field(default_factory=dict)
    preview: bool = False
    # The group of people that the address names, one of the study's.
    group: str = ""

    @property
    def is_known(self) -> bool:
        return bool(self.external_id)
