"""HREF: agreement of people and judges by category, and models' expected win rates and ranks.

Source: its sections 2.1.2 to 3.1 and 4.2 to 5.1, Tables 2, 5 and 7, Figures 6 and 7, and the scripts of allenai/href.
The text at hand has no body of these tables and no pictures. What the scripts write stands for the tables where it lies
beside the data: the table of agreement, `human_agreement_analysis_results.csv`, and a leaderboard's `MODEL.json`, whose
figures are printed in the paper.
"""

import csv
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from analytics.reproduce.published_tables import PublishedFigure, PublishedTable, table
from analytics.reproduce.release_input import ReleaseInput
from analytics.reproduce.reproduction import Reproduction
from analytics.statistics.core.resampling import ResampleSpec
from analytics.statistics.core.tidy import Bools
from analytics.statistics.leaderboards.correlation import FEW_SYSTEMS
from analytics.statistics.leaderboards.leaderboard import Standing, leaderboard
from analytics.statistics.leaderboards.scores import system_scores
from analytics.statistics.preferences.bias import length_bias
from analytics.statistics.preferences.win_rates import item_scores
from evaluation.dumps.published.href import (
    AGREEMENT,
    CATEGORIES,
    DEVELOPMENT,
    EVALUATION_ONLY,
    LABELS,
    MAX_LABEL,
    MAX_SYSTEM,
    PRIVATE,
    RESULTS,
    HrefFiles,
    JudgeFile,
    read_files,
    slug_of,
)
from evaluation.dumps.release import short_key
from evaluation.refusals import Refused

Record = dict[str, Any]
PREFERENCE = "preference"
ALL, AVERAGE = "all", "average"
AGREEMENT_TABLE, PEOPLE_ROW = "human_agreement_analysis_results.csv", "human"
# The seed of the scripts' draws of a mode; their bootstrap of ranks has none.
DRAW_SEED, RANK_REPLICATES = 42, 5000
FAILED = -1
# Of categories, and of the average over all.
DECIMALS, AVERAGE_DECIMALS = 1, 2
SET_NAMES = {DEVELOPMENT: "development set", PRIVATE: "evaluation set"}
TITLES = {DEVELOPMENT: "development set (Table 7)", PRIVATE: "evaluation set (Table 5)"}
INSTRUCTIONS = {DEVELOPMENT: "430", PRIVATE: "4258"}
# The scripts' configuration of Llama-3.1-70B-Instruct that is shown the human-written response.
WITH_REFERENCE = "llama3.1-70b_basic_w_reference"
FEWER_ROWS = "The paper and the data set's card say 1,752; the card counts 1,452 rows in its file."
DRAWN = (
    "As published: the mode of three labels, drawn at random where several are, once and with the scripts' seed; a "
    "reply that could not be read agrees with nobody. Ours: the exact expectation of that draw, and such replies left "
    "out."
)
LOST = "As published, a reply that could not be read is a loss; ours leaves it out."
RANKS = (
    "Published: systems in the order of their rates, each group of those whose 95 % bootstrap interval meets that of "
    "its first, resampled without a seed. Ours: 1 + the systems whose whole interval lies above."
)
LENGTHS = (
    "The frequency of preferring the longer response less that of the shorter, on the human agreement set. The text "
    "prints it of one judge. Ours: lengths in characters, ties among the judgments, replies that could not be read "
    "left out."
)
ONE_SET = "Needs results of both sets, in a folder of results each."
CORRELATED = "Expected win rates of the models that have results on both sets."
TOLD_APART = (
    "Published of 13 models, where the quantile of the p-values over pairs falls below 0.05, so at least that share of "
    "pairs is told apart; its samples are not described. Ours: paired t-tests of all models that have results here, of "
    "their mean scores by instruction (a tie is half a win), on samples drawn without replacement."
)
FEW_RESULTS = "Needs results of three models and ten instructions."
NOT_REACHED = "The 90th percentile is not below 0.05 with all instructions."


