"""The contents of a draft's preview: a participant's page, and the prompt that judges are sent."""

from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict
from django.template.loader import render_to_string

from evaluation import design
from evaluation.admin.design.sample import NothingToShow, Sample, sample_choices, take_sample
from evaluation.admin.design.unsaved import UnsavedDraft
from evaluation.admin.preview import around_screen
from evaluation.extension import NoPrompt, PagePreview, PromptPreview, extensions
from evaluation.forms.language import in_language_of
from evaluation.forms.screen import build_screen
from evaluation.models import Study

ITEM = "item"


@dataclass(frozen=True)
class Chosen:
    """The part of the preview that is looked at: the item, the page, and the judge whose prompt it is."""

    item: str = ""
    page: str = ITEM
    judge: str = ""

    @classmethod
    def of(cls, data: QueryDict) -> "Chosen":
        return cls(
            data.get("preview_item", ""), data.get("preview_page", ITEM), data.get("preview_judge", "")
        )


@dataclass(frozen=True)
class Drawing:
    """A drawn preview: the page as HTML, the messages, and whatever keeps either from being shown."""

    html: str = ""
    messages: list[tuple[str, str]] = field(default_factory=list)
    problem: str = ""
    prompt_problem: str = ""
    is_demo: bool = False


def draw(draft: UnsavedDraft, chosen: Chosen) -> Drawing:
    """Draw a draft that has a spec."""
    study, spec = draft.study, draft.spec
    assert spec is not None
    try:
        sample = take_sample(study, draft.arms, spec, chosen.item)
    except NothingToShow as reason:
        sample, problem = None, str(reason)
    else:
        problem = ""
    pages = _pages()
    if chosen.page in pages:
        with in_language_of(spec):
            html = pages[chosen.page].render(study, spec)
        shown_problem = ""
    else:
        html = _screen(study, spec, sample) if sample else ""
        shown_problem = problem
    messages, no_prompt = _prompt(study, spec, sample, chosen.judge) if sample else ([], problem)
    is_demo = sample is not None and sample.item is None
    return Drawing(html, messages, shown_problem, no_prompt, is_demo)


def preview_choices(draft: UnsavedDraft) -> dict[str, Any]:
    """The choices of a draft's preview: items, pages and judges."""
    pages = _pages()
    return {
        "items": sample_choices(draft.study, draft.arms),
        "pages": [
            (ITEM, "An item", ()),
            *((key, page.label, page.texts) for key, page in pages.items()),
        ],
        "judges": [each for preview in _prompts() for each in preview.choices(draft.study)],
    }


def _pages() -> dict[str, PagePreview]:
    return {key: page for each in extensions() for key, page in each.page_previews().items()}


def _prompts() -> list[PromptPreview]:
    return [preview for each in extensions() if (preview := each.prompt_preview())]


def _screen(study: Study, spec: Any, sample: Sample) -> str:
    stimulus = sample.stimulus
    order = design.presented_order(len(stimulus["responses"]), 0)
    with in_language_of(spec):
        screen = build_screen(study.protocol_object, spec, stimulus, order)
        context = {"screen": screen, **around_screen(study, spec, stimulus)}
        return render_to_string("admin/evaluation/item/screen.html", context).strip()


def _prompt(study: Study, spec: Any, sample: Sample, judge: str) -> tuple[list[tuple[str, str]], str]:
    for preview in _prompts():
        try:
            return preview.messages(study, spec, sample.stimulus, sample.item, judge), ""
        except NoPrompt as reason:
            return [], str(reason)
    return [], "No judges are installed."
