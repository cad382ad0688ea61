"""Models' results in HREF's form: expected win rates, ranks, and what its text prints of leaderboards.

Source: its sections 4.2 to 4.4, Tables 5 and 7, Figure 6, and the scripts of allenai/href.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import orjson

from analytics.figures.document import Written
from analytics.reproduce.published_tables import PublishedFigure
from analytics.reproduce.release_input import ReleaseInput, ReleaseRow
from analytics.statistics.core.estimates import plain
from analytics.statistics.core.resampling import ResampleSpec
from analytics.statistics.core.tidy import Bools
from analytics.statistics.leaderboards.correlation import FEW_SYSTEMS
from analytics.statistics.leaderboards.leaderboard import Standing, leaderboard
from analytics.statistics.leaderboards.sample_sizes import SampleSizes, p_against_n
from analytics.statistics.leaderboards.scores import SystemScores, system_scores
from analytics.statistics.preferences.win_rates import item_scores
from evaluation.dumps.published.href import (
    CATEGORIES,
    DEVELOPMENT,
    EVALUATION_ONLY,
    MAX_LABEL,
    MAX_SYSTEM,
    PRIVATE,
    RESULTS,
    HrefFiles,
    slug_of,
)
from evaluation.dumps.release import short_key
from evaluation.refusals import Refused

PREFERENCE = "preference"
ALL, AVERAGE = "all", "average"
# The scripts' bootstrap of ranks has no seed.
RANK_REPLICATES = 5000
# Of categories, and of the average over all.
DECIMALS, AVERAGE_DECIMALS = 1, 2
INSTRUCTIONS = {DEVELOPMENT: "430", PRIVATE: "4258"}
# The pool of Figure 6 (section 4.4).
POOL = (
    "Qwen1.5-110B-Chat", "Mistral-Large-Instruct-2407", "Yi-1.5-34B-Chat", "tulu-2-dpo-70b", "vicuna-13b-v1.5",
    "Qwen2-72B-Instruct", "mpt-7b-chat", "koala-7B-HF", "OLMo-7B-SFT-hf", "dolly-v2-12b", "Llama-2-7b-chat-hf",
    "oasst-sft-1-pythia-12b", "gpt4all-13b-snoozy-t=0.0",
)  # fmt: skip
ONE_SET = "Needs results of both sets, in a folder of results each."
FEW_RESULTS = "Needs results of three models and ten instructions."
NOT_REACHED = "The 90th percentile is not below 0.05 with all instructions."


class Board:
    """The results of all models on one set by one annotator."""

    def __init__(self, given: ReleaseInput, files: HrefFiles, annotator: str, split: str) -> None:
        self.given = given
        self.files = [each for each in files.judged if (each.split, each.annotator) == (split, annotator)]
        self.split = split
        self.both = len(files.results_splits) > 1
        self.annotator = annotator
        self.categories = categories_of(each.category for each in self.files)

    @cached_property
    def models(self) -> dict[str, str]:
        """{folder of a model: its system}"""
        return {
            each.model: short_key(entry["generator_2"], MAX_SYSTEM)
            for each in self.files
            for entry in each.entries[:1]
        }

    @cached_property
    def scores(self) -> SystemScores:
        """Of all systems on this set."""
        [frame] = self.given.frame.pairs
        items = frame.items
        label = self.annotator[:MAX_LABEL]
        [group] = [each for each in frame.groups if each.key == self.given.group(label)]
        scores = system_scores(items, item_scores(group.judgments, len(items)), self.given.study.baseline)
        in_split: Bools = np.array([each == self.split for each in items.splits], dtype=bool)[items.query]
        return scores.where(in_split[scores.item])

    @property
    def told_apart_of_pool(self) -> SampleSizes | None:
        """Figure 6 of the paper's models, where all of them have results and others have, too."""
        systems = {letters_of(model): system for model, system in self.models.items()}
        pool = [systems[letters_of(model)] for model in POOL if letters_of(model) in systems]
        if len(pool) < len(POOL) or len(systems) == len(POOL):
            return None
        codes = [self.scores.systems.index(system) for system in pool]
        of_pool = self.scores.where(np.isin(self.scores.system, codes))
        return p_against_n(of_pool.by_query(), resample=ResampleSpec(self.given.study.seed))

    @cached_property
    def standings(self) -> dict[str, dict[str, Standing]]:
        """{part: {system: standing}} of all categories together and of each."""
        [frame] = self.given.frame.pairs
        items, scores = frame.items, self.scores
        parts: dict[str, Bools] = {ALL: np.ones(len(items), dtype=bool)} | {
            name: items.category == items.categories.index(name) for name in self.categories
        }
        resample = ResampleSpec(self.given.study.seed)
        return {
            part: {
                each.system: each
                for each in leaderboard(scores.where(mask[scores.item]), resample=resample)
                if each.system in self.models.values()
            }
            for part, mask in parts.items()
        }

    @cached_property
    def published(self) -> dict[str, ReleaseRow]:
        """{model: what the leaderboard's file says}; with results of both sets, the file with this one's categories."""
        found = {}
        for file in sorted(self.given.path.rglob("*.json")):
            if file.stem in self.models and AVERAGE in (said := _leaderboard_row(file)):
                split = PRIVATE if any(slug_of(name) in said for name in EVALUATION_ONLY) else DEVELOPMENT
                if not self.both or split == self.split:
                    found[file.stem] = said
        return found

    def rates(self) -> Iterator[PublishedFigure]:
        for model, system in self.models.items():
            for part in (ALL, *self.categories):
                decimals = AVERAGE_DECIMALS if part == ALL else DECIMALS
                share = self.published.get(model, {}).get(AVERAGE if part == ALL else slug_of(part))
                standing = self.standings[part].get(system)
                yield PublishedFigure(
                    f"{model}: {part}",
                    "" if share is None else f"{100 * share:.{decimals}f}",
                    percent(standing.rate.value) if standing else None,
                    percent(_as_script(self._said(model, part))) if self.given.as_published else None,
                    decimals=decimals,
                )

    def ranks(self) -> Iterator[PublishedFigure]:
        drawn = (
            {part: self._drawn_ranks(part) for part in (ALL, *self.categories)}
            if self.given.as_published
            else {}
        )
        for model, system in self.models.items():
            for part in (ALL, *self.categories):
                name = AVERAGE if part == ALL else slug_of(part)
                rank = self.published.get(model, {}).get(f"{name}_rank")
                standing = self.standings[part].get(system)
                yield PublishedFigure(
                    f"{model}: {part}",
                    "" if rank is None else str(rank),
                    standing.rank if standing else None,
                    drawn.get(part, {}).get(model),
                    decimals=0,
                )

    def _said(self, model: str, part: str) -> list[float | None]:
        return [
            entry["preference"]
            for file in self.files
            if file.model == model and part in (ALL, file.category)
            for entry in file.entries
        ]

    def _drawn_ranks(self, part: str) -> dict[str, int]:
        """Groups from the best rate on: all up to the first whose interval does not meet that of the group's first."""
        said = {model: self._said(model, part) for model in self.models}
        rng = np.random.default_rng(self.given.study.seed)
        limits = {model: _bootstrap(each, rng) for model, each in said.items() if each}
        order = sorted(limits, key=lambda model: -_as_script(said[model]))
        ranks: dict[str, int] = {}
        first = ""
        for place, model in enumerate(order, 1):
            low, high = limits[model]
            if not first or low > limits[first][1] or high < limits[first][0]:
                first, rank = model, place
            ranks[model] = rank
        return ranks


