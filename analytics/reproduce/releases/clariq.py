"""ClariQ, as far as AGENT-CQ describes what people wrote: its questions, which are the human baseline, and its answers.

Source: AGENT-CQ, sections 4.1, 4.3 and 5, and appendix A.4.1. Of its Tables 4, 5 and 7 only what the text repeats is
known here. The files at hand are those of ClariQ's dev split; the paper is on more topics, which it does not name.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
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
DEV_ONLY = (
    "Ours: every question of a topic once, in the files of ClariQ's dev split; the paper's are of more topics. A study "
    "that is kept has five questions of each topic."
)
BY_ROW = "As published: a question counts once for every facet that it was answered for, as the file has it."
NO_RUN = (
    f"A ranking in TREC's form, {PUBLISHED_RUN} beside {QRELS}, whose topics are facets; the pages that are searched "
    "are not in the files."
)


class ClariQReproduction(Reproduction):
    key = "clariq"
    paper = "AGENT-CQ: the questions and answers that people wrote, from ClariQ"
    missing = (
        "Questions and answers by models, the scores of CrowdLLM, and people's rankings and preferences (Tables 1 to "
        "3 and 6, Figures 2 to 4; the models' side of Tables 4, 5 and 7): not released.",
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
        yield table("Answers by people (section 4.3)", _answers(rows))
        if folder := _folder_of_qrels(given.path):
            yield table(
                "Retrieval with people's questions and answers (section 5, Table 7)",
                _retrieval(given, folder),
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


def _measured(texts: Sequence[str]) -> list[TextMeasures]:
    """Of the texts that have words."""
    return [each for each in map(measure_text, texts) if each.words]


def _mean_words(texts: Sequence[str]) -> float:
    return fmean(each.words for each in _measured(texts))


def _folder_of_qrels(path: Path) -> Path | None:
    folder = path if path.is_dir() else path.parent
    return folder if (folder / QRELS).is_file() else None


def _retrieval(given: ReleaseInput, folder: Path) -> Iterator[PublishedFigure]:
    relevance = read_qrels(folder / QRELS)
    relevant = sum(any(grade > 0 for grade in grades.values()) for grades in relevance.values())
    yield PublishedFigure("Facets with judgments of relevance", "", len(relevance), decimals=0)
    yield PublishedFigure("Facets with a relevant document", "", relevant, decimals=0)
    runs = {file.name: file for file in sorted(folder.glob(RUNS))}
    for name in dict.fromkeys((PUBLISHED_RUN, *runs)):
        rankings = list(read_run(runs[name]).items()) if name in runs else []
        for cut, printed in NDCG.items():
            published = printed if name == PUBLISHED_RUN else ""
            if not rankings:
                yield PublishedFigure(f"nDCG@{cut}, {name}", published, None, note=NO_RUN)
                continue
            found = mean_ndcg(rankings, relevance, cut, resample=ResampleSpec(given.study.seed))
            yield PublishedFigure(f"nDCG@{cut}, {name}", published, found.value, note=found.undefined)


REPRODUCTION = ClariQReproduction()
