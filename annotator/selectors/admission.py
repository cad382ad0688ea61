"""Reads of a study's door: the study with its panel, and its latest revision."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Exists, OuterRef

from annotator.models import EntryRule
from evaluation.database.compiled_queries import CompiledSelect, field_of
from evaluation.models import Revision, Status, Study


def _at_door(slug: str) -> Any:
    lists = EntryRule.objects.filter(study=OuterRef("pk"))
    studies = Study.objects.visible().select_related("panel").annotate(has_lists=Exists(lists))
    return studies.filter(slug=slug, rehearsal_of=None).exclude(status=Status.DRAFT)


AT_DOOR: CompiledSelect[Any] = CompiledSelect(_at_door, slug=field_of(Study, "slug"))


def study_for_entry(slug: str) -> Any:
    """The study of that address with its panel, and whether it has lists (`has_lists`); None where there is none."""
    return AT_DOOR.first(slug=slug)


LATEST: CompiledSelect[Revision] = CompiledSelect(
    lambda study: Revision.objects.filter(study=study).order_by("-number"),
    study=field_of(Study, "id"),
)


def latest_revision(study: Study) -> Revision:
    """The latest revision of a frozen study, which has one."""
    revision = LATEST.first(study=study.pk)
    assert revision is not None
    return revision


def steps_in_force(study: Study) -> Mapping[str, Any]:
    """The steps in force: those of the latest revision, of a draft its own."""
    latest = Revision.objects.filter(study=study).order_by("-number").first()
    steps: Mapping[str, Any] = latest.spec["steps"] if latest is not None else study.steps
    return steps
