"""The crowd's app. It tells the core what launch and verify must do for people."""

from django.apps import AppConfig


class AnnotatorConfig(AppConfig):
    name = "annotator"
    verbose_name = "Annotator"

    def ready(self) -> None:
        from annotator.panels import registration
        from annotator.selectors import methods_passages, private_words, slots
        from annotator.services.admission import entry_rules, rule_copies
        from annotator.services.quality import attention_advice
        from annotator.services.rehearsal import filling
        from annotator.services.slots import deal, replacements, verification
        from annotator.views.shared.previews import PAGES
        from evaluation import hooks

        hooks.launch.register("slots", deal.deal_slots)
        hooks.items_added.register("slots", deal.deal_added_slots)
        hooks.methods_facts.register("places", slots.closed_early)
        hooks.launch_advice.register("admission", entry_rules.launch_advice)
        hooks.launch_advice.register("attention", attention_advice.launch_advice)
        hooks.unlaunch.register("slots", deal.take_back_slots)
        hooks.duplication.register("entry rules", rule_copies.copy_entry_rules)
        hooks.item_withdrawn.register("slots", deal.retire_item)
        hooks.exclusion_undone.register("slots", replacements.take_back_replacements)
        hooks.verifiers.register("slots", verification.check_slots)
        for key, page in PAGES.items():
            hooks.page_previews.register(key, page)
        hooks.methods_passages.register("work", methods_passages.methods_passages)
        hooks.private_words.register("platform ids", private_words.private_words)
        hooks.rehearsals.register("participants", filling.fill_rehearsal)
        registration.register()
