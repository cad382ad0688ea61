"""HREF: agreement of people and judges by category, and models' expected win rates and ranks.

Source: its sections 2.1.2 to 3.1 and 4.2 to 5.1, Tables 2, 5 and 7, Figures 6 and 7, and the scripts of allenai/href.
The text at hand has no body of these tables and no pictures. What the scripts write stands for the tables where it lies
beside the data: the table of agreement, `human_agreement_analysis_results.csv`, and a leaderboard's `MODEL.json`, whose
figures are printed in the paper.
"""

import csv
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from analytics.figures.document import Written
from analytics.reproduce.href_results import (
    ALL,
    AVERAGE,
    DECIMALS,
    PREFERENCE,
    Board,
    categories_of,
    correlation,
    letters_of,
    percent,
    record_of,
    told_apart,
)
from analytics.reproduce.published_tables import PublishedFigure, PublishedTable, table
from analytics.reproduce.release_input import ReleaseInput, ReleaseRow
from analytics.reproduce.reproduction import Reproduction
from analytics.statistics.core.resampling import ResampleSpec
from analytics.statistics.core.tidy import Bools
from analytics.statistics.preferences.bias import length_bias
from evaluation.dumps.published.href import (
    AGREEMENT,
    DEVELOPMENT,
    LABELS,
    MAX_LABEL,
    PRIVATE,
    HrefFiles,
    JudgeFile,
    read_files,
)

AGREEMENT_TABLE, PEOPLE_ROW = "human_agreement_analysis_results.csv", "human"
# The seed of the scripts' draws of a mode.
DRAW_SEED = 42
FAILED = -1
SET_NAMES = {DEVELOPMENT: "development set", PRIVATE: "evaluation set"}
TITLES = {DEVELOPMENT: "development set (Table 7)", PRIVATE: "evaluation set (Table 5)"}
# The scripts' configurations of judges with the basic prompt, by whether they are shown the human-written response.
REFERENCE_NAME = re.compile("(?P<model>.+)_basic_(?P<shown>w|no)_reference")
# Llama-3.1-70B-Instruct's, and the methods that are best in each category together.
WITH_REFERENCE, COMPOSITE = "llama3.1-70b_basic_w_reference", "href"
# The paper's judges by the letters and digits of their models' names.
LLAMA, GPT_4, GPT_4_TURBO = "llama3170b", "gpt4", "gpt4turbo"
# In which the paper averages what the reference adds.
HELPED = (
    "Closed QA", "Extract", "Generation", "Rewrite", "Classify", "Multi-Document Synthesis",
    "Reasoning Over Numerical Data",
)  # fmt: skip
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
NO_JUDGE = "One of the judges has no annotations here."
CORRELATED = "Expected win rates of the models that have results on both sets."
TOLD_APART = (
    "Published of 13 models, where the quantile of the p-values over pairs falls below 0.05, so at least that share of "
    "pairs is told apart; its samples are not described. Ours: paired t-tests of the 13, or of all models that have "
    "results here where these are not all of the 13, of their mean scores by instruction (a tie is half a win), on "
    "samples drawn without replacement."
)
DIFFERENCES = (
    "Differences of the rates of Table 2; ours leave a reply that could not be read out of its judge's rate alone. By "
    "the reference is meant the human-written response. The mean of seven categories gives each the same weight; "
    "the paper does not say how it averages. Judges are found by their configurations' names: "
    "MODEL_basic_w_reference, MODEL_basic_no_reference, and href for the composite."
)


