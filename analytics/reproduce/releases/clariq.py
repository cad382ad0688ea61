"""ClariQ, as far as AGENT-CQ describes what people wrote: its questions, which are the human baseline, and its answers.

Source: AGENT-CQ, sections 4.1, 4.3 and 5, and appendix A.4.1. Of its Tables 4, 5 and 7 only what the text repeats is
known here. The files at hand are those of ClariQ's dev split; the paper is on more topics, which it does not name.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean, stdev

from analytics.reproduce.published_tables import PublishedFigure, PublishedTable, table
from analytics.reproduce.release_input import ReleaseInput
from analytics.reproduce.reproduction import Reproduction
from analytics.statistics.core.resampling import ResampleSpec
from analytics.statistics.rankings.ndcg import mean_ndcg
from analytics.statistics.texts.openings import OPENINGS, opening_of
from analytics.statistics.texts.readability import TextMeasures, measure_text
from evaluation.dumps.published.clariq import read_bank, read_rows
from evaluation.dumps.release import Record
from evaluation.dumps.trec import read_qrels, read_run

QRELS, RUNS = "dev.qrel", "*.run"
# The run that stands beside the paper's: people's questions and answers, ranked by BM25.
PUBLISHED_RUN = "bm25.run"
NDCG = {1: "", 5: "0.221", 10: "0.246"}
# What the text repeats of models in Tables 5 and 7.
MODELS_QUESTIONS = {
    "GPT-Facet: words": "23.53",
    "GPT-Facet: grade": "college",
    "Llama 3.1: grade": "high school",
}
MODELS_NDCG = {
    "nDCG@1, BM25, questions of GPT-Temp": "0.225",
    "nDCG@1, BERT, questions of GPT-Temp": "0.312",
    "nDCG@5, BERT, questions of GPT-Temp": "0.296",
}
MODELS_ANSWERS = {"Words": "13.21", "Words, standard deviation": "8.06"}
DEV_ONLY = (
    "Ours: every question of a topic once, in the files of ClariQ's dev split; the paper's are of more topics. A study "
    "that is kept has five questions of each topic."
)
BY_ROW = "As published: a question counts once for every facet that it was answered for, as the file has it."
NO_RUN = (
    f"The published figure alone: no {PUBLISHED_RUN} was given with {QRELS} beside it, a ranking in TREC's form whose "
    "topics are facets. The pages that are searched are not in the files."
)
BY_MODELS = "The questions and answers of models are not released."


class ClariQReproduction(Reproduction):
    key = "clariq"
    paper = "AGENT-CQ: the questions and answers that people wrote, from ClariQ"
    missing = (
        "Questions and answers by models, the scores of CrowdLLM, and people's rankings and preferences (Tables 1 to "
        "3 and 6, Figures 2 to 4; the models' side of Tables 4, 5 and 7): not released, so that its jury's majority "
        "can't be counted in any way.",
        "Categories of questions (Table 4): chosen by GPT-3.5. The pipeline question_categories has a model choose "
        "those of a study.",
        "Expected types of response (section 4.1): by rules that the paper does not give.",
        "Retrieval by BERT for people's questions (Table 7): no text of the paper at hand repeats its figures.",
    )

    def tables(self, given: ReleaseInput) -> Iterator[PublishedTable]:
        _ = given.study
        rows = [row for row in read_rows(given.path) if row["question"].strip()]
        bank = [row["question"] for row in read_bank(given.path) if row["question"].strip()]
        questions = list({(row["topic_id"], row["question_id"]): row["question"] for row in rows}.values())
        yield table("Data set (appendix A.4.1)", _size(given, rows, questions, bank), DEV_ONLY)
        yield table("Questions by people (section 4.1, Table 5)", _readability(questions), DEV_ONLY)
        if bank:
            yield table("Questions of the bank, of all topics", _readability(bank, published=False))
        yield table("Forms of questions by people (section 4.1), in percent", _forms(questions, bank))
        yield table("Questions by models (section 4.1, Table 5)", _of_models(MODELS_QUESTIONS))
        yield table("Answers by people (section 4.3)", _answers(rows))
        yield table("Answers by models (section 4.3)", _of_models(MODELS_ANSWERS))
        folder = given.path if given.path.is_dir() else given.path.parent
        yield table(
            "Retrieval with questions and their answers (section 5, Table 7)",
            [*_retrieval(given, folder), *_of_models(MODELS_NDCG)],
        )


def _size(
    given: ReleaseInput, rows: Sequence[Record], questions: Sequence[str], bank: Sequence[str]
) -> Iterator[PublishedFigure]:
    count = partial(PublishedFigure, decimals=0)
    yield count("Topics", "198", len({row["topic_id"] for row in rows}))
    yield count("Facets", "891", len({(row["topic_id"], row["facet_id"]) for row in rows}))
    by_row = len(rows) if given.as_published else None
    yield count("Questions", "over 8k", len(questions), by_row, BY_ROW)
    if bank:
        yield count("Questions in the bank", "", len(bank))
    once = _mean_words(questions)
    each = _mean_words([row["question"] for row in rows]) if given.as_published else None
    yield PublishedFigure("Words per question", "9.49", once, each, BY_ROW)


def _readability(texts: Sequence[str], *, published: bool = True) -> Iterator[PublishedFigure]:
    """As the figure texts/readability: means over texts, and the standard deviation of their lengths."""
    found = _measured(texts)
    words = [each.words for each in found]
    yield PublishedFigure("Words", "9.71" if published else "", fmean(words))
    yield PublishedFigure("Words, standard deviation", "", stdev(words) if len(words) > 1 else None)
    yield PublishedFigure("Characters", "", fmean(each.characters for each in found))
    yield PublishedFigure(
        "Reading ease (Flesch)", "", fmean(each.ease for each in found if each.ease is not None)
    )
    yield PublishedFigure(
        "Grade (Kincaid)",
        "5th" if published else "",
        fmean(each.grade for each in found if each.grade is not None),
        note="In words in the text of the paper, which does not name its counter of syllables."
        if published
        else "",
    )


def _forms(questions: Sequence[str], bank: Sequence[str]) -> Iterator[PublishedFigure]:
    for of, texts in (("", questions), (" (bank)", bank)):
        found = Counter(map(opening_of, texts))
        for form in OPENINGS if texts else ():
            yield PublishedFigure(f"{form}{of}", "", 100 * found[form] / len(texts), decimals=1)


def _answers(rows: Sequence[Record]) -> Iterator[PublishedFigure]:
    words = [each.words for each in _measured([row["answer"] for row in rows if row["answer"].strip()])]
    note = "Ours of all answers in the dev split; the paper compares 200, drawn from more topics."
    yield PublishedFigure("Answers", "", len(words), decimals=0)
    yield PublishedFigure("Words", "8.19", fmean(words), note=note)
    spread = stdev(words) if len(words) > 1 else None
    yield PublishedFigure("Words, standard deviation", "4.36", spread, note=note)


def _of_models(published: Mapping[str, str]) -> Iterator[PublishedFigure]:
    for name, figure in published.items():
        yield PublishedFigure(name, figure, None, note=BY_MODELS)


def _measured(texts: Sequence[str]) -> list[TextMeasures]:
    """Of the texts that have words."""
    return [each for each in map(measure_text, texts) if each.words]


def _mean_words(texts: Sequence[str]) -> float:
    return fmean(each.words for each in _measured(texts))


def _retrieval(given: ReleaseInput, folder: Path) -> Iterator[PublishedFigure]:
    """Of people's questions: the runs' figures, and the printed ones alone where no run stands for them."""
    judged = (folder / QRELS).is_file()
    if not judged or not (folder / PUBLISHED_RUN).is_file():
        for cut, printed in NDCG.items():
            if printed:
                yield PublishedFigure(f"nDCG@{cut}, BM25, questions of people", printed, None, note=NO_RUN)
    if judged:
        yield from _runs(given, folder)


def _runs(given: ReleaseInput, folder: Path) -> Iterator[PublishedFigure]:
    relevance = read_qrels(folder / QRELS)
    relevant = sum(any(grade > 0 for grade in grades.values()) for grades in relevance.values())
    yield PublishedFigure("Facets with judgments of relevance", "", len(relevance), decimals=0)
    yield PublishedFigure("Facets with a relevant document", "", relevant, decimals=0)
    for file in sorted(folder.glob(RUNS), key=lambda each: (each.name != PUBLISHED_RUN, each.name)):
        rankings = list(read_run(file).items())
        for cut, printed in NDCG.items():
            published = printed if file.name == PUBLISHED_RUN else ""
            found = mean_ndcg(rankings, relevance, cut, resample=ResampleSpec(given.study.seed))
            yield PublishedFigure(f"nDCG@{cut}, {file.name}", published, found.value, note=found.undefined)


REPRODUCTION = ClariQReproduction()
