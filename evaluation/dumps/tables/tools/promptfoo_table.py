"""promptfoo's results as CSV: a row for each test, with its variables and, for each prompt and provider, a column
`[provider] prompt` of outputs, which has its grades behind it."""

import re
from collections.abc import Sequence
from itertools import pairwise

from evaluation.dumps.tables.column_names import ColumnRole
from evaluation.dumps.tables.sheet import Sheet, SheetRow, as_name, as_text, is_empty
from evaluation.dumps.tables.table_map import PER_RESPONSE, ColumnUse, TableMap
from evaluation.dumps.tables.tool import PlainTable, Tool

OUTPUT = re.compile(r"\[([^\[\]]+)\] (.+)", re.DOTALL)
VARIABLE = re.compile(r"\{\{\s*(\w+)\s*\}\}")
# Earlier versions wrote it in front of the output.
OUTCOME = re.compile(r"\[(?:PASS|FAIL|ERROR)\]\s*")
STATUS, SCORE, REASON, REASONING = "Status", "Score", "Grader Reason", "Reasoning"
USES = (
    ColumnUse("prompt", ColumnRole.PROMPT),
    ColumnUse("provider", ColumnRole.SYSTEM),
    ColumnUse("output", ColumnRole.RESPONSE),
    ColumnUse("score", ColumnRole.SCORE),
    ColumnUse("rater", ColumnRole.RATER),
    ColumnUse("kind", ColumnRole.RATER_KIND),
    ColumnUse("reason", ColumnRole.REASON),
)


def _outputs(sheet: Sheet) -> list[tuple[int, int]]:
    """The place of each column of outputs, and where the columns that are its own end."""
    found = [at for at, name in enumerate(sheet.columns) if OUTPUT.fullmatch(name)]
    return [*pairwise([*found, len(sheet.columns)])]


def _tells(sheet: Sheet) -> bool:
    outputs = _outputs(sheet)
    behind = [_plain(sheet.columns[begin + 1 : begin + 2]) for begin, _ in outputs]
    return bool(outputs) and {*behind} <= {STATUS, REASON, REASONING}


def _plain(names: Sequence[str]) -> str:
    """The name without the number that a second column of it gets."""
    return re.sub(r"[ _(]*\d+\)?$", "", names[0]) if names else ""


def _read(sheet: Sheet) -> tuple[Sheet, TableMap]:
    outputs = _outputs(sheet)
    variables = [name for name in sheet.columns[: outputs[0][0]] if name != "Description"]
    plain = PlainTable(sheet, USES, sheet.columns)
    seen: set[tuple[str, str]] = set()
    for row in sheet.rows:
        values = {name: as_text(row.cells[sheet.columns.index(name)]) for name in variables}
        for begin, end in outputs:
            said = OUTPUT.fullmatch(sheet.columns[begin])
            output = OUTCOME.sub("", as_text(row.cells[begin]), count=1)
            if said is None or not output.strip():
                plain.leave_out("tests without an output", "output")
                continue
            provider, prompt = said[1], _asked(said[2], values)
            if (prompt, provider) in seen:
                plain.leave_out("a second output of the same provider to the same prompt", "output")
                continue
            seen.add((prompt, provider))
            plain.add(
                row,
                {"prompt": prompt, "provider": provider, "output": output} | _grade(sheet, row, begin, end),
            )
    return plain.finish(PER_RESPONSE)


def _asked(prompt: str, values: dict[str, str]) -> str:
    """The prompt with its variables; where its column has a name of it alone, the variables behind it."""
    if VARIABLE.search(prompt):
        return VARIABLE.sub(lambda found: values.get(found[1], found[0]), prompt)
    if len(values) == 1:
        return next(iter(values.values()))
    return "\n".join([prompt, *(f"{name}: {value}" for name, value in values.items())])


def _grade(sheet: Sheet, row: SheetRow, begin: int, end: int) -> dict[str, object]:
    own = {_plain([sheet.columns[at]]): row.cells[at] for at in range(begin + 1, end)}
    if is_empty(own.get(SCORE)):
        return {}
    return {"score": own[SCORE], "rater": "promptfoo", "kind": "judge", "reason": as_name(own.get(REASON))}


TOOL = Tool("promptfoo_table", "results of promptfoo as a table", _tells, _read)