class HREFReproduction(Reproduction):
    key = "href"
    paper = "HREF: Human Response-Guided Evaluation of Instruction Following in Language Models"
    figures = (
        "agreement/percentage",
        "judges/labels_vs_people",
        "leaderboards/correlations",
        "leaderboards/sample_sizes",
        "preferences/tie_rates",
    )
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
        # An annotator without any annotation that could be read in is no group of raters.
        known = {each["label"] for each in given.report["groups"]}
        files = replace(files, judged=[each for each in files.judged if each.annotator[:MAX_LABEL] in known])
        if files.agreement:
            yield table("Human agreement set (section 2.1)", _agreement_set(given, files))
            rates = _agreement_rates(given, files)
            yield table(
                "Leave-one-out agreement (Table 2, Algorithm 1), in percent",
                _agreement(given, files, rates),
                DRAWN,
            )
            if len(rates) > 1:
                yield table(
                    "Differences in agreement (section 3.1), in points", _differences(rates), DIFFERENCES
                )
        for annotator in dict.fromkeys(each.annotator for each in files.judged if each.model):
            for split in files.results_splits:
                board = Board(given, files, annotator, split)
                if board.files:
                    named = f"{TITLES[split]}, by {annotator}"
                    yield table(f"Expected win rates on the {named}, in percent", board.rates(), LOST)
                    yield table(f"Ranks on the {named}", board.ranks(), RANKS)
            yield table(
                f"Correlation of both sets' leaderboards (section 4.3), by {annotator}",
                correlation(given, files, annotator),
                CORRELATED,
            )
            for split in files.results_splits:
                yield table(
                    f"Pairs told apart on the {SET_NAMES[split]} (section 4.4, Figure 6), by {annotator}",
                    told_apart(given, files, annotator, split),
                    TOLD_APART,
                )
        if files.agreement and any(not each.model for each in files.judged):
            yield table(
                "Length bias (section 5.1, Figure 7), in percent", _length_bias(given, files), LENGTHS
            )


def _agreement_set(given: ReleaseInput, files: HrefFiles) -> Iterator[PublishedFigure]:
    rows = files.agreement
    yield PublishedFigure("Pairs", "1752", len(rows), note=FEWER_ROWS)
    yield PublishedFigure("Instructions", "438", len({row["instruction"] for row in rows}))
    judgments = sum(len(row["annotations"]) for row in rows)
    yield PublishedFigure("Annotations per pair", "4", judgments / len(rows))
    rates = given.record("preferences/tie_rates", PREFERENCE)["rates"]
    yield PublishedFigure("Ties, %", "4.9", 100 * rates[0]["rate"]["value"])


@dataclass(frozen=True)
class _Rates:
    """Leave-one-out agreement by category and over `ALL`, of people or of a judge; `drawn` as published if asked."""

    ours: Mapping[str, float | None]
    drawn: Mapping[str, float]


def _agreement_rates(given: ReleaseInput, files: HrefFiles) -> dict[str, _Rates]:
    """{annotator, or PEOPLE_ROW: rates}, people first."""
    people = given.record("agreement/percentage", PREFERENCE)["leave_one_out"]
    drawn = draw_agreement(files.agreement, {}).inner if given.as_published else {}
    rates = {PEOPLE_ROW: _Rates(_by_category(people["inner"], people["inner_by_category"], "inner"), drawn)}
    of_people = [each for each in files.judged if not each.model]
    for annotator in dict.fromkeys(each.annotator for each in of_people):
        found = record_of(given, "judges/labels_vs_people", annotator)
        if found is None or not found["outer"]["n"]:
            continue
        said = said_of_pairs(each for each in of_people if each.annotator == annotator)
        drawn = draw_agreement(files.agreement, said).outer if given.as_published else {}
        ours = _by_category(found["outer"], found["outer_by_category"], "outer")
        rates[annotator] = _Rates(ours, drawn)
    return rates


def _agreement(
    given: ReleaseInput, files: HrefFiles, rates: Mapping[str, _Rates]
) -> Iterator[PublishedFigure]:
    """Table 2, a row after the other; with a single category there is nothing but the average."""
    published = _published_agreement(given.path)
    for method, found in rates.items():
        for part in (ALL, *categories_of(row["category"] for row in files.agreement)):
            printed = published.get(method, {}).get(AVERAGE if part == ALL else part, "")
            yield PublishedFigure(
                f"{'People' if method == PEOPLE_ROW else method}: {part}",
                f"{100 * float(printed):.{DECIMALS}f}" if printed else "",
                percent(found.ours.get(part, found.ours[ALL])),
                percent(found.drawn.get(part)),
                decimals=DECIMALS,
            )


