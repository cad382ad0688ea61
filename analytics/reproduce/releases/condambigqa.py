"""CondAmbigQA: the size of its data set, models' scores, and how many answers models gave to a question.

Source: its sections 3.2 and 5, and the scripts of innovation64/CondAmbigQA. The file at hand was gathered from sample
results of a later version of the data set, in which models were asked without documents. Models' sets of entries are in
the outputs of the repository's evaluation, of which each has the scores of the pairs that were compared, and no others.
"""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, stdev

from analytics.reproduce.published_tables import PublishedFigure, PublishedTable, table
from analytics.reproduce.release_input import ReleaseInput, ReleaseRow
from analytics.reproduce.reproduction import Reproduction
from evaluation.dumps.published.condambigqa import SCORES, read_outputs, read_rows

# Table 2 by the name of a model in the outputs: condition, answer and citation score, each with its standard deviation.
TABLE_2 = {
    "mistral": (("0.316", "0.116"), ("0.272", "0.137"), ("0.036", "0.116")),
    "qwen2.5": (("0.317", "0.103"), ("0.297", "0.159"), ("0.050", "0.134")),
    "gemma2": (("0.309", "0.111"), ("0.306", "0.135"), ("0.077", "0.173")),
    "glm4": (("0.313", "0.110"), ("0.295", "0.153"), ("0.059", "0.151")),
    "llama3.1": (("0.305", "0.103"), ("0.276", "0.136"), ("0.058", "0.144")),
}
# What the later outputs, those of the greedy matching, have of an entry: the reference entry it was given.
GREEDY = "expected_idx"
NOT_PRINTED = (("", ""),) * len(SCORES)
# Mean number of answers per query; the paper says no other model's.
ANSWERS = {"mistral": "3.0", "qwen2.5": "2.30", "gemma2": "2.21", "glm4": "3.0"}
BY_SETTING = {
    "qwen2.5, answer score: conditions given": "0.39",
    "qwen2.5, answer score: conditions found": "0.30",
    "qwen2.5, answer score: no conditions": "0.13",
    "gemma2, answer score: conditions given": "0.37",
    "gemma2, answer score: conditions found": "0.31",
    "gemma2, answer score: no conditions": "0.13",
    "glm4, answer score: conditions given": "0.35",
    "glm4, answer score: conditions found": "0.29",
    "glm4, answer score: no conditions": "0.15",
    "all models, citation score: conditions given": "0.19 to 0.21",
    "all models, citation score: conditions found": "0.04 to 0.08",
    "all models, citation score: no conditions": "0.05 to 0.08",
    "mistral, citation score: conditions given": "0.09",
    "mistral, citation score: conditions found": "0.04",
    "mistral, citation score: no conditions": "0.05",
}
BY_SIZE = {
    "GPT-4o and GLM4-plus, condition score: peak": "0.45 to 0.50",
    "others, condition score: peak": "0.35 to 0.40",
    "GPT-4o and GLM4-plus, answer score: peaks": "0.5 to 0.7",
    "others, answer score: peak": "0.25",
    "GPT-4o and GLM4-plus, citation score": "0.08 to 0.09",
    "others, citation score": "0.05 to 0.07",
    "largest less smallest model, condition score": "0.15",
}
ONE_QUESTION = {
    "llama3.1, condition 1": "0.11",
    "llama3.1, condition 2": "0.22",
    "gemma2, condition 1": "0.24",
    "gemma2, condition 2": "0.38",
    "glm4, condition 1": "0.30",
    "glm4, condition 2": "0.17",
    "qwen2.5, condition 1": "0.13",
    "qwen2.5, condition 2": "0.35",
    "gpt-4o, condition 1": "0.45",
    "gpt-4o, condition 2": "0.44",
    "glm-4-plus, condition 1": "0.41",
    "glm-4-plus, condition 2": "0.53",
}
LATER = (
    "The paper's version of the data set has 200 questions. The sample results that the file was gathered from are of "
    "a later one with 500."
)
MATCHED = "Only conditions that some model's answer was matched to are in the sample results."
NO_SETS = (
    "No scores: conditions.jsonl has no sets of models, with conditions and citations, so neither the optimal "
    "matching nor the release's own readings (the paper's comparison by position, its later greedy matching) can be "
    "computed from it. The repository's intermediate_results_MODEL_main_experiment.json beside it give the release's "
    "reading."
)
PAIRS_ALONE = (
    "As published, by the paper's outputs: each entry beside the reference entry at its place, and beside nothing "
    "beyond the reference; mean and standard deviation of all entries of all questions together. By later outputs, "
    "which name the reference entry, greedy: the mean of a question's matched entries, then of questions. Ours, the "
    "optimal matching, needs the scores of all pairs; the outputs have those of the pairs that were compared."
)
BY_ENTRY = (
    "As published: a question counts once for each of its entries that was scored. Ours: each question once. The "
    "numbers of entries are in the evaluation outputs, intermediate_results_MODEL_main_experiment.json beside "
    "conditions.jsonl."
)
WITHOUT_DOCUMENTS = (
    "Models were asked without documents and conditions; the paper has no figures for that, and those of its section "
    "5.1 are of another experiment."
)
NOT_RELEASED = (
    "The scores behind these are not in the files; those with conditions found are those of Table 2."
)


