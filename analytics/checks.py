"""System checks of what protocols declare for reports."""

from collections.abc import Sequence
from typing import Any

from django.core import checks

from analytics.figures.headings import HEADINGS
from evaluation.protocols import PROTOCOLS


@checks.register
def check_headings(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[checks.CheckMessage]:
    return [
        checks.Error(
            f"The protocol {protocol.key!r} names a report heading that does not exist: {key!r}.",
            hint=f"One of: {', '.join(HEADINGS)} (analytics/figures/headings.py).",
            id="assay.E014",
        )
        for protocol in PROTOCOLS.values()
        for key in protocol.headings
        if key not in HEADINGS
    ]
