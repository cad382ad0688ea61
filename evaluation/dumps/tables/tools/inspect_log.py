"""Inspect's logs (JSON): the samples of an evaluation, with the model's output and each scorer's score."""

from collections.abc import Iterator, Mapping
from typing import Any

from evaluation.dumps.tables.column_names import ColumnRole
from evaluation.dumps.tables.sheet import Sheet, as_text
from evaluation.dumps.tables.table_map import ColumnUse, TableMap
from evaluation.dumps.tables.tool import PlainTable, Tool, as_object, as_objects, cells_are, records
from evaluation.dumps.tables.turns import message_text, read_messages

USES = (
    ColumnUse("input", ColumnRole.PROMPT),
    ColumnUse("model", ColumnRole.SYSTEM),
    ColumnUse("output", ColumnRole.RESPONSE),
    ColumnUse("target", ColumnRole.REFERENCE),
    ColumnUse("score", ColumnRole.SCORE),
    ColumnUse("scorer", ColumnRole.RATER),
    ColumnUse("kind", ColumnRole.RATER_KIND),
    ColumnUse("explanation", ColumnRole.REASON),
)
# Correct, partly correct, incorrect, no answer: as Inspect counts them.
GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}


def _tells(sheet: Sheet) -> bool:
    return {"input", "target", "epoch"} <= {*sheet.columns} and cells_are(
        sheet, ["output"], lambda cell: isinstance(cell, Mapping) and {"model", "choices"} <= cell.keys()
    )


def _read(sheet: Sheet) -> tuple[Sheet, TableMap]:
    plain = PlainTable(sheet, USES, {"input", "output", "target", "scores", "choices", "messages"})
    for row, record in records(sheet):
        output = as_object(record["output"])
        said = _said(output)
        if not said or not output.get("model"):
            plain.leave_out("samples without an output")
            continue
        item = {
            "input": read_messages(record["input"]) or record["input"],
            "model": output["model"],
            "output": said,
            "target": record["target"],
        }
        for score in [*_scores(record.get("scores"))] or [{}]:
            plain.add(row, item | score)
    return plain.finish()


def _said(output: Mapping[str, Any]) -> str:
    [choice, *_] = [*as_objects(output.get("choices")), {}]
    content = message_text(as_object(choice.get("message")).get("content"))
    return as_text(content) if isinstance(content, str) else as_text(output.get("completion"))


def _scores(scores: Any) -> Iterator[dict[str, Any]]:
    for scorer, each in as_object(scores).items():
        score = as_object(each)
        value = score.get("value")
        number = GRADES.get(value) if isinstance(value, str) else value
        if isinstance(number, int | float):
            explanation = as_text(score.get("explanation"))
            yield {"score": float(number), "scorer": scorer, "kind": "judge", "explanation": explanation}


TOOL = Tool("inspect", "a log of Inspect", _tells, _read)