def correlation(given: ReleaseInput, files: HrefFiles, annotator: str) -> Iterator[PublishedFigure]:
    record = record_of(given, "leaderboards/correlations", annotator) or {"splits": []}
    wanted = (RESULTS, PRIVATE, DEVELOPMENT)
    found: Written = next(
        (each for each in record["splits"] if (each["arm"], each["one"], each["other"]) == wanted), {}
    )
    otherwise = {
        "value": None,
        "n": None,
        "undefined": ONE_SET if len(files.results_splits) < 2 else FEW_SYSTEMS,
    }
    yield PublishedFigure("Models", "", found.get("spearman", otherwise)["n"], decimals=0)
    for name, printed in (("Spearman", "0.98"), ("Pearson", "0.99")):
        estimate = found.get(name.lower(), otherwise)
        value = estimate["value"]
        yield PublishedFigure(name, printed, value, note="" if value is not None else estimate["undefined"])


def told_apart(
    given: ReleaseInput, files: HrefFiles, annotator: str, split: str
) -> Iterator[PublishedFigure]:
    record = record_of(given, "leaderboards/sample_sizes", annotator) or {"curves": []}
    # An arm of one set has a curve of its own, and another of the same split where the study has several.
    arm, splits = (RESULTS, (split,)) if len(files.results_splits) > 1 else (split, (split, None))
    curves = [each for each in record["curves"] if each["arm"] == arm and each["split"] in splits]
    curve = curves[0] if curves else None
    if (of_pool := Board(given, files, annotator, split).told_apart_of_pool) is not None:
        curve = plain(of_pool)
    last = curve["points"][-1] if curve else None
    why = "" if curve else FEW_RESULTS
    yield PublishedFigure("Models", "13", curve["systems"] if curve else None, decimals=0, note=why)
    yield PublishedFigure(
        "Instructions", INSTRUCTIONS[split], curve["queries"] if curve else None, decimals=0, note=why
    )
    if split == PRIVATE:
        enough = curve["enough_90"] if curve else None
        yield PublishedFigure(
            "Instructions that tell 90 % of the pairs apart",
            "fewer than 2000",
            enough,
            decimals=0,
            note=why or ("" if enough is not None else NOT_REACHED),
        )
    yield PublishedFigure(
        "Pairs told apart by all instructions, %",
        "90" if split == PRIVATE else "80",
        percent(last["told_apart"]) if last else None,
        note=why,
    )


