"""Best picks, rankings and the spread over an attribute's values."""

from math import comb
from typing import Any

import numpy as np

from evaluation.analytics.concordance import concordance
from evaluation.analytics.estimates import plain
from evaluation.analytics.friedman import Friedman, friedman
from evaluation.analytics.picks import pick_shares, picks_as_values, same_pick
from evaluation.analytics.rankings import place_bias, system_ranks
from evaluation.analytics.spread import (
    Spreads,
    adapted_spreads,
    adapted_spreads_of_means,
    spread_shares,
    spreads,
    spreads_of_means,
)
from evaluation.analytics.value_alpha import alpha_of_values
from evaluation.answers_frame import values_of
from evaluation.reports.answers.scope import AnswerScope

Record = dict[str, Any]


def picks(scope: AnswerScope) -> Record:
    """Which system's response is the best: shares by system and by kind of system, and how often raters concur."""
    found, items = scope.answers.as_picks(), scope.items
    shares = pick_shares(
        found,
        len(items.systems),
        resample=scope.resample("picks"),
        offered=items.offered,
        tests=scope.tests("picks", len(items.systems)),
    )
    same = same_pick(found, resample=scope.resample("same pick"))
    return {
        "by_system": [
            {**plain(share), "system": items.systems[share.system]}
            for share in shares.systems
            if share.share.n
        ],
        "by_kind": _picks_by_kind(scope),
        "tie": plain(shares.tie),
        "same": plain(same),
        "n_items": shares.n_items,
        "n_queries": shares.n_queries,
    }


def _picks_by_kind(scope: AnswerScope) -> list[Record]:
    """The same where systems are of several kinds, such as people and models; each kind over all that offer it."""
    items, names = scope.items, sorted(set(scope.kinds))
    if len(names) < 2:
        return []
    # A tie (-1) reads the entry behind the last and stays one.
    kind = np.array([*(names.index(each) for each in scope.kinds), -1], dtype=np.int64)
    found = scope.answers.as_picks()
    coded = type(found)(found.item, found.query, found.rater, found.response, kind[found.system])
    offered = np.zeros((len(items), len(names)), dtype=np.int64)
    for system, code in enumerate(kind[:-1]):
        offered[:, code] += items.offered[:, system]
    shares = pick_shares(coded, len(names), resample=scope.resample("picks by kind"), offered=offered)
    found_by_kind = []
    for share in shares.systems:
        record = plain(share)
        found_by_kind.append({"kind": names[record.pop("system")], **record})
    return found_by_kind


def picks_alpha(scope: AnswerScope) -> Record:
    """Nominal alpha of the picked response's system."""
    found = picks_as_values(scope.answers.as_picks())
    return dict(plain(alpha_of_values(found, level="nominal", resample=scope.resample("alpha"))))


def ranking(scope: AnswerScope) -> Record:
    """Kendall's W, each system's mean rank and share of first places, Friedman's test, and places on the screen."""
    ranks, names = scope.answers.as_ranks(), scope.items.systems
    tests = scope.tests("ranks", comb(len(names), 2))
    agreed = concordance(ranks, resample=scope.resample("concordance"))
    systems = system_ranks(ranks, len(names), resample=scope.resample("ranks"))
    return {
        **plain(agreed),
        "by_system": [{**plain(each), "system": names[each.system]} for each in systems if each.mean_rank.n],
        "friedman": _friedman(friedman(ranks, unit="queries", tests=tests), names),
        "places": plain(place_bias(ranks, resample=scope.resample("places"))),
        "distribution": _rank_distribution(scope),
    }


def _friedman(found: Friedman, names: tuple[str, ...]) -> Record:
    record: Record = plain(found)
    record["systems"] = [names[code] for code in found.systems]
    for pair in record["pairs"]:
        pair["system_1"], pair["system_2"] = names[pair["system_1"]], names[pair["system_2"]]
    return record


def _rank_distribution(scope: AnswerScope) -> list[Record]:
    """How often each system's responses were given each rank; a shared one counts for the higher of its neighbours."""
    ranks = scope.answers.as_ranks()
    place = np.floor(ranks.rank).astype(np.int64)
    highest = int(place.max(initial=0))
    return [
        {
            "system": name,
            "counts": np.bincount(place[ranks.system == code], minlength=highest + 1)[1:].tolist(),
        }
        for code, name in enumerate(scope.items.systems)
        if (ranks.system == code).any()
    ]


def spread(scope: AnswerScope) -> Record | None:
    """The largest difference over an attribute's values, of each rater's ratings and of their means.

    None where one value alone was rated, as of responses that were written for it.
    """
    attributes = scope.frame.attributes
    if attributes is None or not len(scope.answers):
        return None
    attribute, _ = values_of(attributes, scope.answers)
    by_rater = spreads(scope.values, attribute)
    if not len(by_rater.spread):
        return None
    return _spread_record(scope, by_rater, spreads_of_means(scope.values, attribute), "spread")


def adapted_spread(scope: AnswerScope) -> Record | None:
    """The same over responses that were each written for one value, of one system and setting on one query.

    None where no two values of an attribute have such a response.
    """
    attributes = scope.frame.attributes
    if attributes is None or not len(scope.answers):
        return None
    values, items = scope.values, scope.items
    # A system of no response is -1.
    setting = (values.system.astype(np.int64) + 1) * len(items.arms) + items.arm[values.item]
    coded = (*values_of(attributes, scope.answers), setting)
    of_means = adapted_spreads_of_means(values, *coded)
    if not len(of_means.spread):
        return None
    return _spread_record(scope, adapted_spreads(values, *coded), of_means, "adapted spread")


def _spread_record(scope: AnswerScope, by_rater: Spreads, of_means: Spreads, purpose: str) -> Record:
    points = scope.question.points
    return {
        "of_raters": plain(spread_shares(by_rater, points, resample=scope.resample(purpose))),
        "of_means": plain(
            spread_shares(of_means, points, resample=scope.resample(f"{purpose} of means"), nearest=True)
        ),
    }
