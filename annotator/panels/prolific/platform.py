"""Prolific as a platform: the ids in its addresses, and the way back to it."""

from collections.abc import Mapping
from urllib.parse import quote

from annotator.panels.platforms.base import Departure, Platform, Setting, Settings, id_params, read_ids
from annotator.panels.prolific.api import ProlificAPI
from annotator.panels.prolific.endings import AWAY, ENDINGS
from annotator.visit import Visit

SITE = "https://app.prolific.com"
PARAMS = (
    ("PROLIFIC_PID", "external_id"),
    ("STUDY_ID", "external_study_id"),
    ("SESSION_ID", "session_id"),
)


class Prolific(Platform):
    key = "prolific"
    label = "Prolific"
    about = (
        "Prolific passes three ids and gets participants back with the study's code for their "
        "outcome. Codes are set below; once the study is drafted on Prolific they can no "
        "longer be changed."
    )
    is_default = True
    api = ProlificAPI()
    params = tuple(name for name, _ in PARAMS)
    settings = (
        Setting(
            "description",
            "Description",
            help="Shown on Prolific before people take the study. If empty, a sentence is made from "
            "the study's rules.",
        ),
        Setting("project", "Project", help="The id of a Prolific project. If empty, the account's default."),
    )

    endings = ENDINGS
    away = AWAY

    def needs_code(self, outcome: str, settings: Settings) -> bool:
        # These two end on Prolific before they end here.
        return outcome not in ("returned", "timed_out")

    def needs_id(self, settings: Settings) -> bool:
        return True

    def read_visit(self, params: Mapping[str, str], settings: Settings) -> Visit:
        ids = read_ids(params, PARAMS)
        return Visit(self.key, **ids) if ids["external_id"] else Visit(self.key)

    def visit_params(self, visit: Visit, settings: Settings) -> dict[str, str]:
        return id_params(visit, PARAMS)

    def leave(self, outcome: str, code: str, visit: Visit, settings: Settings) -> Departure:
        if not code:
            return Departure()
        return Departure(code=code, link=f"{SITE}/submissions/complete?cc={quote(code, safe='')}")

    def frame_ancestors(self, settings: Settings) -> tuple[str, ...]:
        return (SITE,)

    def entry_address(self, address: str, settings: Settings) -> str:
        """Prolific replaces the names in double braces by each participant's."""
        return f"{address}?{'&'.join(f'{name}={{{{%{name}%}}}}' for name, _ in PARAMS)}"
