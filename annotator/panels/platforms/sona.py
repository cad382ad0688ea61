"""Sona Systems: participant pools of universities, where taking part earns credit."""

import re
from collections.abc import Collection, Mapping
from urllib.parse import urlencode

from django.utils.translation import gettext_lazy

from annotator.panels.platforms.addresses import is_origin
from annotator.panels.platforms.base import Departure, Platform, Setting, Settings, clean_id
from annotator.panels.platforms.endings import SONA, SONA_AWAY
from annotator.visit import Visit

DEFAULT_PARAM = "survey_code"


class Sona(Platform):
    key = "sona"
    label = "SONA"
    about = (
        "A university's participant pool. SONA gives each person a survey code; those who complete "
        "are sent back with it and get credit at once. Nobody else does."
    )
    settings = (
        Setting("site", "Your SONA site", "Such as https://school.sona-systems.com.", required=True),
        Setting(
            "experiment_id",
            "Experiment id",
            "From the study's completion URL on SONA.",
            required=True,
            of_one_study=True,
        ),
        Setting(
            "credit_token", "Credit token", "From the same completion URL.", required=True, of_one_study=True
        ),
        Setting("param", "Parameter with the survey code", default=DEFAULT_PARAM),
    )

    endings = SONA
    away = SONA_AWAY
    params = (DEFAULT_PARAM,)
    reward = gettext_lazy("Your credit")

    def needs_id(self, settings: Settings) -> bool:
        return True

    def unknown_people_reason(self, settings: Settings) -> str:
        return "SONA gives each person a new survey code in every study"

    def visits_problem(self, settings: Settings) -> str:
        return "SONA gives each person credit once in a study, so further visits earn them none."

    def read_params(self, settings: Settings) -> Collection[str]:
        return (_param(settings),)

    def read_visit(self, params: Mapping[str, str], settings: Settings) -> Visit:
        """The survey code stands for the person as well: SONA gives one per person and study."""
        return Visit(self.key, clean_id(params.get(_param(settings), "")))

    def visit_params(self, visit: Visit, settings: Settings) -> dict[str, str]:
        return {_param(settings): visit.external_id} if visit.external_id else {}

    def leave(self, outcome: str, code: str, visit: Visit, settings: Settings) -> Departure:
        """Opening the completion address is what grants the credit, so only who completed is given it."""
        if outcome != "completed" or not visit.external_id or self.find_problems(settings):
            return Departure(code=code)
        params = {name: settings[name] for name in ("experiment_id", "credit_token")}
        query = urlencode(params | {"survey_code": visit.external_id})
        return Departure(code=code, link=f"{settings['site']}/webstudy_credit.aspx?{query}")

    def find_problems(self, settings: Settings) -> list[str]:
        found = []
        if not is_origin(settings.get("site", "")):
            found.append("Your SONA site: https:// and the host, with nothing after it.")
        for name, label in (("experiment_id", "Experiment id"), ("credit_token", "Credit token")):
            if not re.fullmatch(r"[A-Za-z0-9-]{1,80}", settings.get(name, "")):
                found.append(f"{label}: letters, digits and hyphens only.")
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,39}", _param(settings)):
            found.append("Parameter with the survey code: letters, digits, _ and - only, at most 40.")
        elif _param(settings) in ("choice", "consent", "personal"):
            found.append(
                f"Parameter with the survey code: {_param(settings)} is used by the entry page itself."
            )
        return found

    def frame_ancestors(self, settings: Settings) -> tuple[str, ...]:
        site = settings.get("site", "")
        return (site,) if is_origin(site) else ()

    def entry_address(self, address: str, settings: Settings) -> str:
        return f"{address}?{_param(settings)}=%SURVEY_CODE%"


def _param(settings: Settings) -> str:
    return settings.get("param") or DEFAULT_PARAM
