"""Signs that a person judged without care. Signs only: nobody is left out by a figure.

One row per judgment or answer of people; everything is compared with the other people of the same study, item by item,
because items differ more than people do. Robust limits are modified z-scores (Iglewicz and Hoaglin 1993): the
distance from the median in units of the median absolute deviation over 0.6745.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from analytics.statistics.core.estimates import TidyDataError
from analytics.statistics.core.tidy import Bools, Floats, Ints
from evaluation.protocols.requirements.questions import SHORT_TEXT

# Of which a judgment must have so many before it can be a straight line.
CELLS_OF_A_LINE = 4
# Texts of so many words or more can be copied; shorter ones are alike by chance.
WORDS_OF_A_COPY = 6
SHINGLE = 4
COPIED_SHARE = 0.7
PASTED_SHARE = 0.5
# A text of so many words or more, of which no more than that share are different, says nothing.
WORDS_OF_PADDING = 3
PADDED_SHARE = 1 / 3
TEXT_COUNTS = ("n", "watched", "pasted", "short", "repeated", "again", "padded", "like_others", "copied")
WORD = re.compile(r"\w+")
# Silent readers of English take 238 words a minute, most of them 175 to 300 (Brysbaert 2019, 190 studies); beyond 1,000
# nothing is understood (Rayner et al. 2016). Languages that need fewer words for the same are read with fewer words a
# minute, so that the limit is the more lenient there.
FASTEST_WORDS_PER_MINUTE = 1000
# Nobody reads, decides and submits in less, however little there is to read.
FASTEST_SECONDS = 1.0
# Chinese and Japanese have no blanks: a word is as long as in the texts of the IReST (Trauzettel-Klosinski and Dietz
# 2012), in which 255 characters of Chinese are 158 words.
IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
IDEOGRAPHS_OF_A_WORD = 255 / 158


def modified_z(values: Floats, reference: Bools) -> Floats:
    """Distance of each value (n,) from the median of those in the mask `reference` (n,), in robust standard deviations
    of these; nan where they have no spread.

    Values that are nan are left out and stay nan.
    """
    known = values[reference & ~np.isnan(values)]
    if not len(known):
        return np.full(len(values), np.nan)
    middle = np.median(known)
    spread = np.median(np.abs(known - middle))
    if spread == 0:
        return np.full(len(values), np.nan)
    return np.asarray(0.6745 * (values - middle) / spread)


def relative_times(rater: Ints, item: Ints, seconds: Floats, n_raters: int) -> tuple[Floats, Floats]:
    """Each rater's median time, and the median of its times as a share of the item's median over all raters.

    `rater` (n,), `item` (n,) codes and `seconds` (n,), nan where unknown; both results have shape (n_raters,), nan
    where a rater has no known time, and the share where nobody else took a known time for any of its items. Raises
    TidyDataError where the shapes differ.
    """
    _same_length(rater, item, seconds)
    known = ~np.isnan(seconds)
    rater, item, seconds = rater[known], item[known], seconds[known]
    n_items = int(item.max(initial=-1)) + 1
    medians = _medians(item, seconds, n_items)
    pairs = np.unique(np.stack([item, rater]), axis=1)
    shared = (np.bincount(pairs[0], minlength=n_items)[item] > 1) & (medians[item] > 0)
    share = seconds[shared] / medians[item[shared]]
    return _medians(rater, seconds, n_raters), _medians(rater[shared], share, n_raters)


def count_words(text: str) -> float:
    """The number of words of a text; of Chinese and Japanese, which have no blanks, by the number of characters."""
    ideographs = len(IDEOGRAPH.findall(text))
    return len(WORD.findall(IDEOGRAPH.sub(" ", text))) + ideographs / IDEOGRAPHS_OF_A_WORD


def unread(rater: Ints, seconds: Floats, words: Floats, n_raters: int) -> tuple[Ints, Ints]:
    """Of each rater's judgments of known time: how many took less time than anybody can read in, and how many.

    `seconds` (n,), nan where unknown, of a judgment of an item that shows so many `words` (n,): at
    `FASTEST_WORDS_PER_MINUTE`, and never less than `FASTEST_SECONDS`. Both results have shape (n_raters,). Raises
    TidyDataError where the shapes differ.
    """
    _same_length(rater, seconds, words)
    known = ~np.isnan(seconds)
    least = np.maximum(FASTEST_SECONDS, words * 60 / FASTEST_WORDS_PER_MINUTE)
    # Where a time is unknown, the comparison is false.
    return (
        np.bincount(rater[known & (seconds < least)], minlength=n_raters),
        np.bincount(rater[known], minlength=n_raters),
    )


def straight_lines(judgment: Ints, rater: Ints, value: Floats, n_raters: int) -> tuple[Ints, Ints]:
    """Of each rater's judgments with at least `CELLS_OF_A_LINE` values: in how many all are the same, and how many.

    One row per number on a form (a scale's point, a checklist's yes or no): `judgment` (n,) codes, `rater` (n,) its
    rater, `value` (n,). Both results have shape (n_raters,). Raises TidyDataError where the shapes differ.
    """
    _same_length(judgment, rater, value)
    n = int(judgment.max(initial=-1)) + 1
    cells = np.bincount(judgment, minlength=n)
    low, high = np.full(n, np.inf), np.full(n, -np.inf)
    np.minimum.at(low, judgment, value)
    np.maximum.at(high, judgment, value)
    owner = np.zeros(n, dtype=np.int64)
    owner[judgment] = rater
    long = cells >= CELLS_OF_A_LINE
    flat = long & (low == high)
    return np.bincount(owner[flat], minlength=n_raters), np.bincount(owner[long], minlength=n_raters)


@dataclass(frozen=True)
class Side:
    """A rater's preferences for what was shown first, of those of known order; `p` is the binomial test's."""

    first: int
    n: int
    p: float | None


def sides(rater: Ints, first: npt.NDArray[np.bool_], n_raters: int) -> list[Side]:
    """`rater` (n,) and whether its preference was for the response `first` shown (n,), ties left out.

    Raises TidyDataError where the shapes differ.
    """
    import scipy

    _same_length(rater, first)
    firsts = np.bincount(rater[first], minlength=n_raters)
    alls = np.bincount(rater, minlength=n_raters)
    # With even odds the two tails are alike; `binomtest` says the same, a thousand times more slowly.
    tails = np.minimum(1.0, 2 * scipy.stats.binom.cdf(np.minimum(firsts, alls - firsts), alls, 0.5))
    return [
        Side(int(k), int(n), float(p) if n else None) for k, n, p in zip(firsts, alls, tails, strict=True)
    ]


def agreement_with_others(
    unit: Ints, rater: Ints, value: Floats, span: float | None, n_raters: int
) -> Floats:
    """Each rater's mean agreement with the others on what they rated, too; shape (n_raters,), nan without any.

    `unit` (n,) what was rated, `value` (n,) a label's code where `span` is None: then the agreement is the share of the
    others that gave the same label. With a span, a scale's width: one less the distance from the others' mean, as a
    share of the span. Raises TidyDataError where the shapes differ.
    """
    _same_length(unit, rater, value)
    n_units = int(unit.max(initial=-1)) + 1
    others = np.bincount(unit, minlength=n_units)[unit] - 1
    if span is None:
        pair = np.unique(np.stack([unit.astype(np.float64), value]), axis=1, return_inverse=True)[1].ravel()
        same = np.bincount(pair)[pair] - 1
        score: Floats = same / np.maximum(others, 1)
    else:
        theirs = np.bincount(unit, weights=value, minlength=n_units)[unit] - value
        score = 1 - np.abs(value - theirs / np.maximum(others, 1)) / span
    shared = others > 0
    n = np.bincount(rater[shared], minlength=n_raters)
    total = np.bincount(rater[shared], weights=score[shared], minlength=n_raters)
    return np.where(n > 0, total / np.maximum(n, 1), np.nan)


@dataclass(frozen=True)
class Texts:
    """Oddities of one rater's texts: how many are short, repeated, like another's, or copied from the item.

    Of those that were `watched`, which a browser counted pasting in, so many are `pasted`. `again` are those that
    repeat an earlier one however short they are, `padded` those that say the same word over and over.
    """

    n: int = 0
    watched: int = 0
    pasted: int = 0
    short: int = 0
    repeated: int = 0
    again: int = 0
    padded: int = 0
    like_others: int = 0
    copied: int = 0


def odd_texts(
    rater: Sequence[int],
    texts: Sequence[str],
    pasted: Sequence[int | None],
    sources: Iterable[str],
    n_raters: int,
) -> list[Texts]:
    """One entry per text: whose it is, the text, how many characters were pasted (None: nobody counted), and what stood
    on the screen beside it.

    Short is under `SHORT_TEXT` characters. Repeated and like another's are texts of `WORDS_OF_A_COPY` words or more
    whose words are the same; copied ones have at least `COPIED_SHARE` of their runs of `SHINGLE` words in the source.
    Pasted is a text of as many words of which `PASTED_SHARE` or more of the characters were. Padded is one of
    `WORDS_OF_PADDING` words or more of which at most `PADDED_SHARE` are different.
    `sources` is read once, in step with the texts, so that it may be made on the way; texts beside the same source
    had better follow each other.
    """
    words = [WORD.findall(text.casefold()) for text in texts]
    long = [" ".join(each) if len(each) >= WORDS_OF_A_COPY else "" for each in words]
    mine = Counter((who, text) for who, text in zip(rater, long, strict=True) if text)
    everybody = Counter(text for _, text in mine)
    seen: Counter[tuple[int, str]] = Counter()
    given: set[tuple[int, str]] = set()
    found = [dict.fromkeys(TEXT_COUNTS, 0) for _ in range(n_raters)]
    latest, there = "", ""
    for who, text, said, normal, inserted, source in zip(
        rater, texts, words, long, pasted, sources, strict=True
    ):
        counts = found[who]
        counts["n"] += 1
        counts["short"] += len(text.strip()) < SHORT_TEXT
        counts["watched"] += inserted is not None
        if said:
            counts["again"] += (who, same := " ".join(said)) in given
            given.add((who, same))
            counts["padded"] += len(said) >= WORDS_OF_PADDING and len(set(said)) <= PADDED_SHARE * len(said)
        if normal:
            counts["pasted"] += (inserted or 0) >= PASTED_SHARE * len(text)
            counts["repeated"] += seen[(who, normal)] > 0
            seen[(who, normal)] += 1
            counts["like_others"] += everybody[normal] > 1
            if source != latest:
                latest, there = source, f" {' '.join(WORD.findall(source.casefold()))} "
            counts["copied"] += _is_copied(said, there)
    return [Texts(**counts) for counts in found]


def _is_copied(said: Sequence[str], there: str) -> bool:
    """True if `COPIED_SHARE` of a text's runs of words stand `there`: words with a blank around each.

    Looks no further than it takes to know.
    """
    n = len(said) - SHINGLE + 1
    missing = 0
    for at in range(n):
        if f" {' '.join(said[at : at + SHINGLE])} " not in there:
            missing += 1
            if (n - missing) / n < COPIED_SHARE:
                return False
    return n > 0


def _medians(code: Ints, value: Floats, n: int) -> Floats:
    """The median of the values of each code; nan for a code without any."""
    found = np.full(n, np.nan)
    order = np.lexsort((value, code))
    code, value = code[order], value[order]
    starts = np.searchsorted(code, np.arange(n + 1))
    for at, (begin, end) in enumerate(pairwise(starts)):
        if end > begin:
            found[at] = (value[(begin + end - 1) // 2] + value[(begin + end) // 2]) / 2
    return found


def _same_length(*columns: npt.NDArray[np.generic]) -> None:
    if len({len(column) for column in columns}) > 1:
        raise TidyDataError(f"Columns have lengths {', '.join(str(len(column)) for column in columns)}.")
