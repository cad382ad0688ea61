"""The recruiters' pages in the admin; each is about one study, and has its address there."""

from collections.abc import Iterable
from typing import Any

from annotator.panels.admin import (
    bonuses,  # noqa: F401 - registers its page, as do those below
    corrections,  # noqa: F401
    decisions,  # noqa: F401
    linked_studies,  # noqa: F401
    personal_links,
    platform,
    qualification_retries,
    reconciliation,
    records,  # noqa: F401
    recruiting,  # noqa: F401
    recruitment_filters,  # noqa: F401
    settlement,  # noqa: F401
    visits,  # noqa: F401
)
from annotator.panels.admin.pages import PAGES
from evaluation.admin.pages import study_pages


def _pages() -> Iterable[tuple[str, str, Any]]:
    yield "panel/", "panel", reconciliation.reconciliation
    yield "panel/reading/", "panel_reading", reconciliation.reading
    for page in PAGES.values():
        if page.route:
            yield f"panel/{page.route}", f"panel_{page.key}", page.view
    yield "platform/", "platform", platform.platform
    yield "attempts/", "attempts", qualification_retries.qualification_retries
    yield "links/", "links", personal_links.links
    yield "links/<int:link>/revoke/", "revoke_link", personal_links.revoke
    yield "links/<int:link>/restore/", "restore_link", personal_links.restore


study_pages["recruiters"] = _pages