def _differences(rates: Mapping[str, _Rates]) -> Iterator[PublishedFigure]:
    """The differences between rows of Table 2 that the text of section 3.1 prints."""
    judges: dict[tuple[str, bool], _Rates] = {}
    for name, found in rates.items():
        if match := REFERENCE_NAME.fullmatch(name):
            judges[letters_of(match["model"]), match["shown"] == "w"] = found
    llama, people, composite = "Llama-3.1-70B-Instruct", rates[PEOPLE_ROW], rates.get(COMPOSITE)
    without, shown = judges.get((LLAMA, False)), judges.get((LLAMA, True))
    for name, printed, one, other in (
        (f"{llama} less GPT-4, without the reference", "6", without, judges.get((GPT_4, False))),
        (
            f"{llama} less GPT-4-Turbo, without the reference",
            "1.5",
            without,
            judges.get((GPT_4_TURBO, False)),
        ),
        (f"{llama} less GPT-4, with the reference", "4.2", shown, judges.get((GPT_4, True))),
        (f"{llama} less GPT-4-Turbo, with the reference", "1.3", shown, judges.get((GPT_4_TURBO, True))),
        (f"{llama} with the reference less people", "0.9", shown, people),
        (f"Composite less {llama} with the reference", "1.5", composite, shown),
        ("Composite less people", "2.4", composite, people),
    ):
        yield _gap(name, printed, one, other, (ALL,))
    parts = [part for part in HELPED if shown and part in shown.ours]
    yield _gap(
        f"{llama} with less without the reference, mean of seven categories", "4.8", shown, without, parts
    )


def _gap(
    name: str, printed: str, one: _Rates | None, other: _Rates | None, parts: Sequence[str]
) -> PublishedFigure:
    """The mean over parts of one's rate less the other's; nothing where one of them has none of a part."""
    if one is None or other is None:
        return PublishedFigure(name, printed, None, decimals=DECIMALS, note=NO_JUDGE)
    ours, drawn = (
        percent(_mean_gap([(mine.get(part), yours.get(part)) for part in parts]))
        for mine, yours in ((one.ours, other.ours), (one.drawn, other.drawn))
    )
    return PublishedFigure(name, printed, ours, drawn, decimals=DECIMALS)


def _mean_gap(pairs: Sequence[tuple[float | None, float | None]]) -> float | None:
    gaps = [one - other for one, other in pairs if one is not None and other is not None]
    return sum(gaps) / len(gaps) if gaps and len(gaps) == len(pairs) else None


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
        if not found.bias.n:
            continue
        yield PublishedFigure(
            annotator,
            "1.4" if annotator == WITH_REFERENCE else "",
            percent(found.bias.value),
            decimals=DECIMALS,
        )


def _by_category(whole: Written, parts: Iterable[Written], name: str) -> dict[str, float | None]:
    return {ALL: whole["value"]} | {each["category"]: each[name]["value"] for each in parts}


def _published_agreement(path: Path) -> dict[str, ReleaseRow]:
    """{method: row} of the table that a script writes beside its annotations; nothing where there is none."""
    found = sorted(path.rglob(AGREEMENT_TABLE)) if path.is_dir() else []
    rows: dict[str, ReleaseRow] = {}
    for file in found:
        with file.open(encoding="utf-8", newline="") as lines:
            rows |= {row["annotator"]: row for row in csv.DictReader(lines) if row.get("annotator")}
    return rows


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


def draw_agreement(rows: Sequence[ReleaseRow], said: Mapping[tuple[str, str, str], int]) -> DrawnAgreement:
    """Algorithm 1 with its random draws: one generator for all, category after category in the scripts' order; of a row
    first the draws for people, then those for the method. `said` holds the method's labels by instruction and both
    systems; a pair without one agrees with nobody."""
    draw = random.Random(DRAW_SEED)  # noqa: S311  # the generator whose draws are published
    inner: dict[str, list[float]] = {ALL: []}
    outer: dict[str, list[float]] = {ALL: []}
    for category in categories_of(row["category"] for row in rows):
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


REPRODUCTION = HREFReproduction()