class HREFReproduction(Reproduction):
    key = "href"
    paper = "HREF: Human Response-Guided Evaluation of Instruction Following in Language Models"
    missing = (
        "The bodies of Tables 2, 5 and 7: the paper's text at hand has none; what its scripts wrote is shown as "
        "published where it lies beside the data.",
        "Time per annotation (section 2.1.2, 180 s): not released.",
        "Instructions of the evaluation set (Table 5): private; its results are read where somebody has them.",
        "Perplexity (Table 2): the script's comparison makes a tie of every pair whose first output has the lower "
        "perplexity, and the perplexities are not released.",
        "Results on the evaluation set (sections 4.3 and 4.4): private, too; read where somebody has them, and beside "
        "those on the development set where each set has a folder of results of its own.",
        "Correlation of leaderboards at two temperatures (section 4.2, Spearman 0.98 and Pearson 0.99): results at "
        "temperature 1.0 are not released.",
        "Length bias of other judges, and of any without the reference (Figure 7): in a picture only; ours is shown "
        "where their annotations are there.",
        "Agreement with another baseline or prompt (Figures 3 and 8, Table 6): their annotations are not released; in "
        "folders of their own they are read like others.",
    )

    def tables(self, given: ReleaseInput) -> Iterator[PublishedTable]:
        _ = given.study  # which refuses, in a sentence, files that are none of HREF's
        files = read_files(given.path)
        if files.agreement:
            yield table("Human agreement set (section 2.1)", _agreement_set(given, files))
            yield table(
                "Leave-one-out agreement (Table 2, Algorithm 1), in percent", _agreement(given, files), DRAWN
            )
        for annotator in dict.fromkeys(each.annotator for each in files.judged if each.model):
            for split in files.results_splits:
                board = _Board(given, files, annotator, split)
                if board.files:
                    named = f"{TITLES[split]}, by {annotator}"
                    yield table(f"Expected win rates on the {named}, in percent", board.rates(), LOST)
                    yield table(f"Ranks on the {named}", board.ranks(), RANKS)
            yield table(
                f"Correlation of both sets' leaderboards (section 4.3), by {annotator}",
                _correlation(given, files, annotator),
                CORRELATED,
            )
            for split in files.results_splits:
                yield table(
                    f"Pairs told apart on the {SET_NAMES[split]} (section 4.4, Figure 6), by {annotator}",
                    _told_apart(given, files, annotator, split),
                    TOLD_APART,
                )
        if files.agreement and any(not each.model for each in files.judged):
            yield table(
                "Length bias (section 5.1, Figure 7), in percent", _length_bias(given, files), LENGTHS
            )


# --- people and judges ------------------------------------------------------------------------------------------------


def _agreement_set(given: ReleaseInput, files: HrefFiles) -> Iterator[PublishedFigure]:
    rows = files.agreement
    yield PublishedFigure("Pairs", "1752", len(rows), note=FEWER_ROWS)
    yield PublishedFigure("Instructions", "438", len({row["instruction"] for row in rows}))
    judgments = sum(len(row["annotations"]) for row in rows)
    yield PublishedFigure("Annotations per pair", "4", judgments / len(rows))
    rates = given.record("preferences/tie_rates", PREFERENCE)["rates"]
    yield PublishedFigure("Ties, %", "4.9", 100 * rates[0]["rate"]["value"])


def _agreement(given: ReleaseInput, files: HrefFiles) -> Iterator[PublishedFigure]:
    published = _published_agreement(given.path)
    people = given.record("agreement/percentage", PREFERENCE)["leave_one_out"]
    ours = _by_category(people["inner"], people["inner_by_category"], "inner")
    drawn = draw_agreement(files.agreement, {}) if given.as_published else None
    yield from _method("People", files, ours, drawn.inner if drawn else None, published.get(PEOPLE_ROW, {}))
    of_people = [each for each in files.judged if not each.model]
    for annotator in dict.fromkeys(each.annotator for each in of_people):
        found = given.record("judges/labels_vs_people", PREFERENCE, given.group(annotator[:MAX_LABEL]))
        ours = _by_category(found["outer"], found["outer_by_category"], "outer")
        said = said_of_pairs(each for each in of_people if each.annotator == annotator)
        drawn = draw_agreement(files.agreement, said) if given.as_published else None
        yield from _method(
            annotator, files, ours, drawn.outer if drawn else None, published.get(annotator, {})
        )


