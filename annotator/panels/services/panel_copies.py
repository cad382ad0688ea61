"""The recruitment platform of a study that is copied; never the draft, the people or the money there."""

from collections.abc import Collection

from annotator.models import Panel
from annotator.panels.platforms import get_platform
from evaluation.extension import Duplication


def copy_panel(duplication: Duplication) -> Collection[str]:
    """Set the copy to the same platform. Settings that name this one study there are as its codes are, and its
    filters belong to eligibility; what there was to copy."""
    panel = Panel.objects.filter(study=duplication.source).first()
    if panel is None or "platform" not in duplication.along:
        return ()
    own = {each.name for each in get_platform(panel.platform).settings if each.of_one_study}
    with_codes = "codes" in duplication.along
    filters = panel.whom if "eligibility" in duplication.along else {}
    Panel.objects.create(
        study=duplication.copy,
        platform=panel.platform,
        settings={name: value for name, value in panel.settings.items() if with_codes or name not in own},
        returned=panel.returned,
        whom=filters,
    )
    came = {"platform"}
    if filters:
        came.add("eligibility")
    if with_codes and own & panel.settings.keys():
        came.add("codes")
    return came