class CondAmbigQAReproduction(Reproduction):
    key = "condambigqa"
    paper = "CondAmbigQA: A Benchmark and Dataset for Conditional Ambiguous Question Answering"
    missing = (
        "Scores by the optimal matching: a model has to score every pair of entries. A study of one's own has them and "
        "those by the greedy matching: judge entry_scores; report, Means and spread of measures.",
        "Distributions of scores (Figures 2 to 4 and 6) beyond what the text says of them.",
        "Agreement of calibrators: the paper has no figure for it.",
    )

    def tables(self, given: ReleaseInput) -> Iterator[PublishedTable]:
        rows = read_rows(given.path)
        outputs = read_outputs(given.path)
        items = given.study.items.count()
        entries = sum(len(row["conditions"]) for row in rows)
        yield table(
            "Data set (section 3.2)",
            [
                PublishedFigure("Questions", "200", items, note=LATER),
                PublishedFigure("Conditions per question", "", entries / items, note=MATCHED),
            ],
        )
        yield table(
            "Scores of models' sets (section 5.1, Table 2, Figures 2 to 4)",
            _scores(given, outputs),
            PAIRS_ALONE if outputs else NO_SETS,
        )
        yield table("Answers per question (section 5.1)", _set_sizes(given, outputs), BY_ENTRY)
        yield table("Scores by setting (section 5.2, Figure 5)", _printed(BY_SETTING), NOT_RELEASED)
        yield table("Scores of larger models (section 5.3, Figure 6)", _printed(BY_SIZE), NOT_RELEASED)
        yield table("Conditions of one question (section 5.4, Table 3)", _printed(ONE_QUESTION), NOT_RELEASED)
        yield table(
            "Answers per question in the sample results",
            _answers([row["model_answers"] for row in rows]),
            WITHOUT_DOCUMENTS,
        )


def _printed(published: Mapping[str, str]) -> Iterator[PublishedFigure]:
    for name, figure in published.items():
        yield PublishedFigure(name, figure, None)


def _scores(given: ReleaseInput, outputs: Mapping[str, Sequence[ReleaseRow]]) -> Iterator[PublishedFigure]:
    for model in dict.fromkeys((*TABLE_2, *outputs)):
        for score, (mean, spread) in zip(SCORES, TABLE_2.get(model, NOT_PRINTED), strict=True):
            found = _scores_as_script(outputs.get(model, ()), score) if given.as_published else []
            yield PublishedFigure(f"{model}: {score} score", mean, None, fmean(found) if found else None)
            yield PublishedFigure(
                f"{model}: {score} score, standard deviation",
                spread,
                None,
                stdev(found) if len(found) > 1 else None,
            )


def _scores_as_script(questions: Sequence[ReleaseRow], score: str) -> list[float]:
    """The scores whose mean is shown: of every entry, or of every question where its entries were matched greedily."""
    found = []
    for row in questions:
        scores = [each[f"{score}_evaluation"].get("score") for each in row["evaluations"]]
        if any(GREEDY in each for each in row["evaluations"]):
            matched = [each for each in scores if each is not None]
            found.append(fmean(matched) if matched else 0.0)
        else:
            found += [each or 0.0 for each in scores]
    return found


def _set_sizes(given: ReleaseInput, outputs: Mapping[str, Sequence[ReleaseRow]]) -> Iterator[PublishedFigure]:
    for model in dict.fromkeys((*ANSWERS, *outputs)):
        questions = outputs.get(model, ())
        sizes = [len(row["conditions"]) for row in questions]
        by_entry = [len(row["conditions"]) for row in questions for _ in row["evaluations"]]
        yield PublishedFigure(
            model,
            ANSWERS.get(model, ""),
            fmean(sizes) if sizes else None,
            fmean(by_entry) if by_entry and given.as_published else None,
        )


def _answers(rows: list[dict[str, list[object]]]) -> Iterator[PublishedFigure]:
    for model in dict.fromkeys(name for row in rows for name in row):
        given = [len(row[model]) for row in rows if model in row]
        yield PublishedFigure(model, "", sum(given) / len(given))


REPRODUCTION = CondAmbigQAReproduction()
