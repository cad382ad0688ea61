"""A link that anybody may be sent: anonymous, or with the ids of whatever panel hands it on."""

import re
from collections.abc import Collection, Mapping
from urllib.parse import quote, urlencode

from annotator.panels.platforms.addresses import (
    fill,
    find_origin_problems,
    find_template_problems,
    is_origin,
    split_origins,
)
from annotator.panels.platforms.base import (
    Departure,
    Platform,
    Setting,
    Settings,
    clean_id,
    id_params,
    read_ids,
)
from annotator.panels.platforms.endings import PERSONAL, PERSONAL_AWAY
from annotator.visit import Visit

PLACES = ("code", "participant", "study", "session")
# Names that the entry form uses itself.
TAKEN = ("choice", "consent", "personal", "group")
OUTCOMES = {
    "completed": "completed",
    "no_consent": "no consent",
    "failed_qualification": "failed qualification",
    "failed_attention": "failed attention checks",
    "full": "study full",
    "withdrawn": "withdrawn",
    "returned": "returned",
    "timed_out": "timed out",
}
IDS = (
    ("participant_param", "external_id", "Parameter with the participant's id"),
    ("study_param", "external_study_id", "Parameter with the study's id"),
    ("session_param", "session_id", "Parameter with the visit's id"),
)


class Link(Platform):
    """Names of parameters and an address per outcome are the researcher's."""

    key = "link"
    label = "Link"
    about = (
        "One link for everyone. With a parameter for the participant's id, any panel can send people "
        "here and get them back at its own address for each outcome."
    )
    settings = (
        Setting(
            "participant_param",
            IDS[0][2],
            "Such as pid. If empty, everyone who opens the link is a new participant. With it, "
            "nobody enters without an id.",
        ),
        Setting("study_param", IDS[1][2], "Such as the panel's project. May be empty."),
        Setting("session_param", IDS[2][2], "Such as the panel's submission. May be empty."),
        *(
            Setting(
                f"return_{outcome}",
                f"Return address: {label}",
                "Where they go back to, with {code}, {participant}, {study} and {session} where "
                "wanted. Empty: they "
                "only see the study's code for it, if there is one."
                if outcome == "completed"
                else "",
                of_one_study=True,
            )
            for outcome, label in OUTCOMES.items()
        ),
        Setting(
            "frame_origins",
            "Sites that may show it in a frame",
            "Such as https://panel.example.org; several with spaces between.",
        ),
    )

    def needs_code(self, outcome: str, settings: Settings) -> bool:
        """A panel must be able to tell who completed; without one, nobody asks for a code."""
        return outcome == "completed" and self.needs_id(settings) and not settings.get("return_completed")

    def needs_id(self, settings: Settings) -> bool:
        return bool(settings.get("participant_param"))

    def unknown_people_reason(self, settings: Settings) -> str:
        return "" if self.needs_id(settings) else "everyone who opens a link without an id counts as new"

    def visits_problem(self, settings: Settings) -> str:
        if not self.needs_id(settings):
            return (
                "Without a parameter for the participant's id, whoever opens the link again is a new participant. Only "
                "the address of their own page leads to their next visit."
            )
        if not settings.get("session_param"):
            return "Without a parameter for the visit's id, participants begin each further visit from their own page."
        return ""

    def read_params(self, settings: Settings) -> Collection[str]:
        return [name for name, _ in _names(settings)]

    def read_visit(self, params: Mapping[str, str], settings: Settings) -> Visit:
        ids = read_ids(params, _names(settings))
        return Visit(self.key, **ids) if ids.get("external_id") else Visit(self.key)

    def visit_params(self, visit: Visit, settings: Settings) -> dict[str, str]:
        return id_params(visit, _names(settings))

    def leave(self, outcome: str, code: str, visit: Visit, settings: Settings) -> Departure:
        values = {
            "code": code,
            "participant": visit.external_id,
            "study": visit.external_study_id,
            "session": visit.session_id,
        }
        return Departure(code=code, link=fill(settings.get(f"return_{outcome}", ""), values))

    def find_problems(self, settings: Settings) -> list[str]:
        found = []
        named = {name: settings[name] for name, _, _ in IDS if settings.get(name)}
        for name, _, label in IDS:
            param = named.get(name, "x")
            if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_.-]{0,39}", param):
                found.append(f"{label}: letters, digits, _ and - only, at most 40.")
            elif param in TAKEN:
                found.append(f"{label}: {param} is used by the entry page itself.")
        if named and "participant_param" not in named:
            found.append(f"{IDS[0][2]}: the other ids need it.")
        if len(set(named.values())) < len(named):
            found.append("Each id needs a parameter of its own.")
        for outcome, label in OUTCOMES.items():
            if template := settings.get(f"return_{outcome}", ""):
                wrong = find_template_problems(template, PLACES)
                found += [f"Return address: {label}: {problem}" for problem in wrong]
        found += _same_addresses(settings)
        found += find_origin_problems(settings.get("frame_origins", ""), wide=True)
        return found

    def frame_ancestors(self, settings: Settings) -> tuple[str, ...]:
        origins = split_origins(settings.get("frame_origins", ""))
        return tuple(each for each in origins if is_origin(each, wide=True))

    def entry_address(self, address: str, settings: Settings) -> str:
        """Each id is a word in capitals, for which the panel's own placeholder goes in."""
        params = {name: field.upper() for name, field in _names(settings)}
        return f"{address}?{urlencode(params, quote_via=quote)}" if params else address


def _same_addresses(settings: Settings) -> list[str]:
    """Problems of codes: whoever completed must not come back as somebody who did not."""
    completed = settings.get("return_completed", "")
    if not completed or "{code}" in completed:
        return []
    same = [label for outcome, label in OUTCOMES.items() if settings.get(f"return_{outcome}") == completed]
    return [
        f"Return address: {label}: the same as of who completed, and without {{code}}; the panel "
        "could not tell them "
        "apart."
        for label in same
        if label != OUTCOMES["completed"]
    ]


def _names(settings: Settings) -> list[tuple[str, str]]:
    """The parameters that are set, with the field that each fills."""
    return [(settings[name], field) for name, field, _ in IDS if settings.get(name)]


class Personal(Platform):
    """A link with a name on it, for a colleague: whoever opens it is that one participant (`services.links`).

    The label is the person's id across studies; the link's key goes where a panel has the visit's.
    """

    key = "personal"
    label = "Personal link"
    about = "Personal links for individual people, in addition to any platform."
    is_offered = False
    endings = PERSONAL
    away = PERSONAL_AWAY

    def read_visit(self, params: Mapping[str, str], settings: Settings) -> Visit:
        return Visit(self.key, session_id=clean_id(params.get("personal", "")))

    def unknown_people_reason(self, settings: Settings) -> str:
        """The same name is the same person in every study."""
        return ""

    def visit_params(self, visit: Visit, settings: Settings) -> dict[str, str]:
        return {"personal": visit.session_id}

    def leave(self, outcome: str, code: str, visit: Visit, settings: Settings) -> Departure:
        """Codes are the panel's; a colleague gets none."""
        return Departure()
