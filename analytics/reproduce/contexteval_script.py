"""ContextEval's judgments as the scripts of its release count them: in the order of the file, and forgivingly.

Source: `compute_human_agreement.py` and `compute_autorater_agreement.py` of allenai/ContextEval. The first of several
labels that are as common counts as the most common one, so that the order of an item's lines matters.
"""

import ast
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from analytics.reproduce.release_input import ReleaseRow
from evaluation.dumps.published.contexteval import ARMS

# A pair of systems in whichever order, and a setting.
Cell = tuple[frozenset[str], str]
TIE = "tie"
# In this order the script asks for their judgments.
JUDGE_ORDER = (
    "claude-3.5-sonnet", "meta-llama_Meta-Llama-3.1-405B-Instruct-Turbo", "gpt-4", "gemini-1.5-pro",
    "google_gemma-2-27b-it", "jamba-1.5-large", "Qwen_Qwen2-72B-Instruct",
)  # fmt: skip


@dataclass(frozen=True)
class ScriptCell:
    """A pair in a setting, in shares: agreement over all items, over those whose most common label is no tie, and over
    those whose responses differ in satisfied follow-ups; None where nothing is left to count.

    `majorities` has the share of each label among those of more than half of an item's raters. Of `undecided` items a
    tie is as common as another label; `ties_first` of them have the tie first, and so are left out without ties.
    """

    with_ties: float
    without_ties: float | None
    differing: float | None
    majorities: Mapping[str, float]
    undecided: int
    ties_first: int


def people_as_script(rows: Iterable[ReleaseRow]) -> dict[Cell, ScriptCell]:
    """By the lines of an item in their order."""
    of_cells: dict[Cell, dict[str, list[ReleaseRow]]] = {}
    for row in rows:
        example = row["example_id"].rsplit("_rep", 1)[0].strip()
        cell = (frozenset((row["model_1"], row["model_2"])), ARMS[row["setting"]])
        of_cells.setdefault(cell, {}).setdefault(example, []).append(row)
    return {
        cell: _script_cell(
            [[_preferred(row) for row in judged] for judged in items.values()],
            [_differs(judged) for judged in items.values()],
        )
        for cell, items in of_cells.items()
    }


def judges_as_script(rows: Iterable[ReleaseRow]) -> dict[Cell, ScriptCell]:
    """The nth line of each autorater is of one item; a reply that cannot be read is a tie."""
    of_cells: dict[Cell, dict[str, list[str]]] = {}
    for row in rows:
        cell = (frozenset((row["candidate_one_model"], row["candidate_two_model"])), ARMS[row["setting"]])
        of_cells.setdefault(cell, {}).setdefault(row["eval_model"], []).append(_forgiving(row))
    return {cell: _script_cell(_by_item(of_judges), ()) for cell, of_judges in of_cells.items()}


def _by_item(of_judges: Mapping[str, Sequence[str]]) -> list[tuple[str, ...]]:
    known = [name for name in JUDGE_ORDER if name in of_judges]
    order = [*known, *(name for name in of_judges if name not in known)]
    return list(zip(*(of_judges[name] for name in order), strict=False))


def _script_cell(items: Sequence[Sequence[str]], differing: Sequence[bool]) -> ScriptCell:
    counted = [Counter(labels).most_common(1)[0] for labels in items]
    shares = [times / len(labels) for labels, (_, times) in zip(items, counted, strict=True)]
    majorities = [label for share, (label, _) in zip(shares, counted, strict=True) if share > 1 / 2]
    undecided = [
        label for labels, (label, times) in zip(items, counted, strict=True) if _shared_by_tie(labels, times)
    ]
    return ScriptCell(
        with_ties=fmean(shares),
        without_ties=_mean(share for share, (label, _) in zip(shares, counted, strict=True) if label != TIE),
        differing=_mean(share for share, differs in zip(shares, differing, strict=False) if differs),
        majorities={label: times / len(majorities) for label, times in Counter(majorities).items()},
        undecided=len(undecided),
        ties_first=undecided.count(TIE),
    )


def _shared_by_tie(labels: Sequence[str], times: int) -> bool:
    """True where a tie and another label are the most common ones."""
    return labels.count(TIE) == times and list(Counter(labels).values()).count(times) > 1


def _mean(shares: Iterable[float]) -> float | None:
    found = list(shares)
    return fmean(found) if found else None


def _preferred(row: ReleaseRow) -> str:
    side = {"Response 1": "model_1", "Response 2": "model_2"}.get(row["overall_preference"])
    return row[side] if side else TIE


def _differs(judged: Iterable[ReleaseRow]) -> bool:
    """True where the mean of the raters' differences is one follow-up or more, either way.

    A difference is that of the responses as each rater saw them, first less second, although their order varies; a
    rater with an open answer is left out.
    """
    found = []
    for row in judged:
        sides = [[qa.get(f"satisfied_{side}") for qa in row["follow_up_qas"]] for side in (1, 2)]
        if None not in (*sides[0], *sides[1]):
            found.append(sum(sides[0]) - sum(sides[1]))
    return bool(found) and abs(fmean(found)) >= 1


def _forgiving(row: ReleaseRow) -> str:
    """A reply by the script's parser: without a dictionary, the first of "Response 1" and "Response 2" that occurs
    anywhere; what is left over is a tie."""
    text = row["eval_judgement"]
    plain = text.replace("*", "").strip()
    start = plain.find("output: ") + len("output: ")
    try:
        verdict = ast.literal_eval(plain[start : plain.find("}") + 1])
        said = str(verdict["judgement"])
    except (SyntaxError, ValueError, TypeError, KeyError):
        said = text
    sides = ("one", "two") if row["rand_choice"] == 1 else ("two", "one")
    shown = (f"candidate_{side}_model" for side in sides)
    return next((row[model] for at, model in enumerate(shown, 1) if f"Response {at}" in said), TIE)
