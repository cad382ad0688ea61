"""The crowd's part in what the core does: places at launch, their checks, pages and sentences on how people worked.

What a method needs is imported in it, as most processes ask for few of them.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from evaluation.extension import (
    Advice,
    Concern,
    Duplication,
    Extension,
    JobKind,
    PagePreview,
    StudySection,
    Watch,
)
from evaluation.models import Exclusion, Item, Judgment, Progress, Rater, Study
from evaluation.refusals import Refused


class CrowdExtension(Extension):
    def launch(self, study: Study) -> None:
        from annotator.services.slots.deal import deal_slots

        deal_slots(study)

    def unlaunch(self, study: Study) -> None:
        from annotator.services.slots.deal import take_back_slots

        take_back_slots(study)

    def items_added(self, study: Study) -> None:
        from annotator.services.slots.deal import deal_added_slots

        deal_added_slots(study)

    def item_withdrawn(self, item: Item) -> None:
        from annotator.services.slots.deal import retire_item

        retire_item(item)

    def item_brought_back(self, item: Item) -> None:
        from annotator.services.slots.redundancy import bring_back_slots

        bring_back_slots(item)

    def refuse_reopening(self, study: Study) -> None:
        from annotator.models import Slot
        from annotator.panels.services.retention.id_deletion import refuse_without_ids

        refuse_without_ids(study)
        if not Slot.objects.filter(study=study).exists():
            raise Refused("Nobody was recruited for this study here: it came with its judgments.")

    def deletion_problems(self, study: Study) -> Iterator[str]:
        from annotator.panels.services.retention.unsettled import unsettled_problems
        from annotator.services.admission.entry_rules import needed_by_others

        yield from unsettled_problems(study)
        yield from needed_by_others(study)

    def study_deleted(self, study: Study, by: Any) -> None:
        from annotator.services.admission.entry_rules import drop_rules_about

        drop_rules_about(study, by)

    def exclusion_undone(self, exclusion: Exclusion) -> None:
        from annotator.services.slots.replacements import take_back_replacements

        take_back_replacements(exclusion)

    def duplicate(self, duplication: Duplication) -> Collection[str]:
        from annotator.panels.services.panel_settings import copy_panel
        from annotator.services.admission.rule_copies import copy_entry_rules

        return {*copy_entry_rules(duplication), *copy_panel(duplication)}

    def fill_rehearsal(self, study: Study, asked: Mapping[str, int], watch: Watch) -> str:
        from annotator.services.rehearsal.filling import fill_rehearsal

        return fill_rehearsal(study, asked, watch)

    def launch_advice(self, study: Study, by: Any) -> Iterator[Advice]:
        from annotator.panels.services import launch_advice as panels
        from annotator.services.admission import entry_rules
        from annotator.services.quality import attention_advice

        yield from entry_rules.launch_advice(study, by)
        yield from attention_advice.launch_advice(study, by)
        yield from panels.launch_advice(study, by)

    def launch_cautions(self, study: Study) -> Iterable[Advice]:
        from annotator.panels.services.launch_advice import launch_cautions

        return launch_cautions(study)

    def running_cautions(self, study: Study) -> Iterable[Advice]:
        from annotator.panels.services.unread_arrivals import unread_cautions

        return unread_cautions(study)

    def verify(self, study: Study) -> Iterable[str]:
        from annotator.services.slots.verification import check_slots

        return check_slots(study)

    def recruitment_facts(self, study: Study) -> Iterator[Advice]:
        from annotator.panels.recruitment_facts import recruitment_facts
        from annotator.services.admission.entry_rules import entry_fact

        yield from recruitment_facts(study)
        yield entry_fact(study)

    def methods_facts(self, study: Study) -> Iterable[str]:
        from annotator.selectors.slots import closed_early

        return closed_early(study)

    def methods_passages(self, study: Study) -> Mapping[str, str]:
        from annotator.panels import methods_passages as recruitment
        from annotator.selectors import methods_passages as work

        return work.methods_passages(study) | recruitment.methods_passages(study)

    def progress_figures(self, study: Study) -> Mapping[str, Any]:
        from annotator.panels.overview import panel_figures
        from annotator.selectors.progress import crowd_figures

        return crowd_figures(study) | panel_figures(study)

    def needs(self, study: Study, progress: Progress) -> Iterator[Concern]:
        from annotator.panels.overview import panel_needs
        from annotator.selectors.progress import crowd_needs

        yield from crowd_needs(study, progress)
        yield from panel_needs(study, progress)

    def sections(self) -> Iterable[StudySection]:
        return (
            StudySection("Participants", "annotator:participants-section"),
            StudySection("Slots", "annotator:slots-section", in_drafts=False),
        )

    def page_previews(self) -> Mapping[str, PagePreview]:
        from annotator.views.shared.previews import END, ENTRY, INSTRUCTIONS

        return {"entry": ENTRY, "instructions": INSTRUCTIONS, "end": END}

    def rater_url(self, rater: Rater) -> str:
        from django.urls import reverse

        from annotator.models import Participant

        found = Participant.objects.filter(rater=rater).values_list("pk", flat=True).first()
        return reverse("admin:annotator_participant_page", args=[rater.study.slug, found]) if found else ""

    def judgment_signs(self, judgments: Collection[Judgment]) -> Mapping[int, Sequence[str]]:
        from annotator.services.quality.judgment_signs import judgment_signs

        return judgment_signs(judgments)

    def job_kinds(self) -> Iterable[JobKind]:
        from annotator.job_kinds import DRAFT_ROUND, READING

        return (READING, DRAFT_ROUND)

    def private_words(self, study: Study) -> Iterable[str]:
        from annotator.selectors.private_words import private_words

        return private_words(study)

    def private_words_among(self, study: Study, found: Collection[str]) -> Iterable[str]:
        from annotator.selectors.private_words import private_words_among

        return private_words_among(study, found)