def record_of(given: ReleaseInput, figure: str, annotator: str) -> Written | None:
    """The report's record of an annotator; None where the report leaves the figure out."""
    try:
        return given.record(figure, PREFERENCE, given.group(annotator[:MAX_LABEL]))
    except LookupError:
        return None


def letters_of(name: str) -> str:
    """Letters and digits of a model's name, which folders and configurations spell in several ways."""
    return re.sub("[^a-z0-9]", "", name.lower())


def _leaderboard_row(file: Path) -> ReleaseRow:
    try:
        found = orjson.loads(file.read_bytes())
    except orjson.JSONDecodeError as error:
        raise Refused(f"{file.name} is not JSON in UTF-8: {error.msg} (line {error.lineno}).") from None
    return found if isinstance(found, dict) else {}


def _as_script(said: Sequence[float | None]) -> float:
    """Wins and half the ties (0 alone) of all replies, those that could not be read among them."""
    return float((said.count(2) + said.count(0) / 2) / len(said))


def _bootstrap(said: Sequence[float | None], rng: np.random.Generator) -> tuple[float, float]:
    """Limits of 95 % of the resampled rates; of labels, resampled replies are multinomial counts."""
    n, wins, ties = len(said), said.count(2), said.count(0)
    drawn = rng.multinomial(n, [wins / n, ties / n, (n - wins - ties) / n], size=RANK_REPLICATES)
    low, high = np.percentile((drawn[:, 0] + drawn[:, 1] / 2) / n, [2.5, 97.5])
    return float(low), float(high)


def categories_of(given: Iterable[str]) -> list[str]:
    """In the scripts' order, then others by name."""
    found = set(given)
    return [*(name for name in CATEGORIES if name in found), *sorted(found - set(CATEGORIES))]


def percent(share: float | None) -> float | None:
    return None if share is None else 100 * share
