"""A task inside another site's frame, in the manner of Mechanical Turk's external questions.

The frame's address carries the ids; a preview has a stand-in for the assignment; at the end a form is posted to the
site that the address names. An address anybody can write, so the study's settings say which sites those may be.
"""

from collections.abc import Mapping
from dataclasses import replace

from annotator.panels.platforms.addresses import (
    find_origin_problems,
    is_origin,
    origin_of,
    split_origins,
)
from annotator.panels.platforms.base import Departure, Platform, Setting, Settings, id_params, read_ids
from annotator.panels.platforms.endings import EXTERNAL_QUESTION, EXTERNAL_QUESTION_AWAY
from annotator.visit import Visit

NOT_AVAILABLE = "ASSIGNMENT_ID_NOT_AVAILABLE"
SUBMIT_PATH = "/mturk/externalSubmit"
# Work was done and is submitted; who leaves without any returns the task on the site.
HANDED_IN = ("completed", "failed_qualification", "failed_attention")
PARAMS = (("workerId", "external_id"), ("hitId", "external_study_id"), ("assignmentId", "session_id"))


class ExternalQuestion(Platform):
    key = "external_question"
    label = "External question"
    about = (
        "The site shows the study in a frame, as Mechanical Turk's external questions do: a preview that can't be "
        "answered, then the task, and at its end a form that is posted back to the site."
    )
    settings = (
        Setting(
            "submit_origins",
            "Sites that take the form at the end",
            "Those that turkSubmitTo may name; several with spaces between.",
            default="https://www.mturk.com https://workersandbox.mturk.com",
            required=True,
        ),
        Setting(
            "frame_origins",
            "Sites that may show it in a frame",
            "Several with spaces between; *. may stand before a host.",
            default="https://*.mturk.com https://*.mturkcontent.com",
            required=True,
        ),
    )

    endings = EXTERNAL_QUESTION
    away = EXTERNAL_QUESTION_AWAY
    params = tuple(name for name, _ in PARAMS)

    def needs_id(self, settings: Settings) -> bool:
        return True

    def read_visit(self, params: Mapping[str, str], settings: Settings) -> Visit:
        ids = read_ids(params, PARAMS)
        if ids["session_id"] == NOT_AVAILABLE:
            return Visit(self.key, preview=True)
        if not (ids["external_id"] and ids["session_id"]):
            return Visit(self.key)
        submit_to = origin_of(params.get("turkSubmitTo", ""))
        return Visit(self.key, **ids, extra={"turkSubmitTo": submit_to} if submit_to else {})

    def visit_params(self, visit: Visit, settings: Settings) -> dict[str, str]:
        if visit.preview:
            return {"assignmentId": NOT_AVAILABLE}
        return id_params(visit, PARAMS) | dict(visit.extra)

    def leave(self, outcome: str, code: str, visit: Visit, settings: Settings) -> Departure:
        submit_to = visit.extra.get("turkSubmitTo", "")
        allowed = [each for each in split_origins(settings.get("submit_origins", "")) if is_origin(each)]
        if outcome not in HANDED_IN or submit_to not in allowed or not visit.session_id:
            return Departure(code=code)
        fields = {"assignmentId": visit.session_id, "outcome": outcome} | ({"code": code} if code else {})
        return Departure(post_to=submit_to + SUBMIT_PATH, fields=fields)

    def example_visit(self, settings: Settings) -> Visit:
        sites = split_origins(settings.get("submit_origins", ""))
        return replace(super().example_visit(settings), extra={"turkSubmitTo": next(iter(sites), "")})

    def find_problems(self, settings: Settings) -> list[str]:
        submit, frame = settings.get("submit_origins", ""), settings.get("frame_origins", "")
        found = [f"Sites that take the form at the end: {each}" for each in find_origin_problems(submit)]
        found += [
            f"Sites that may show it in a frame: {each}" for each in find_origin_problems(frame, wide=True)
        ]
        return found

    def frame_ancestors(self, settings: Settings) -> tuple[str, ...]:
        origins = split_origins(settings.get("frame_origins", ""))
        return tuple(each for each in origins if is_origin(each, wide=True))
