"""Normalised discounted cumulative gain of ranked documents (Järvelin and Kekäläinen 2002), as trec_eval has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from analytics.statistics.core.estimates import Estimate, LeftOut, ParameterError
from analytics.statistics.core.resampling import ResampleSpec, mean_estimate

NOTHING_RELEVANT = "topics of which no document is relevant"
NOT_RANKED = "topics without judgments of relevance"


def ndcg(ranked: Sequence[str], relevance: Mapping[str, float], k: int) -> float | None:
    """nDCG@k of one topic's ranking, the best document first; None where nothing is relevant.

    The gain of a document is its grade, discounted by log2(rank + 1), and the sum is divided by that of the best
    possible order of all documents judged. One without a grade, or with a negative one, gains nothing; one that stands
    twice counts where it stands first. Raises ParameterError for a `k` below 1.
    """
    if k < 1:
        raise ParameterError("nDCG needs a cut-off of 1 or more.")
    best = _discounted(sorted((max(grade, 0.0) for grade in relevance.values()), reverse=True)[:k])
    if best == 0:
        return None
    return _discounted([max(relevance.get(each, 0.0), 0.0) for each in dict.fromkeys(ranked)][:k]) / best


def _discounted(gains: Sequence[float]) -> float:
    ranks = np.arange(2, len(gains) + 2)
    return float(np.sum(np.asarray(gains, dtype=np.float64) / np.log2(ranks)))


def mean_ndcg(
    rankings: Sequence[tuple[str, Sequence[str]]],
    relevance: Mapping[str, Mapping[str, float]],
    k: int,
    *,
    resample: ResampleSpec,
) -> Estimate:
    """The mean of nDCG@k over rankings, each given with its topic, which may have several; interval over topics.

    Topics that nobody judged, and those of which nothing is relevant, are left out and counted.
    """
    topics = {topic: code for code, topic in enumerate(sorted({topic for topic, _ in rankings}))}
    unjudged = [topic for topic in topics if topic not in relevance]
    found = [
        (topics[topic], value)
        for topic, ranked in rankings
        if topic in relevance and (value := ndcg(ranked, relevance[topic], k)) is not None
    ]
    kept = {topic for topic, _ in found}
    left_out = [
        LeftOut(NOT_RANKED, len(unjudged)),
        LeftOut(NOTHING_RELEVANT, len(topics) - len(kept) - len(unjudged)),
    ]
    return mean_estimate(
        np.array([value for _, value in found], dtype=np.float64),
        np.array([topic for topic, _ in found], dtype=np.int32),
        unit="rankings",
        resample=resample,
        left_out=[each for each in left_out if each.n],
        empty="No topic has a document that was judged relevant.",
        share=True,
    )
