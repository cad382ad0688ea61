"""The crowd's app. It tells the core what launch and verify must do for people."""

from django.apps import AppConfig


class AnnotatorConfig(AppConfig):
    name = "annotator"
    verbose_name = "Annotator"

    def ready(self) -> None:
        from annotator.panels import registration
        from annotator.services.admission import entry_rules
        from annotator.services.quality import attention_advice
        from annotator.services.slots import deal, replacements, verification
        from evaluation import hooks

        hooks.launch.register("slots", deal.deal_slots)
        hooks.launch_advice.register("admission", entry_rules.launch_advice)
        hooks.launch_advice.register("attention", attention_advice.launch_advice)
        hooks.unlaunch.register("slots", deal.take_back_slots)
        hooks.item_withdrawn.register("slots", deal.retire_item)
        hooks.exclusion_undone.register("slots", replacements.take_back_replacements)
        hooks.verifiers.register("slots", verification.check_slots)
        registration.register()
