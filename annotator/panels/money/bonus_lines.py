"""Bonuses as lines of "id,amount", the way they come out of a spreadsheet."""

import re
from collections import defaultdict
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation

from annotator.models import PanelRecord
from annotator.panels.states import GONE
from evaluation.refusals import Refused

MAX_LINES = 2_000
BETWEEN = re.compile(r"[,;\s]+")
AMOUNT = re.compile(r"\d{1,6}(\.\d{1,2})?")


def read_bonus_lines(text: str, records: Iterable[PanelRecord]) -> dict[PanelRecord, Decimal]:
    """Record to amount. An id is a submission's or a person's; the latter only where it says which submission.

    Raises Refused with every line that is wrong; empty lines and a heading line are passed over.
    """
    by_id, by_person = _index(records)
    amounts: dict[PanelRecord, Decimal] = {}
    problems = []
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if len(lines) > MAX_LINES:
        raise Refused(f"There are {len(lines):,} lines; {MAX_LINES:,} at a time is the most.")
    for number, line in lines:
        try:
            record, amount = _read(line, by_id, by_person)
            if record in amounts:
                raise ValueError(f"{record.external_id} is listed twice")
            amounts[record] = amount
        except ValueError as wrong:
            if not (number == 1 and not any(each.isdigit() for each in line)):
                problems.append(f"Line {number}: {wrong}.")
    if not amounts and not problems:
        problems.append("Enter at least one line with an id and an amount.")
    if problems:
        raise Refused(*problems)
    return amounts


def _index(
    records: Iterable[PanelRecord],
) -> tuple[dict[str, PanelRecord], dict[str, list[PanelRecord]]]:
    """By submission, and by person those submissions that were not given back."""
    by_id, by_person = {}, defaultdict(list)
    for record in records:
        by_id[record.external_id] = record
        by_person[record.participant_id].append(record)
    for person, theirs in by_person.items():
        by_person[person] = [each for each in theirs if each.status not in GONE] or theirs
    return by_id, by_person


def _read(
    line: str, by_id: dict[str, PanelRecord], by_person: dict[str, list[PanelRecord]]
) -> tuple[PanelRecord, Decimal]:
    parts = BETWEEN.split(line.strip(",; \t"))
    if len(parts) != 2:
        raise ValueError(f"“{line[:80]}” is not an id and an amount")
    name, figure = parts
    theirs = [by_id[name]] if name in by_id else by_person.get(name, [])
    if not theirs:
        raise ValueError(f"no submission or participant has the id {name[:80]}")
    if len(theirs) > 1:
        raise ValueError(f"{name} has {len(theirs)} submissions; please give the submission's id")
    try:
        amount = Decimal(figure if AMOUNT.fullmatch(figure) else "")
    except InvalidOperation:
        raise ValueError(f"“{figure[:20]}” is not an amount such as 0.50") from None
    if not amount:
        raise ValueError("the amount is 0")
    return theirs[0], amount
