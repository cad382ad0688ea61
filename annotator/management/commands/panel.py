"""Recruit for a study on Prolific: whom to take, drafting, publishing, pausing, more places, and reading back."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotator.models import Panel
from annotator.panels.prolific import statuses
from annotator.panels.prolific.errors import PanelError
from annotator.panels.prolific.presets import PRESETS
from annotator.panels.prolific.recruitment_filters import LABELS
from annotator.panels.reconciliation.overview import reconcile_visit
from annotator.panels.services import recruiting, study_draft
from annotator.panels.services.connection import NotSetUp
from annotator.panels.services.events import apply_events
from annotator.panels.services.panel_settings import panel_of
from annotator.panels.services.prolific_preflight import draft_problems, draft_warnings
from annotator.panels.services.readings import read_visit, sync
from annotator.panels.services.recruitment_filters import filters_of, set_filters, use_preset
from evaluation.management.base import AssayCommand
from evaluation.management.studies import study_named
from evaluation.models import Study
from evaluation.refusals import Refused

ACTS = ("preset", "whom", "check", "draft", "publish", "pause", "start", "places", "sync", "replay")


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("act", choices=ACTS, help="check lists what would stop drafting")
        parser.add_argument(
            "value",
            nargs="*",
            help=f"of preset: one of {', '.join(PRESETS)}; of places: how many more; of whom: NAME=VALUE, with "
            f"NAME one of {', '.join(LABELS)}, and nothing to be shown it; of sync: the id of a submission, to "
            "read and reconcile that one alone",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        study = study_named(options["slug"])
        act, values = options["act"], options["value"]
        value = " ".join(values)
        if value and act not in ("preset", "places", "whom", "sync"):
            raise CommandError(f"{act} takes no value besides the study, not {value!r}.")
        try:
            if act == "whom":
                self._whom(study, values)
            elif act == "preset":
                self._preset(study, value)
            elif act == "places":
                self._places(study, value)
            elif act == "sync" and value:
                self._sync_visit(study, value)
            else:
                getattr(self, f"_{act}")(study)
        except (Refused, NotSetUp, PanelError) as error:
            raise CommandError(str(error)) from None

    def _preset(self, study: Study, value: str) -> None:
        for sentence in use_preset(study, value):
            self.stderr.write(sentence)
        preset = PRESETS[value]
        self.stdout.write(
            f"{study.title} recruits as {preset.label}: {study.items_per_participant} items in "
            f"{study.paid_minutes} minutes for {study.pay} {study.currency}."
        )
        for sentence in filters_of(panel_of(study)).sentences():
            self.stdout.write(f"  {sentence}")

    def _whom(self, study: Study, values: list[str]) -> None:
        """Set the fields that are named and leave the rest; an empty value asks for nothing."""
        given = filters_of(panel_of(study)).as_json()
        for each in values:
            name, equals, value = each.partition("=")
            if not equals:
                raise CommandError(f"{each!r} is not NAME=VALUE.")
            given[name.strip()] = value
        if values:
            for sentence in set_filters(study, given):
                self.stderr.write(sentence)
        for sentence in filters_of(panel_of(study)).sentences() or ["open to everyone"]:
            self.stdout.write(sentence)

    def _check(self, study: Study) -> None:
        for sentence in draft_warnings(study):
            self.stderr.write(sentence)
        if problems := draft_problems(study):
            raise Refused(*problems)
        self.stdout.write(f"{study.title} can be drafted on Prolific.")

    def _draft(self, study: Study) -> None:
        for sentence in draft_warnings(study):
            self.stderr.write(sentence)
        self._say(study_draft.draft_on_panel(study))

    def _publish(self, study: Study) -> None:
        self._say(recruiting.publish(_panel(study)))

    def _pause(self, study: Study) -> None:
        self._say(recruiting.pause(_panel(study)))

    def _start(self, study: Study) -> None:
        self._say(recruiting.start(_panel(study)))

    def _places(self, study: Study, value: str) -> None:
        if not value.isdecimal():
            raise CommandError("How many more places? Give a number.")
        panel = _panel(study)
        if not recruiting.add_places(panel, int(value), shown=panel.places):
            self.stdout.write("Already done; no places were added.")
        self._say(panel)

    def _sync(self, study: Study) -> None:
        panel = _panel(study)
        synced = sync(panel, everyone=True)
        panel.refresh_from_db()
        self._say(panel)
        self.stdout.write(f"{synced.submissions} submissions read, {synced.changed} with news.")
        if synced.left:
            self.stderr.write(synced.left)

    def _sync_visit(self, study: Study, external_id: str) -> None:
        panel = _panel(study)
        record = read_visit(panel, external_id)
        found = reconcile_visit(panel, record=record)
        self.stdout.write(f"{external_id} on Prolific: {record.get_status_display()}.")
        for each in found.mismatches if found is not None else ():
            self.stdout.write(f"{each.kind.title}: {each.sentence}")

    def _replay(self, study: Study) -> None:
        played = apply_events(_panel(study), again=True)
        self.stdout.write(f"{study.title}: {played} events of the panel applied again.")

    def _say(self, panel: Panel) -> None:
        state = statuses.STUDY.get(panel.status, panel.status)
        self.stdout.write(
            f"{panel.study.title} on Prolific ({panel.external_id}): {state}, {panel.places} places."
        )


def _panel(study: Study) -> Panel:
    panel = panel_of(study)
    if panel is None:
        raise Refused("The study is not drafted on Prolific yet.")
    return panel
