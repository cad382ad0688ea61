"""CondAmbigQA: the size of its data set, and how many answers models gave to a question.

Source: its sections 3.2 and 5.1. The files at hand are of a later version of the data set, and hold only what models
answered and was matched to a condition.
"""

from collections.abc import Iterator

from analytics.reproduce.published_tables import PublishedFigure, PublishedTable, table
from analytics.reproduce.release_input import ReleaseInput
from analytics.reproduce.reproduction import Reproduction
from evaluation.dumps.published.condambigqa import read_rows

# Mean number of answers per query; the paper says no other model's.
ANSWERS = {"mistral-7b": "3.0", "gemma2-9b": "2.21", "qwen2.5-7b": "2.30"}
LATER = "The paper's version has 200 questions, the sample results that are read 500."
MATCHED = "Only answers that were matched to a condition are in the sample results: fewer than models gave."


class CondAmbigQAReproduction(Reproduction):
    key = "condambigqa"
    paper = "CondAmbigQA: A Benchmark and Dataset for Conditional Ambiguous Question Answering"
    missing = (
        "Condition, answer and citation scores (Table 2, Figures 2 to 6): models' sets, with their conditions and "
        "citations, are not in the files. A study of one's own has them: report, Means and spread of measures.",
        "Agreement of calibrators: the paper has no figure for it.",
        "Answers per query of GLM4 9B (section 5.1, 3.0): the files have those of GLM4-plus.",
    )

    def tables(self, given: ReleaseInput) -> Iterator[PublishedTable]:
        rows = read_rows(given.path)
        items = given.study.items.count()
        entries = sum(len(row["conditions"]) for row in rows)
        yield table(
            "Data set (section 3.2)",
            [
                PublishedFigure("Questions", "200", items, note=LATER),
                PublishedFigure("Conditions per question", "", entries / items),
            ],
        )
        yield table(
            "Answers per question (section 5.1)", _answers([row["model_answers"] for row in rows]), MATCHED
        )


def _answers(rows: list[dict[str, list[object]]]) -> Iterator[PublishedFigure]:
    for model in dict.fromkeys(name for row in rows for name in row):
        given = [len(row[model]) for row in rows if model in row]
        yield PublishedFigure(model, ANSWERS.get(model, ""), sum(given) / len(given))


REPRODUCTION = CondAmbigQAReproduction()
