"""A judge's leaning to text by language models: how much more it gives it than people do, beside text by people.

Source: AGENT-CQ (section 4.3) sees its jury prefer simulated answers to people's more often than people do, and asks
whether judges of the writers' kind favour it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analytics.statistics.core.estimates import Estimate, LeftOut, TidyDataError, present
from analytics.statistics.core.randomization import Randomization, Tested, sign_flip, two_sample
from analytics.statistics.core.resampling import ResampleSpec, divide, mean_estimate, query_estimates
from analytics.statistics.core.tidy import Bools, Floats, Ints

ONE_KIND = "{unit} of queries with text of one kind only"
NO_TEXT = "Nothing that both judged was written by {who}."
MODELS, PERSONS = "a model", "a person"


@dataclass(frozen=True)
class SourceBias:
    """A judge's mean less people's of text by models and of text by persons, and the first less the second.

    `test` is of no difference; None where there is no text of one of the two.
    """

    models: Estimate
    persons: Estimate
    bias: Estimate
    test: Tested | None


def source_bias(
    gap: Floats, by_model: Bools, query: Ints, *, resample: ResampleSpec, tests: Randomization, unit: str
) -> SourceBias:
    """Of the judge's value less people's (n,) of each text of `query` (n,), written by a model or by a person.

    What the judge gives more to all texts alike cancels out. Every text weighs the same; the test takes each query's
    difference of means, or compares queries where none has both kinds of text. Raises TidyDataError where the shapes
    differ.
    """
    if not gap.shape == by_model.shape == query.shape or gap.ndim != 1:
        raise TidyDataError("A bias by source needs a difference, a writer and a query for each text.")
    kinds = [np.isin(query, query[each]) for each in (by_model, ~by_model)]
    paired = kinds[0] & kinds[1]
    left_out: tuple[LeftOut, ...] = ()
    # What is estimated is what is tested: where queries have both kinds of text, those alone.
    if paired.any():
        left_out = present({ONE_KIND.format(unit=unit): int(np.count_nonzero(~paired))})
        gap, by_model, query = gap[paired], by_model[paired], query[paired]
    models, persons = (
        mean_estimate(
            gap[used],
            query[used],
            unit=unit,
            resample=resample,
            left_out=left_out,
            empty=NO_TEXT.format(who=who),
        )
        for used, who in ((by_model, MODELS), (~by_model, PERSONS))
    )
    columns = np.column_stack([gap * by_model, by_model, gap * ~by_model, ~by_model])
    [bias] = query_estimates(
        columns,
        query,
        lambda sums: (divide(sums[:, 0], sums[:, 1]) - divide(sums[:, 2], sums[:, 3]))[:, None],
        n=len(gap),
        unit=unit,
        resample=resample,
        left_out=left_out,
        empty=NO_TEXT.format(who=PERSONS if by_model.any() else MODELS),
        scales=["plain"],
    )
    both = by_model.any() and not by_model.all()
    return SourceBias(models, persons, bias, _test(gap, by_model, query, tests) if both else None)


def _test(gap: Floats, by_model: Bools, query: Ints, tests: Randomization) -> Tested:
    queries, code = np.unique(query, return_inverse=True)
    means = [
        divide(
            np.asarray(np.bincount(code[used], weights=gap[used], minlength=len(queries)), dtype=np.float64),
            np.bincount(code[used], minlength=len(queries)).astype(np.float64),
        )
        for used in (by_model, ~by_model)
    ]
    shared = np.isfinite(means[0]) & np.isfinite(means[1])
    if shared.any():
        return sign_flip((means[0] - means[1])[shared], queries[shared], tests).two_sided
    one, other = (each[np.isfinite(each)] for each in means)
    return two_sample(one, other, tests)
