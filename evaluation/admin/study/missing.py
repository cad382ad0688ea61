"""The one list of what a draft lacks for its launch, for every page that tells it."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from evaluation.admin.design.sections import PLACES, design_url
from evaluation.extension import Advice, extensions
from evaluation.models import Study
from evaluation.services.studies.launch import UPLOAD, Weight, missing_before_launch

# Of the addresses outside the design's form, those of its first page; all others are about people.
OF_MATERIAL = (UPLOAD[1], "admin:evaluation_study_overview")


@dataclass(frozen=True)
class MissingLine:
    """A sentence, the label and the address of where it is mended, the page of the design it belongs to, its weight."""

    text: str
    label: str
    url: str
    page: str
    weight: Weight


def missing_for(study: Study, user: Any) -> list[MissingLine]:
    """Everything that a draft lacks for its launch, the gravest first; nothing once it is launched."""
    return [
        MissingLine(
            each.advice.text, each.advice.label, _url(study, each.advice), _page(each.advice), each.weight
        )
        for each in missing_before_launch(study, user)
    ]


def count_by_page(missing: list[MissingLine]) -> Counter[str]:
    return Counter(each.page for each in missing)


def recruitment_links(study: Study) -> list[tuple[str, str, str]]:
    """Sentences on where people come from, each with the label and address of the page on which that is set."""
    facts = [each for own in extensions() for each in own.recruitment_facts(study)]
    return [(each.text, each.label, _url(study, each)) for each in facts]


def _url(study: Study, advice: Advice) -> str:
    if advice.field:
        return design_url(study, advice.field)
    return reverse(advice.url_name, args=[study.slug]) if advice.url_name else ""


def _page(advice: Advice) -> str:
    if advice.field:
        return PLACES[advice.field][0]
    return "material" if advice.url_name in OF_MATERIAL else "people"
