"""Recruit for a study at its platform: whom to take, drafting, publishing, pausing, more places, and reading back."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotator.models import Panel
from annotator.panels.platforms import get_platform, platform_apis, statuses
from annotator.panels.platforms.errors import NotSetUp, PanelError
from annotator.panels.reconciliation.overview import reconcile_visit
from annotator.panels.services import recruiting, study_draft
from annotator.panels.services.events import apply_events
from annotator.panels.services.linked_studies import link_study, linked_sentence, unlink_study
from annotator.panels.services.panel_settings import panel_of, platform_to_draft
from annotator.panels.services.preflight import draft_problems, draft_warnings
from annotator.panels.services.readings import read_visit, sync
from annotator.panels.services.recruitment_filters import (
    all_presets,
    filter_fields,
    filter_sentences,
    offer,
    set_filters,
    use_preset,
)
from evaluation.counting import counted
from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.studies import study_named
from evaluation.models import Study
from evaluation.refusals import Refused
from evaluation.services.history import server_account

ACTS = (
    "preset",
    "whom",
    "check",
    "draft",
    "publish",
    "pause",
    "start",
    "places",
    "link",
    "unlink",
    "sync",
    "replay",
)


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("act", choices=ACTS, help="check lists what would stop drafting")
        parser.add_argument(
            "value",
            nargs="*",
            help=f"of preset: one of {', '.join(all_presets())}; of places: how many more; of whom: NAME=VALUE, with "
            f"NAME one of {', '.join(_filter_names())}, and nothing to be shown it; of sync: the id of a submission, "
            "to read and reconcile that one alone; of link: the id of a further study there, and "
            "its visit; of unlink: its id",
        )

    def perform(self, options: dict[str, Any]) -> Outcome:
        study = study_named(options["slug"])
        act, values = options["act"], options["value"]
        value = " ".join(values)
        if value and act not in ("preset", "places", "whom", "link", "unlink", "sync"):
            raise CommandError(f"{act} takes no value besides the study, not {value!r}.")
        try:
            if act == "whom":
                self._whom(study, values)
            elif act == "preset":
                self._preset(study, value)
            elif act == "places":
                self._places(study, value)
            elif act == "link":
                self._link(study, values)
            elif act == "unlink":
                self._unlink(study, value)
            elif act == "sync" and value:
                self._sync_visit(study, value)
            else:
                getattr(self, f"_{act}")(study)
        except (Refused, NotSetUp, PanelError) as error:
            raise CommandError(str(error)) from None
        return self._facts(study)

    @staticmethod
    def _facts(study: Study) -> Outcome:
        panel = panel_of(study)
        if panel is None:
            return {"study": study.slug, "platform": None}
        return {
            "study": study.slug,
            "platform": panel.platform,
            "external_id": panel.external_id,
            "status": panel.status,
            "places": panel.places,
            "linked": [
                {
                    "external_id": each.external_id,
                    "visit": each.visit_number,
                    "status": each.status,
                    "places": each.places,
                }
                for each in panel.linked_studies.all()
            ],
            "filters": list(filter_sentences(panel)),
        }

    def _preset(self, study: Study, value: str) -> None:
        for sentence in use_preset(study, value, by=server_account()):
            self.stderr.write(sentence)
        _, preset = all_presets()[value]
        self.stdout.write(f"{study.title} recruits as {preset.label}: {offer(study)}.")
        for sentence in filter_sentences(panel_of(study)):
            self.stdout.write(f"  {sentence}")

    def _whom(self, study: Study, values: list[str]) -> None:
        """Set the fields that are named and leave the rest; an empty value asks for nothing."""
        given = filter_fields(study)
        for each in values:
            name, equals, value = each.partition("=")
            if not equals:
                raise CommandError(f"{each!r} is not NAME=VALUE.")
            given[name.strip()] = value
        if values:
            for sentence in set_filters(study, given, by=server_account()):
                self.stderr.write(sentence)
        for sentence in filter_sentences(panel_of(study)) or ["open to everyone"]:
            self.stdout.write(sentence)

    def _check(self, study: Study) -> None:
        for sentence in draft_warnings(study):
            self.stderr.write(sentence)
        if problems := draft_problems(study):
            raise Refused(*problems)
        self.stdout.write(f"{study.title} can be drafted on {platform_to_draft(study).label}.")

    def _draft(self, study: Study) -> None:
        for sentence in draft_warnings(study):
            self.stderr.write(sentence)
        self._say(study_draft.draft_on_panel(study, by=server_account()))

    def _publish(self, study: Study) -> None:
        self._say(recruiting.publish(_panel(study), by=server_account()))

    def _pause(self, study: Study) -> None:
        self._say(recruiting.pause(_panel(study), by=server_account()))

    def _start(self, study: Study) -> None:
        self._say(recruiting.start(_panel(study), by=server_account()))

    def _places(self, study: Study, value: str) -> None:
        if not value.isdecimal():
            raise CommandError("How many more places? Give a number.")
        panel = _panel(study)
        if not recruiting.add_places(panel, int(value), shown=panel.places, by=server_account()):
            self.stdout.write("Already done; no places were added.")
        self._say(panel)

    def _link(self, study: Study, values: list[str]) -> None:
        if len(values) != 2 or not values[1].isdecimal():
            raise CommandError("Which study there, and which visit? Give its id and a number: link ID 2.")
        panel = _panel(study)
        link_study(panel, values[0], int(values[1]), by=server_account())
        self._say(panel)

    def _unlink(self, study: Study, external_id: str) -> None:
        if not external_id:
            raise CommandError("Which study there? Give its id: unlink ID.")
        panel = _panel(study)
        self.stdout.write(f"Unlinked: {unlink_study(panel, external_id, by=server_account())}")
        self._say(panel)

    def _sync(self, study: Study) -> None:
        panel = _panel(study)
        synced = sync(panel, everyone=True)
        panel.refresh_from_db()
        self._say(panel)
        self.stdout.write(f"{counted(synced.submissions, 'submission')} read, {synced.changed} with news.")
        if synced.left:
            self.stderr.write(synced.left)

    def _sync_visit(self, study: Study, external_id: str) -> None:
        panel = _panel(study)
        record = read_visit(panel, external_id)
        found = reconcile_visit(panel, record=record)
        label = get_platform(panel.platform).label
        self.stdout.write(f"{external_id} on {label}: {record.get_status_display()}.")
        for each in found.mismatches if found is not None else ():
            self.stdout.write(f"{each.kind.title}: {each.sentence}")

    def _replay(self, study: Study) -> None:
        played = apply_events(_panel(study), again=True)
        self.stdout.write(f"{study.title}: {counted(played, 'event')} of the panel applied again.")

    def _say(self, panel: Panel) -> None:
        state, label = statuses.study_label(panel.status), get_platform(panel.platform).label
        self.stdout.write(
            f"{panel.study.title} on {label} ({panel.external_id}): {state}, {counted(panel.places or 0, 'place')}."
        )
        for each in panel.linked_studies.all():
            self.stdout.write(linked_sentence(each))


def _filter_names() -> list[str]:
    found = [api.eligibility.labels for api in platform_apis().values() if api.eligibility is not None]
    return list(dict.fromkeys(name for labels in found for name in labels))


def _panel(study: Study) -> Panel:
    panel = panel_of(study)
    if panel is None:
        raise Refused(f"The study is not drafted on {platform_to_draft(study).label} yet.")
    return panel
