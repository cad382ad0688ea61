"""The effect of clarifying questions and their answers on retrieval: nDCG of a query alone and with both (AGENT-CQ,
section 5), and of the runs of other systems."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.resampling import ResampleSpec
from analytics.statistics.rankings.ndcg import mean_ndcg
from evaluation.dumps.trec import read_qrels, read_run
from evaluation.models import ItemResponse, Role, Study
from evaluation.refusals import Refused
from judging.backends.retrieval import CUTS
from judging.retrieval.corpora import ANY_FILES, CORPORA, Corpus, open_corpus

ALONE, WITH_QUESTION = "query", "query + question"


@dataclass(frozen=True)
class GridRow:
    """One way to search, and its mean nDCG at each cut-off."""

    searched: str
    values: Mapping[int, Estimate]


def retrieval_grid(study: Study, *, qrels: str, corpus: str = "", runs: Sequence[str] = ()) -> list[GridRow]:
    """A row for each way to search for the study's queries, whose keys are the topics of `qrels`; all files are in the
    folder of corpora. Refused says why there is none."""
    if not corpus and not runs:
        raise Refused("Name a corpus to search, or a run to look at.")
    relevance = read_qrels(CORPORA.file(qrels, ANY_FILES))
    rankings = _searched(study, open_corpus(corpus), max(CUTS)) if corpus else {}
    rankings |= {name: list(read_run(CORPORA.file(name, ANY_FILES)).items()) for name in runs}
    resample = ResampleSpec(seed=study.seed)
    return [
        GridRow(name, {cut: mean_ndcg(found, relevance, cut, resample=resample) for cut in CUTS})
        for name, found in rankings.items()
    ]


def _searched(study: Study, corpus: Corpus, most: int) -> dict[str, list[tuple[str, list[str]]]]:
    """By what was searched for, the topic and its ranking; of a topic as many as it has questions and answers."""
    texts: dict[str, dict[tuple[str, str], None]] = defaultdict(dict)
    for key, text in study.queries.order_by("pk").values_list("key", "text"):
        texts[ALONE][key, text] = None
    for name, key, text in _expanded(study):
        texts[name][key, text] = None
    return {
        name: [(key, [each.id for each in corpus.search(text, most)]) for key, text in each]
        for name, each in texts.items()
    }


def _expanded(study: Study) -> Iterator[tuple[str, str, str]]:
    """Queries with the clarifying questions of the study's items, and with these and their answers, by system; of items
    without one, with each system's response, which may be a question itself."""
    rows = ItemResponse.objects.filter(item__study=study, item__role=Role.MAIN, item__withdrawn_at=None)
    asked = rows.exclude(item__clarifying_question="").order_by("response__system__key", "item", "response")
    for key, query, question, system, answer in asked.values_list(
        "item__query__key",
        "item__query__text",
        "item__clarifying_question",
        "response__system__key",
        "response__text",
    ):
        yield WITH_QUESTION, key, f"{query} {question}"
        yield f"{WITH_QUESTION} + answer of {system}", key, f"{query} {question} {answer}"
    alone = rows.filter(item__clarifying_question="").order_by("response__system__key", "item", "response")
    for key, query, system, response in alone.values_list(
        "item__query__key", "item__query__text", "response__system__key", "response__text"
    ):
        yield f"{ALONE} + response of {system}", key, f"{query} {response}"