def _length_bias(given: ReleaseInput, files: HrefFiles) -> Iterator[PublishedFigure]:
    [frame] = given.frame.pairs
    items = frame.items
    # The report's figure is over all items, among them the results of models that the same annotator judged.
    in_set: Bools = items.arm == items.arms.index(AGREEMENT)
    for annotator in dict.fromkeys(each.annotator for each in files.judged if not each.model):
        key = given.group(annotator[:MAX_LABEL])
        [judgments] = [each.judgments for each in frame.groups if each.key == key]
        found = length_bias(
            items, judgments.where(in_set[judgments.item]), resample=ResampleSpec(given.study.seed)
        )
        yield PublishedFigure(
            annotator,
            "1.4" if annotator == WITH_REFERENCE else "",
            _percent(found.bias.value),
            decimals=DECIMALS,
        )


def _by_category(whole: Record, parts: Iterable[Record], name: str) -> dict[str, float | None]:
    return {ALL: whole["value"]} | {each["category"]: each[name]["value"] for each in parts}


def _method(
    method: str,
    files: HrefFiles,
    ours: Mapping[str, float | None],
    drawn: Mapping[str, float] | None,
    published: Mapping[str, str],
) -> Iterator[PublishedFigure]:
    """One method's row of Table 2; with a single category there is nothing but the average."""
    for part in (ALL, *_categories(row["category"] for row in files.agreement)):
        printed = published.get(AVERAGE if part == ALL else part, "")
        yield PublishedFigure(
            f"{method}: {part}",
            f"{100 * float(printed):.{DECIMALS}f}" if printed else "",
            _percent(ours.get(part, ours[ALL])),
            _percent((drawn or {}).get(part)),
            decimals=DECIMALS,
        )


def _published_agreement(path: Path) -> dict[str, Record]:
    """{method: row} of the table that a script writes beside its annotations; nothing where there is none."""
    found = sorted(path.rglob(AGREEMENT_TABLE)) if path.is_dir() else []
    rows: dict[str, Record] = {}
    for file in found:
        with file.open(encoding="utf-8", newline="") as lines:
            rows |= {row["annotator"]: row for row in csv.DictReader(lines) if row.get("annotator")}
    return rows


def _categories(given: Iterable[str]) -> list[str]:
    """In the scripts' order, then others by name."""
    found = set(given)
    return [*(name for name in CATEGORIES if name in found), *sorted(found - set(CATEGORIES))]


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


@dataclass(frozen=True)
class DrawnAgreement:
    """Leave-one-out agreement by category and over `ALL`: among people, and of a method with them."""

    inner: Mapping[str, float]
    outer: Mapping[str, float]


def said_of_pairs(files: Iterable[JudgeFile]) -> dict[tuple[str, str, str], int]:
    """A method's labels as people's: 1 where output a is better, which is an annotation's second. Of repeated ones the
    last counts, as in the scripts."""
    found = {}
    for entry in (entry for file in files for entry in file.entries):
        place = FAILED if entry["preference"] is None else {None: 0, 1: 1, 0: 2}[LABELS[entry["preference"]]]
        found[entry["instruction"], entry["generator_2"], entry["generator_1"]] = place
    return found


