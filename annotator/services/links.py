"""Personal links: one per colleague, each with a name on it."""

from collections.abc import Iterable

from django.db import transaction

from annotator.models import PersonalLink
from annotator.services.panels import study_address
from evaluation.models import Study

MAX_LABEL = 120
MAX_LINKS = 500


def make_links(study: Study, labels: Iterable[str]) -> list[PersonalLink]:
    """A link for each label, all or none. Raises ValueError for labels that are empty, too long or there already."""
    wanted = [label.strip() for label in labels]
    _check(wanted)
    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        there = PersonalLink.objects.filter(study=study, label__in=wanted).values_list("label", flat=True)
        if taken := ", ".join(sorted(there)):
            raise ValueError(f"There is a link already for: {taken}.")
        return PersonalLink.objects.bulk_create(PersonalLink(study=study, label=label) for label in wanted)


def _check(labels: list[str]) -> None:
    if not labels or not all(labels):
        raise ValueError("Every link needs a name.")
    if len(labels) > MAX_LINKS:
        raise ValueError(f"At most {MAX_LINKS} links at once.")
    if too_long := [label for label in labels if len(label) > MAX_LABEL]:
        raise ValueError(f"Longer than {MAX_LABEL} characters: {too_long[0][:40]} ...")
    if twice := sorted({label for label in labels if labels.count(label) > 1}):
        raise ValueError(f"Named twice: {', '.join(twice)}.")


def link_address(link: PersonalLink) -> str:
    return f"{study_address(link.study)}?personal={link.key}"
