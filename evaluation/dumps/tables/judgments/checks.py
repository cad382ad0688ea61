"""Sentences on a table's judgments before their import: how many they are, and why columns can't be judgments."""

from collections.abc import Iterator, Sequence

from evaluation.counting import counted
from evaluation.dumps.tables.column_names import ColumnRole
from evaluation.dumps.tables.judgments.cells import response_names, whose_column
from evaluation.dumps.tables.judgments.raters import RaterNames
from evaluation.dumps.tables.sheet import Sheet, as_name
from evaluation.dumps.tables.table_map import BESIDE_VOTES, LABELS, PER_RESPONSE, VOTES, ColumnUse, TableMap
from evaluation.protocols import Protocol
from evaluation.protocols.kinds.choice import MAX_CHOICES


def judgment_notes(sheet: Sheet, table_map: TableMap, judgments: int, raters: int) -> list[str]:
    """Sentences on the judgments that a table brings: how many they are, and what becomes of who gave them."""
    among = f"In the first {len(sheet.rows):,} rows: " if sheet.is_cut else ""
    notes = [
        f"{among}{counted(judgments, 'judgment')} by {counted(raters, 'rater')}. Rows with the same prompt and "
        "responses are one item. A study that comes with judgments is closed: it has its report, and takes no "
        "participants."
    ]
    names = RaterNames(sheet, table_map)
    if names.are_numbered:
        notes.append(
            f"Raters are numbered as they come, as “rater 1”: column {names.column!r} holds what identifies people. "
            "It is not stored."
        )
    if not names.column:
        notes.append(
            "No column says who judged: an item's judgments are told apart as “vote 1”, “vote 2” and so on."
        )
    return notes


def judgment_problems(
    table_map: TableMap, sheet: Sheet, protocol: Protocol, *, is_new: bool
) -> Iterator[str]:
    """Reasons that keep columns from being judgments, as sentences."""
    votes, beside = table_map.named(*VOTES), table_map.named(*BESIDE_VOTES)
    if not votes:
        if beside:
            yield f"{_listed(beside)}, and no column says what was judged"
        return
    if not is_new:
        yield (
            f"{_listed(votes)}: items for a study that is there can't bring judgments. Say that these columns are not "
            "used, or make a new study from this file"
        )
        return
    if table_map.named(ColumnRole.ATTRIBUTES):
        yield f"{_listed(votes)}, and a row with attributes is several items"
    responses = table_map.named(ColumnRole.RESPONSE)
    if protocol.compares_pairs and len(responses) > 2:
        yield f"{_listed(votes)}, and {len(responses)} responses make several pairs"
    if not protocol.response_counts[1] and len(votes) > len(table_map.named(ColumnRole.LABEL)):
        yield f"{_listed(votes)}, and {protocol.label!r} has no responses"
    if table_map.named(ColumnRole.WINNER, ColumnRole.RANK) and max(protocol.response_counts) == 1:
        yield f"{_listed(votes)}, and {protocol.label!r} has one response"
    names = response_names(sheet, table_map)
    one = table_map.per == PER_RESPONSE or (len(responses) == 1 and not table_map.named(ColumnRole.RESPONSES))
    for use in table_map.named(ColumnRole.SCORE, ColumnRole.RANK):
        if not one and not whose_column(use, names)[1]:
            said = f"column {use.column!r} is the {LABELS[use.role]}, and does not say of which response"
            yield f"{said}: give its system"
    for use in table_map.named(ColumnRole.LABEL):
        found = len({as_name(each) for each in sheet.values(use.column)})
        if not 2 <= found <= MAX_CHOICES and not sheet.is_cut:
            yield f"column {use.column!r} has {found} different labels; there have to be 2 to {MAX_CHOICES}"


def _listed(uses: Sequence[ColumnUse]) -> str:
    return ", ".join(f"column {use.column!r} is the {LABELS[use.role]}" for use in uses)
