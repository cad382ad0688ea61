"""A process on a database of its own: `make STUDY` has people to approve and bonuses to pay, `send` sends what waits.

`look` prints a line of JSON: every act's kind and state.
"""

import json
import sys
from decimal import Decimal

import django

django.setup()

from django.core.management import call_command  # noqa: E402 - needs the apps

from annotator.models import Panel, PanelAct  # noqa: E402
from annotator.panels.money.decisions import intend_approvals, intend_bonuses  # noqa: E402
from annotator.panels.money.sending import send  # noqa: E402
from annotator.panels.services.readings import sync_submissions  # noqa: E402
from annotator.panels.tasks import send_panel_acts  # noqa: E402
from tests.annotator.panels.panel_life import bare_panel  # noqa: E402


def make(there):
    call_command("migrate", verbosity=0)
    panel = bare_panel(owner=None, there=there)
    sync_submissions(panel)
    records = list(panel.records.order_by("pk"))
    intend_approvals(panel, records, None)
    intend_bonuses(panel, dict.fromkeys(records, Decimal("0.50")), "goodwill", None)
    send_panel_acts.delay(panel.pk)


def send_all():
    send(Panel.objects.get())


def look():
    acts = list(PanelAct.objects.order_by("pk").values_list("kind", "state"))
    print(json.dumps(acts))  # noqa: T201 - how processes talk


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    {"make": make, "send": send_all, "look": look}[command](*arguments)
