"""Panels that send people to a study which is not set to them, or by an address in which they fill nothing in: noted
as they come, and said to the researchers."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from datetime import timedelta

from django.db import IntegrityError
from django.db.models import F, Max, Sum
from django.utils import timezone

from annotator.models import UnreadArrivals
from annotator.panels.platforms import get_platform, sender_of, unread_params
from annotator.panels.services.panel_settings import panel_of
from evaluation.extension import Advice
from evaluation.models import Study

UNDERSTOOD = (
    "They are recognised by their ids and sent back with the study's codes, but visitors without an "
    "id are let in, and their submissions there are not tracked."
)
UNFILLED = (
    "Placeholders are replaced only in the platform's own field for the study's address, and only those that it knows: "
    "look at the address there, or at where else it was put."
)
# Nothing tells that an address was put right but that nobody comes by it any more.
SAID_FOR = timedelta(days=7)
NOT_READ = "Their ids are not read: every visit counts as a new person, and nobody is sent back there."


def note_unread(study: Study, params: Mapping[str, str]) -> None:
    """Count an arrival whose address has a panel's parameters that the study does not read; of any other, nothing."""
    panel = panel_of(study)
    platform = get_platform(panel.platform) if panel is not None else None
    names = unread_params(params, platform, panel.settings if panel is not None else {})
    if names:
        _count(study, " ".join(names))


def note_placeholder(study: Study, name: str) -> None:
    """Count an arrival that was refused, since a placeholder stands in this parameter."""
    _count(study, f"{name}=")


def _count(study: Study, names: str) -> None:
    # The study may be deleted at this moment.
    with suppress(IntegrityError):
        row, _ = UnreadArrivals.objects.get_or_create(study=study, day=timezone.localdate(), names=names)
        UnreadArrivals.objects.filter(pk=row.pk).update(n=F("n") + 1)


def unread_cautions(study: Study) -> Iterator[Advice]:
    """Arrivals that are still not read, how often and when last, and what to do about it."""
    found = UnreadArrivals.objects.filter(study=study).order_by().values("names")
    for row in found.annotate(total=Sum("n"), last=Max("day")).order_by("names"):
        names = row["names"].split()
        came = "1 visit" if row["total"] == 1 else f"{row['total']:,} visits"
        if row["names"].endswith("="):
            if timezone.localdate() - row["last"] < SAID_FOR:
                yield Advice(
                    f"{came} had a placeholder in place of the id in {names[0][:-1]}, the last on "
                    f"{row['last']:%Y-%m-%d}, and got no further. {UNFILLED}"
                )
            continue
        if _is_read(study, names):
            continue
        sender, panel = sender_of(names), panel_of(study)
        where = (
            "no platform is set"
            if panel is None
            else f"the study is set to {get_platform(panel.platform).label}"
        )
        is_understood = panel is None and sender.is_default
        said = (
            f"{came} came with {sender.label}'s parameters ({', '.join(names)}), the last on "
            f"{row['last']:%Y-%m-%d}, but {where}. {UNDERSTOOD if is_understood else NOT_READ}"
        )
        if panel is not None and panel.drafted_at is not None:
            # Where it recruits can't be changed any more (`set_panel`).
            yield Advice(
                f"{said} The study is drafted on its panel and stays there: take its link off "
                f"{sender.label}, and recruit there with a separate study."
            )
            continue
        yield Advice(
            f"{said} If you recruit on {sender.label}, set that before more people come.",
            f"Set {sender.label}",
            "admin:evaluation_study_platform",
        )


def _is_read(study: Study, names: Collection[str]) -> bool:
    """True if the study is set to read them by now."""
    panel = panel_of(study)
    platform = get_platform(panel.platform) if panel is not None else None
    return not unread_params(dict.fromkeys(names, "x"), platform, panel.settings if panel is not None else {})