def draw_agreement(rows: Sequence[Record], said: Mapping[tuple[str, str, str], int]) -> DrawnAgreement:
    """Algorithm 1 with its random draws: one generator for all, category after category in the scripts' order; of a row
    first the draws for people, then those for the method. `said` holds the method's labels by instruction and both
    systems; a pair without one agrees with nobody."""
    draw = random.Random(DRAW_SEED)  # noqa: S311  # the generator whose draws are published
    inner: dict[str, list[float]] = {ALL: []}
    outer: dict[str, list[float]] = {ALL: []}
    for category in _categories(row["category"] for row in rows):
        for row in (each for each in rows if each["category"] == category):
            labels = row["annotations"]
            own = said.get((row["instruction"], row["generator_a"], row["generator_b"]), FAILED)
            for found, guesses in ((inner, labels), (outer, [own] * len(labels))):
                hits = [_drawn_mode(labels, at, draw) == guess for at, guess in enumerate(guesses)]
                for part in (ALL, category):
                    found.setdefault(part, []).append(sum(hits) / len(hits))
    return DrawnAgreement(
        *({part: sum(each) / len(each) for part, each in found.items()} for found in (inner, outer))
    )


def _drawn_mode(labels: Sequence[int], held_out: int, draw: random.Random) -> int | None:
    """The most common of the others, one of them at random; None where nobody else judged."""
    counts = Counter([*labels[:held_out], *labels[held_out + 1 :]])
    most = max(counts.values(), default=0)
    modes = [label for label, times in counts.items() if times == most]
    return draw.choice(modes) if modes else None


# --- leaderboards -----------------------------------------------------------------------------------------------------


class _Board:
    """The results of all models on one set by one annotator."""

    def __init__(self, given: ReleaseInput, files: HrefFiles, annotator: str, split: str) -> None:
        self.given = given
        self.files = [each for each in files.judged if (each.split, each.annotator) == (split, annotator)]
        self.split = split
        self.both = len(files.results_splits) > 1
        self.annotator = annotator
        self.categories = _categories(each.category for each in self.files)

    @cached_property
    def models(self) -> dict[str, str]:
        """{folder of a model: its system}"""
        return {
            each.model: short_key(entry["generator_2"], MAX_SYSTEM)
            for each in self.files
            for entry in each.entries[:1]
        }

    @cached_property
    def standings(self) -> dict[str, dict[str, Standing]]:
        """{part: {system: standing}} of all categories together and of each."""
        [frame] = self.given.frame.pairs
        items = frame.items
        label = self.annotator[:MAX_LABEL]
        [group] = [each for each in frame.groups if each.key == self.given.group(label)]
        scores = system_scores(items, item_scores(group.judgments, len(items)), self.given.study.baseline)
        in_split = np.array([each == self.split for each in items.splits], dtype=bool)[items.query]
        parts: dict[str, Bools] = {ALL: in_split} | {
            name: in_split & (items.category == items.categories.index(name)) for name in self.categories
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
    def published(self) -> dict[str, Record]:
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
                    _percent(standing.rate.value) if standing else None,
                    _percent(_as_script(self._said(model, part))) if self.given.as_published else None,
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


def _correlation(given: ReleaseInput, files: HrefFiles, annotator: str) -> Iterator[PublishedFigure]:
    record = _of_annotator(given, "leaderboards/correlations", annotator) or {"splits": []}
    wanted = (RESULTS, PRIVATE, DEVELOPMENT)
    found: Record = next(
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


def _told_apart(
    given: ReleaseInput, files: HrefFiles, annotator: str, split: str
) -> Iterator[PublishedFigure]:
    record = _of_annotator(given, "leaderboards/sample_sizes", annotator) or {"curves": []}
    # An arm of one set has a curve of its own, and another of the same split where the study has several.
    arm, splits = (RESULTS, (split,)) if len(files.results_splits) > 1 else (split, (split, None))
    curves = [each for each in record["curves"] if each["arm"] == arm and each["split"] in splits]
    curve = curves[0] if curves else None
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
        _percent(last["told_apart"]) if last else None,
        note=why,
    )


def _of_annotator(given: ReleaseInput, figure: str, annotator: str) -> Record | None:
    """The report's record; None where the report leaves the figure out, as it does with fewer than three models."""
    try:
        return given.record(figure, PREFERENCE, given.group(annotator[:MAX_LABEL]))
    except LookupError:
        return None


def _leaderboard_row(file: Path) -> Record:
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


REPRODUCTION = HREFReproduction()
