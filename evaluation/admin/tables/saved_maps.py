"""The maps that a researcher saved, beside the table that is open: which of them fit it."""

from dataclasses import dataclass
from typing import Any

from django.http import Http404

from evaluation.dumps.tables.staged_table import StagedTable
from evaluation.dumps.tables.table_map import read_map
from evaluation.models import SavedTableMap
from evaluation.models.saved_table_map import as_map_name
from evaluation.refusals import Refused


@dataclass(frozen=True)
class SavedChoice:
    """A saved map, and why it can't be used for the table; empty where it can."""

    name: str
    misfit: str


def saved_choices(user: Any, staged: StagedTable) -> list[SavedChoice]:
    """The user's maps, those first that fit the table."""
    found = [
        SavedChoice(each.name, _misfit(each, staged)) for each in SavedTableMap.objects.filter(owner=user)
    ]
    return sorted(found, key=lambda each: bool(each.misfit))


def _misfit(saved: SavedTableMap, staged: StagedTable) -> str:
    try:
        absent = staged.absent(read_map(saved.map))
    except Refused as refused:
        return str(refused)
    return f"The table lacks {absent}." if absent else ""


def saved_map(user: Any, name: str) -> SavedTableMap:
    """The user's map of that name; Http404 without one."""
    found = SavedTableMap.objects.filter(owner=user, name=as_map_name(name)).first()
    if found is None:
        raise Http404
    return found
