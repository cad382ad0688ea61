"""Names of a table's raters: as they stand there, or numbers where they are addresses or ids of a platform."""

import re

from evaluation.dumps.release import short_key
from evaluation.dumps.tables.column_names import ColumnRole, plain_name
from evaluation.dumps.tables.sheet import Sheet, as_text
from evaluation.dumps.tables.table_map import TableMap

MAX_PSEUDONYM = 60
# An e-mail address, and ids of people on Prolific and Mechanical Turk.
IDENTITY = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+|[0-9a-f]{24}|A(?=[A-Z0-9]*\d)[A-Z0-9]{10,20}")
# Words of columns whose cells tell a person from all others, whatever they look like.
OF_A_PERSON = re.compile(
    r"\b(worker|crowdworker|participant|prolific|pid|mturk|e ?mail|username|user name|user id)\b"
)


class RaterNames:
    """The raters' names in a study. What identifies a person is never kept: they are numbered as they come."""

    def __init__(self, sheet: Sheet, table_map: TableMap) -> None:
        self.column = next((use.column for use in table_map.named(ColumnRole.RATER)), "")
        values = [as_text(each) for each in sheet.values(self.column)] if self.column else []
        self.are_numbered = bool(OF_A_PERSON.search(plain_name(self.column))) or any(
            IDENTITY.fullmatch(each) for each in values
        )
        self._numbers: dict[str, int] = {}
        if self.are_numbered:
            for each in values:
                self._numbers.setdefault(each, len(self._numbers) + 1)

    def name(self, text: str) -> str:
        """The name of the rater in a cell; empty for an empty one."""
        if not text:
            return ""
        return f"rater {self._numbers[text]}" if self.are_numbered else short_key(text, MAX_PSEUDONYM)
