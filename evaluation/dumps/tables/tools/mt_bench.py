"""Judgments on MT-Bench (lmsys/mt_bench_human_judgments): two models' conversations, cut at the turn judged."""

from evaluation.dumps.tables.column_names import ColumnRole
from evaluation.dumps.tables.sheet import Sheet, as_name
from evaluation.dumps.tables.table_map import ColumnUse, TableMap
from evaluation.dumps.tables.tool import PlainTable, Tool, cells_are, records
from evaluation.dumps.tables.tools.arena import CONVERSATIONS, OWN, PAIR, is_pair_of_conversations, pair_of

USES = (*PAIR, ColumnUse("rater", ColumnRole.RATER), ColumnUse("kind", ColumnRole.RATER_KIND))
# How names of judges begin, which stand beside experts' and authors'.
MODEL_JUDGES = ("gpt", "claude", "llama", "gemini")


def _tells(sheet: Sheet) -> bool:
    return (
        is_pair_of_conversations(sheet)
        and OWN.isdisjoint(sheet.columns)
        and cells_are(sheet, ["judge"], lambda cell: bool(as_name(cell)))
        and cells_are(sheet, ["turn"], lambda cell: as_name(cell).isdigit())
    )


def _read(sheet: Sheet) -> tuple[Sheet, TableMap]:
    plain = PlainTable(sheet, USES, {*CONVERSATIONS, "judge"})
    for row, record in records(sheet):
        turn, judge = as_name(record["turn"]), record["judge"]
        pair = pair_of(record, int(turn) if turn.isdigit() else None)
        if isinstance(pair, str):
            plain.leave_out(pair)
            continue
        # A judge may be a model with its prompt.
        rater = " ".join(map(as_name, judge)) if isinstance(judge, list) else as_name(judge)
        kind = "judge" if rater.casefold().startswith(MODEL_JUDGES) else "person"
        plain.add(row, pair | {"rater": rater, "kind": kind})
    return plain.finish()


TOOL = Tool("mt_bench", "judgments on MT-Bench", _tells, _read)
