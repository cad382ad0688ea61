"""The recruiters' part in what the crowd and the core do at certain moments; the app calls it when it is ready."""

from annotator import hooks as crowd
from annotator.panels import (
    checks,  # noqa: F401 - registers the system checks
    methods_passages,
    selectors,
)
from annotator.panels.services import (
    arrivals,
    launch_advice,
    panel_settings,
    unread_arrivals,
)
from evaluation import hooks as core


def register() -> None:
    crowd.arrival.register("personal links", arrivals.refuse_revoked_link)
    crowd.reentry.register("panels", selectors.allows_reentry)
    crowd.unpaid_completion.register("panels", selectors.is_completion_unpaid)
    crowd.unknown_people.register("panels", panel_settings.unknown_reason)

    core.launch_advice.register("attempts", launch_advice.launch_advice)
    core.launch_cautions.register("cautions", launch_advice.launch_cautions)
    core.running_cautions.register("unread", unread_arrivals.unread_cautions)
    core.codes_lock_reasons.register("panels", panel_settings.fixed_codes_reason)
    core.methods_passages.register("recruitment", methods_passages.methods_passages)
