"""CloudResearch Connect."""

from collections.abc import Mapping
from urllib.parse import quote, urlsplit

from annotator.panels.platforms.addresses import fill, find_template_problems
from annotator.panels.platforms.base import Departure, Platform, Setting, Settings, id_params, read_ids
from annotator.panels.platforms.endings import CONNECT, CONNECT_AWAY
from annotator.visit import Visit

SITE = "https://connect.cloudresearch.com"
PARAMS = (
    ("participantId", "external_id"),
    ("projectId", "external_study_id"),
    ("assignmentId", "session_id"),
)
# They did not complete: Connect pays them through its Partial Completes address and no other.
PARTIAL = ("failed_qualification", "failed_attention", "full")
PLACES = ("code", "participant", "study", "session")


class Connect(Platform):
    key = "connect"
    label = "CloudResearch Connect"
    about = (
        "Connect passes three ids. Participants who complete go back by the project's completion "
        "address; those who fail a check go by its Partial Completes address, which never marks "
        "the assignment as complete."
    )
    settings = (
        Setting(
            "partial_url",
            "Partial Completes address",
            "From the project's settings on Connect: for failed qualification, failed attention "
            "checks and a full "
            "study. Empty: they only see the study's code for it, if there is one. {participant}, "
            "{study}, {session} "
            "and {code} may stand in it.",
            of_one_study=True,
        ),
    )

    endings = CONNECT
    away = CONNECT_AWAY
    params = tuple(name for name, _ in PARAMS)

    def needs_code(self, outcome: str, settings: Settings) -> bool:
        return outcome in PARTIAL and not settings.get("partial_url")

    def needs_id(self, settings: Settings) -> bool:
        return True

    def read_visit(self, params: Mapping[str, str], settings: Settings) -> Visit:
        ids = read_ids(params, PARAMS)
        return Visit(self.key, **ids) if ids["external_id"] else Visit(self.key)

    def visit_params(self, visit: Visit, settings: Settings) -> dict[str, str]:
        return id_params(visit, PARAMS)

    def leave(self, outcome: str, code: str, visit: Visit, settings: Settings) -> Departure:
        if outcome == "completed" and visit.external_study_id:
            project = quote(visit.external_study_id, safe="")
            return Departure(code=code, link=f"{SITE}/participant/project/{project}/complete")
        if outcome not in PARTIAL:
            return Departure(code=code)
        values = {
            "code": code,
            "participant": visit.external_id,
            "study": visit.external_study_id,
            "session": visit.session_id,
        }
        return Departure(code=code, link=fill(settings.get("partial_url", ""), values))

    def find_problems(self, settings: Settings) -> list[str]:
        address = settings.get("partial_url", "")
        if not address:
            return []
        found = [
            f"Partial Completes address: {problem}" for problem in find_template_problems(address, PLACES)
        ]
        if not found and urlsplit(address).path.rstrip("/").endswith("/complete"):
            found.append("Partial Completes address: this is the address of those who completed.")
        return found

    def frame_ancestors(self, settings: Settings) -> tuple[str, ...]:
        return (SITE,)
