"""The recruiters' part in what the crowd and the core do at certain moments; the app calls it when it is ready."""

from annotator import hooks as crowd
from annotator.panels import checks  # noqa: F401 - registers the system checks
from evaluation import hooks as core


def register() -> None:
    services = "annotator.panels.services"
    crowd.arrival.register("personal links", f"{services}.arrivals.refuse_revoked_link")
    crowd.reentry.register("panels", "annotator.panels.selectors.allows_reentry")
    crowd.unpaid_completion.register("panels", "annotator.panels.selectors.is_completion_unpaid")
    crowd.unknown_people.register("panels", f"{services}.panel_settings.unknown_reason")

    core.launch_advice.register("attempts", f"{services}.launch_advice.launch_advice")
    core.launch_cautions.register("cautions", f"{services}.launch_advice.launch_cautions")
    core.running_cautions.register("unread", f"{services}.unread_arrivals.unread_cautions")
    core.codes_lock_reasons.register("panels", f"{services}.panel_settings.fixed_codes_reason")
    core.methods_passages.register("recruitment", "annotator.panels.methods_passages.methods_passages")
