"""One request of a walk: the study, the state, and the addresses of its pages."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from annotator.models import Step
from annotator.views.shared.access import SeeOther, render
from annotator.views.shared.parts import contact
from annotator.views.shared.texts import NOTICES
from annotator.views.walkthrough.state import WalkState
from annotator.views.walkthrough.stations import BETWEEN, END, Station, stations_of
from annotator.views.walkthrough.walked_study import WalkedItem, WalkedStudy
from evaluation.admin.study.missing import missing_for
from evaluation.models import Study

STEP_STATIONS = {
    Step.INSTRUCTIONS: "instructions",
    Step.TRAINING: "training",
    Step.QUALIFICATION: "qualification",
    Step.ITEMS: "items",
    Step.COMMENTS: "comments",
    Step.DONE: f"{END}completed",
}


@dataclass(frozen=True)
class Walk:
    request: HttpRequest
    study: Study
    walked: WalkedStudy
    state: WalkState
    station: str
    sees_codes: bool

    @cached_property
    def stations(self) -> list[Station]:
        return stations_of(self.walked)

    def url(self, station: str = "", state: WalkState | None = None, **query: str) -> str:
        """The address of a station, by default of this one, in this state."""
        address = reverse("annotator:walk-station", args=[self.study.slug, station or self.station])
        signed = (state or self.state).signed(self.study.pk)
        return f"{address}?{urlencode({'s': signed, **query})}"

    def act(self, act: str, state: WalkState | None = None) -> str:
        """The address to which a form of this station is sent."""
        return self.url(state=state, act=act)

    def go(self, station: str, state: WalkState | None = None) -> HttpResponse:
        return SeeOther(self.url(station, state))

    def go_to_step(self, step: Step) -> HttpResponse:
        is_between = step == Step.DONE and self.state.visit < self.study.visits
        return self.go(BETWEEN if is_between else STEP_STATIONS[step], self.state.afresh())

    def page(
        self,
        template: str,
        context: dict[str, Any],
        *,
        bar: dict[str, Any] | None = None,
        item: WalkedItem | None = None,
        said: tuple[str, ...] = (),
        status: int = 200,
    ) -> HttpResponse:
        """A participant's page under the walk's strip; `said`: what the strip says of this page."""
        title = self.walked.spec["title"]
        around = {
            "bar": bar or {"title": title, "label": "", "done": 0, "total": 0, "progress": ""},
            "notice": NOTICES.get(self.state.notice, ""),
            "slug": self.study.slug,
            "remember": False,
            **context,
            "help": {
                "contact": contact(self.study.contact),
                "withdraw": "" if self._is_outside else self.url("withdraw"),
                **context.get("help", {}),
            },
            "walk": self._strip(template, item, said),
        }
        return render("annotator/walkthrough/page.html", around, status=status)

    @property
    def _is_outside(self) -> bool:
        """Before the participant has come in, or after they have left."""
        return self.station in ("entry", "withdraw") or "-" in self.station

    def _strip(self, template: str, item: WalkedItem | None, said: tuple[str, ...]) -> dict[str, Any]:
        state, here = self.state, self.station
        groups: dict[str, list[dict[str, Any]]] = {}
        for each in self.stations:
            line = {"label": each.label, "note": each.note, "url": self.url(each.key, state.afresh())}
            groups.setdefault(each.group, []).append(line | {"current": each.key == here})
        arms = self.walked.spec["arms"] if len(self.walked.spec["arms"]) > 1 else []
        return {
            "template": template,
            "demo": self.walked.is_demo and item is not None,
            "back": reverse("admin:evaluation_study_overview", args=[self.study.slug]),
            "item": item,
            "item_url": reverse("admin:evaluation_item_page", args=[self.study.slug, item.pk])
            if item and item.pk
            else "",
            "said": [*(each.note for each in self.stations if each.key == here and each.note), *said],
            "groups": list(groups.items()),
            "framed": state.framed,
            "full": self.url(state=state.but(framed=False)),
            "phone": reverse("annotator:walk-phone", args=[self.study.slug, here])
            + f"?{urlencode({'s': state.but(framed=True).signed(self.study.pk)})}",
            "arms": [
                {
                    "label": arm["label"],
                    "current": arm["key"] == self.walked.arm,
                    "url": self.url(state=state.afresh(arm=arm["key"])),
                }
                for arm in arms
            ],
            "missing": missing_for(self.study, self.request.user),
            "may_write": self.sees_codes,
            "is_item": template == "annotator/page_item.html",
        }
