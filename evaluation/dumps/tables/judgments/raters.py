"""Names of a table's raters: as they stand there, or numbers where they are addresses or ids of a platform."""

import re

from evaluation.dumps.release import short_key
from evaluation.dumps.tables.bookkeeping import EMAIL
from evaluation.dumps.tables.column_names import ColumnRole, plain_name
from evaluation.dumps.tables.sheet import Sheet, as_name
from evaluation.dumps.tables.table_map import TableMap

MAX_PSEUDONYM = 60
# Ids of people on Prolific and Mechanical Turk.
PLATFORM_ID = re.compile(r"[0-9a-f]{24}|A(?=[A-Z0-9]*\d)[A-Z0-9]{10,20}")
# Of a name, where an address is looked for.
LOOK_AT = 1_000
# Words of columns whose cells tell a person from all others, whatever they look like.
OF_A_PERSON = re.compile(
    r"\b(worker|crowdworker|participant|prolific|pid|mturk|e ?mail|username|user name|user id)\b"
)


class RaterNames:
    """The raters' names in a study. What identifies a person is never kept: they are numbered as they come."""

    def __init__(self, sheet: Sheet, table_map: TableMap) -> None:
        self.column = next((use.column for use in table_map.named(ColumnRole.RATER)), "")
        values = [as_name(each) for each in sheet.values(self.column)] if self.column else []
        self.are_numbered = bool(OF_A_PERSON.search(plain_name(self.column))) or any(
            EMAIL.search(each[:LOOK_AT]) or PLATFORM_ID.fullmatch(each) for each in values
        )
        self._numbers: dict[str, int] = {}
        if self.are_numbered:
            for each in values:
                self._number(each)

    def name(self, text: str) -> str:
        """The name of the rater in a cell; empty for an empty one."""
        text = text.strip()
        if not text:
            return ""
        return f"rater {self._number(text)}" if self.are_numbered else short_key(text, MAX_PSEUDONYM)

    def _number(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers) + 1)
