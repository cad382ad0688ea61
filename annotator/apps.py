"""The crowd's app. It tells the core what launch and verify must do for people."""

from django.apps import AppConfig


class AnnotatorConfig(AppConfig):
    name = "annotator"
    verbose_name = "Annotator"

    def ready(self) -> None:
        from annotator import checks  # noqa: F401 - registers the system checks
        from annotator.services import admission, attempts, attention, cautions, panels, slots, verification
        from evaluation import hooks

        hooks.launch.register("slots", slots.deal_slots)
        hooks.launch_advice.register("admission", admission.launch_advice)
        hooks.launch_advice.register("attempts", attempts.launch_advice)
        hooks.launch_advice.register("attention", attention.launch_advice)
        hooks.launch_cautions.register("cautions", cautions.launch_cautions)
        hooks.unlaunch.register("slots", slots.take_back_slots)
        hooks.item_withdrawn.register("slots", slots.retire_item)
        hooks.exclusion_undone.register("slots", slots.take_back_replacements)
        hooks.codes_fixed.register("panels", panels.why_codes_are_fixed)
        hooks.verifiers.register("slots", verification.check_slots)
