"""Retrieval as a judge (AGENT-CQ, section 5): how much a clarifying question and a response to it help a search.

A corpus is searched for an item's query alone, for the query with the clarifying question, and for these with each
response; each search is held against judgments of relevance by nDCG. What another system found for the queries comes in
as its runs.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import PurePath
from typing import Any

from evaluation.protocols.answers.measures import Measure, Subject
from evaluation.protocols.base import Stimulus
from evaluation.refusals import Refused
from judging.backends.base import Heuristic, StopRun, Unmeasurable
from judging.backends.options import Input, JudgeOption
from judging.retrieval.corpora import ANY_FILES, CORPORA, open_corpus

CUTS = (1, 5, 10)
# Searched for without a response; their measures are of the item.
QUERY, QUESTION = "query", "question"
RESERVED = (QUERY, QUESTION)
MOST_RUNS, LONGEST_NAME = 10, 40
NO_FILES = "Name the judgments of relevance, and a corpus to search or runs to look at."


def _run_names(value: Any) -> list[str]:
    """Names of files, no two of which would give measures of one name."""
    if len(value) > MOST_RUNS:
        raise ValueError(f"at most {MOST_RUNS} runs.")
    short = [short_name(each) for each in value]
    for given, name in zip(value, short, strict=True):
        if not name or name in RESERVED or short.count(name) > 1:
            raise ValueError(
                f"{given!r} would be called {name!r}: a run needs a name of its own, which is not query or question."
            )
    return list(value)


def short_name(run: str) -> str:
    """A run's file as measures name it: `other.run` is `other`."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", PurePath(run).stem).strip("-")[:LONGEST_NAME]


QRELS = JudgeOption(
    key="qrels",
    label="Judgments of relevance",
    help="A file of TREC's form in the folder of corpora; its topics are the keys of the queries.",
    needed="Name the judgments of relevance (qrels).",
)
CORPUS = JudgeOption(
    key="corpus",
    label="Corpus",
    help="The file to search in the folder of corpora, with the documents that were judged.",
    hint=CORPORA.hint,
)
RUNS = JudgeOption(
    key="runs",
    label="Runs of other systems",
    help="Files of TREC's form in the folder of corpora, one per line; their topics are the keys of the queries.",
    input=Input.LINES,
    default=[],
    clean=_run_names,
)


class Searches:
    """The searches of a judge, by the names of its files. Runs and corpora may be large: files are read when the first
    item needs them, by a worker, and StopRun says then what is wrong with one."""

    def __init__(self, corpus: str, qrels: str, runs: Sequence[str]) -> None:
        self.corpus, self.qrels, self.run_files = corpus, qrels, runs
        # Items of one query search for it once.
        self._search = lru_cache(maxsize=1_000)(self._ids)

    # With the modules below comes all that reads files and computes; backends are imported with the models.

    @cached_property
    def relevance(self) -> Mapping[str, Mapping[str, float]]:
        from evaluation.dumps.trec import read_qrels

        with _stops_run():
            return read_qrels(CORPORA.file(self.qrels, ANY_FILES))

    @cached_property
    def runs(self) -> Mapping[str, Mapping[str, Sequence[str]]]:
        from evaluation.dumps.trec import read_run

        with _stops_run():
            return {short_name(name): read_run(CORPORA.file(name, ANY_FILES)) for name in self.run_files}

    def numbers(self, stimulus: Stimulus) -> Mapping[str, Mapping[str, float] | float]:
        from analytics.statistics.rankings.ndcg import ndcg

        topic = stimulus["query"]["key"]
        relevant = self.relevance.get(topic)
        if relevant is None:
            raise Unmeasurable(f"The judgments of relevance have no topic {topic!r}.")
        if ndcg([], relevant, 1) is None:
            raise Unmeasurable(f"No document is relevant to the topic {topic!r}.")
        found: dict[str, dict[str, float] | float] = {}
        for about, ranked in self._of_item(stimulus, topic):
            found |= {_measure(cut, about).key: _gain(ranked, relevant, cut) for cut in CUTS}
        responses = self._of_responses(stimulus)
        if responses:
            found |= {
                _measure(cut).key: {part: _gain(ranked, relevant, cut) for part, ranked in responses.items()}
                for cut in CUTS
            }
        return found

    def _of_item(self, stimulus: Stimulus, topic: str) -> Iterator[tuple[str, Sequence[str]]]:
        if self.corpus:
            query = stimulus["query"]["text"]
            yield QUERY, self._search(query)
            if question := stimulus["clarifying_question"]:
                yield QUESTION, self._search(f"{query} {question}")
        for name, found in self.runs.items():
            yield name, found.get(topic, ())

    def _of_responses(self, stimulus: Stimulus) -> dict[str, Sequence[str]]:
        if not self.corpus:
            return {}
        before = " ".join(filter(None, (stimulus["query"]["text"], stimulus["clarifying_question"])))
        return {each["part"]: self._search(f"{before} {each['text']}") for each in stimulus["responses"]}

    def _ids(self, text: str) -> tuple[str, ...]:
        """The documents found, the best first."""
        with _stops_run():
            return tuple(each.id for each in open_corpus(self.corpus).search(text, max(CUTS)))


@contextmanager
def _stops_run() -> Iterator[None]:
    try:
        yield
    except Refused as refused:
        raise StopRun(str(refused)) from None


def _gain(ranked: Sequence[str], relevant: Mapping[str, float], cut: int) -> float:
    from analytics.statistics.rankings.ndcg import ndcg

    value = ndcg(ranked, relevant, cut)
    assert value is not None
    return value


def _measure(cut: int, about: str = "") -> Measure:
    """nDCG of the search with a response or, where `about` names another one, of that."""
    if not about:
        return Measure(f"ndcg_{cut}", f"nDCG@{cut}", low=0, high=1)
    labels = {QUERY: "query alone", QUESTION: "query and question"}
    label = f"nDCG@{cut}, {labels.get(about, about)}"
    return Measure(f"ndcg_{cut}_{about}", label, Subject.ITEM, low=0, high=1)


def _measures(corpus: str, runs: Sequence[str]) -> tuple[Measure, ...]:
    names = [*(["", *RESERVED] if corpus else []), *map(short_name, runs)]
    return tuple(_measure(cut, name) for name in names for cut in CUTS)


def _configured(heuristic: Heuristic, options: Mapping[str, Any]) -> Heuristic:
    corpus, qrels, runs = options["corpus"], options["qrels"], options["runs"]
    if not qrels or not (corpus or runs):
        raise StopRun(NO_FILES)
    with _stops_run():
        if corpus:
            CORPORA.file(corpus)
        for name in (qrels, *runs):
            CORPORA.file(name, ANY_FILES)
    searches = Searches(corpus, qrels, runs)
    return replace(heuristic, measures=_measures(corpus, runs), numbers=searches.numbers)


RETRIEVAL = Heuristic(
    key="retrieval",
    label="retrieval with the response (nDCG)",
    measures=_measures("any", ()),
    options=(QRELS, CORPUS, RUNS),
    configured=_configured,
)
