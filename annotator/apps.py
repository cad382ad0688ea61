"""The crowd's app. It tells the core what launch and verify must do for people."""

from django.apps import AppConfig


class AnnotatorConfig(AppConfig):
    name = "annotator"
    verbose_name = "Annotator"

    def ready(self) -> None:
        from annotator.panels import registration
        from evaluation import hooks

        hooks.launch.register("slots", "annotator.services.slots.deal.deal_slots")
        hooks.items_added.register("slots", "annotator.services.slots.deal.deal_added_slots")
        hooks.methods_facts.register("places", "annotator.selectors.slots.closed_early")
        hooks.launch_advice.register("admission", "annotator.services.admission.entry_rules.launch_advice")
        hooks.launch_advice.register("attention", "annotator.services.quality.attention_advice.launch_advice")
        hooks.unlaunch.register("slots", "annotator.services.slots.deal.take_back_slots")
        hooks.duplication.register("entry rules", "annotator.services.admission.rule_copies.copy_entry_rules")
        hooks.item_withdrawn.register("slots", "annotator.services.slots.deal.retire_item")
        hooks.exclusion_undone.register(
            "slots", "annotator.services.slots.replacements.take_back_replacements"
        )
        hooks.verifiers.register("slots", "annotator.services.slots.verification.check_slots")
        hooks.sections.register(
            "participants", hooks.StudySection("Participants", "annotator:participants-section")
        )
        hooks.sections.register("places", hooks.StudySection("Slots", "annotator:slots-section"))
        hooks.page_previews.register("entry", "annotator.views.shared.previews.ENTRY")
        hooks.page_previews.register("instructions", "annotator.views.shared.previews.INSTRUCTIONS")
        hooks.page_previews.register("end", "annotator.views.shared.previews.END")
        hooks.methods_passages.register("work", "annotator.selectors.methods_passages.methods_passages")
        hooks.private_words.register("platform ids", "annotator.selectors.private_words.private_words")
        hooks.rehearsals.register("participants", "annotator.services.rehearsal.filling.fill_rehearsal")
        registration.register()
