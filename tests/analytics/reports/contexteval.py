"""The rebuilt ContextEval judgments as an Assay dump."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tests.fixtures.contexteval import ARMS, CC, N_QUERIES, NC, PAIRS, Row, rows

LABELS = {"a": "r1", "b": "r2", "tie": "tie"}
CATEGORIES = ("advice", "explanation", "factual", "recommendation")
FOLLOW_UPS = 3
# The one cell whose raters also answered the checklist, so that figures in the manner of Table 5 show.
CHECKED = (NC, PAIRS[0])
# Shares of what five language models judged in the same cells (Table 6, autoraters): system a, system b, tie.
AUTORATERS = {
    ("NoCtxGen-NoCtxEval", PAIRS[0]): (0.39, 0.53, 0.08),
    (NC, PAIRS[0]): (0.54, 0.45, 0.01),
    (CC, PAIRS[0]): (0.68, 0.31, 0.01),
    ("NoCtxGen-NoCtxEval", PAIRS[1]): (0.47, 0.47, 0.06),
    (NC, PAIRS[1]): (0.45, 0.54, 0.01),
    (CC, PAIRS[1]): (0.75, 0.24, 0.01),
    ("NoCtxGen-NoCtxEval", PAIRS[2]): (0.55, 0.39, 0.06),
    (NC, PAIRS[2]): (0.47, 0.52, 0.01),
    (CC, PAIRS[2]): (0.64, 0.35, 0.01),
}


def write_dump(
    path: Path, *, judges: int = 0, simulated: int = 0, queries: int = N_QUERIES, reasons: bool = False
) -> Path:
    """900 items with 2,700 judgments of three people; on request seeded judges and simulated raters as well, fewer
    queries, each in all nine cells, or people's reasons, which name the query."""
    with path.open("w") as handle:
        for line in _lines(judges, simulated, queries, reasons):
            handle.write(json.dumps(line) + "\n")
    return path


def _lines(judges: int, simulated: int, queries: int, reasons: bool) -> Iterator[dict[str, Any]]:
    yield {
        "assay": 1,
        "spec": {"protocol": "pairwise", "title": "Contextualized evaluations, rebuilt", "arms": _arms()},
        "rules": {"redundancy": 3},
        "raters": [{"rater": f"judge-{n}", "about": _about(n)} for n in range(1, judges + 1)],
    }
    rng = np.random.default_rng(3)
    for row in rows():
        if row.index >= queries:
            continue
        yield _item(row, [*_people(row, reasons), *_machines(row, rng, judges, simulated)])


def _about(number: int) -> dict[str, Any]:
    """The first judge is asked both ways and sees the reference, the second gives probabilities."""
    ways = {1: ("both", "both_ways"), 2: ("random", "mean")}.get(number, ("random", "majority"))
    return {
        "judge": f"judge-{number}",
        "version": 1,
        "model": f"model-{number}",
        "reference": number == 1,
        "orders": ways[0],
        "samples": 1,
        "reduction": ways[1],
        "questions": ["preference"],
        "purpose": "main",
    }


def _arms() -> list[dict[str, Any]]:
    labels = ("No context", "Context at judging", "Context throughout")
    return [
        {
            "key": arm,
            "label": label,
            "context_at_generation": arm == CC,
            "context_at_judging": arm in (NC, CC),
        }
        for arm, label in zip(ARMS, labels, strict=True)
    ]


def _item(row: Row, judgments: list[dict[str, Any]]) -> dict[str, Any]:
    context = "c" if row.arm == CC else None
    suffix = "@c" if context else ""
    return {
        "key": f"{row.arm}/{row.system_a}/{row.index}",
        "arm": row.arm,
        "query": {
            "key": f"q{row.index}",
            "text": f"Question {row.index}?",
            "category": CATEGORIES[row.index % len(CATEGORIES)],
        },
        "context": {
            "key": "c",
            "follow_ups": [
                {"question": f"Follow-up {n}?", "answers": ["Yes", "No"], "answer": "Yes"}
                for n in range(1, FOLLOW_UPS + 1)
            ],
        },
        "responses": [
            {
                "system": system,
                "key": f"{system}{suffix}",
                # The second system writes at greater length on two queries out of three.
                "text": f"{system} on question {row.index}. "
                + "More. " * (side * 4 if row.index % 3 else 4 - side * 4),
                "context": context,
            }
            for side, system in enumerate((row.system_a, row.system_b))
        ],
        "judgments": judgments,
    }


def _people(row: Row, reasons: bool) -> list[dict[str, Any]]:
    checked = (row.arm, (row.system_a, row.system_b)) == CHECKED
    found = []
    for number, label in enumerate(row.labels):
        answers: dict[str, Any] = {"preference": LABELS[label]}
        judgment: dict[str, Any] = {"rater": f"person-{number + 1}", "kind": "person", "answers": answers}
        if reasons:
            answers["justification"] = f"Reason {number + 1} about question {row.index}."
        if checked:
            answers["satisfied"] = _satisfied(label)
            judgment["shown"] = ["r1", "r2"] if (row.index + number) % 2 else ["r2", "r1"]
        found.append(judgment)
    return found


def _satisfied(label: str) -> dict[str, int]:
    """A rater finds one follow-up more satisfied in the response that they prefer."""
    met = {"a": (3, 2), "b": (1, 2), "tie": (2, 2)}[label]
    return {
        f"f{follow_up}.r{side + 1}": int(follow_up <= met[side])
        for follow_up in range(1, FOLLOW_UPS + 1)
        for side in range(2)
    }


def _machines(row: Row, rng: np.random.Generator, judges: int, simulated: int) -> list[dict[str, Any]]:
    shares = np.array(AUTORATERS[(row.arm, (row.system_a, row.system_b))])
    usual = rng.choice(3, p=shares / shares.sum())
    labels = ("r1", "r2", "tie")
    found = []
    for kind, n in (("judge", judges), ("simulated", simulated)):
        for number in range(1, n + 1):
            at = usual if rng.random() < (0.8 if kind == "judge" else 0.4) else rng.integers(3)
            judgment: dict[str, Any] = {
                "rater": f"{kind}-{number}",
                "label": f"{kind} {number}",
                "kind": kind,
            }
            if kind == "judge" and rng.random() < 0.01:
                found.append({**judgment, "outcome": "unparsed"})
            elif kind == "judge" and number == 1:
                found += _both_ways(judgment, labels, int(at), rng)
            elif kind == "judge" and number == 2:
                found.append({**judgment, "answers": {"preference": _probability(labels[at], rng)}})
            else:
                found.append({**judgment, "answers": {"preference": labels[at]}})
    return found


def _probability(label: str, rng: np.random.Generator) -> dict[str, Any]:
    """That the second response is better; there are no ties."""
    number = {"r1": 0.2, "r2": 0.8, "tie": 0.5}[label] + rng.uniform(-0.2, 0.2)
    return {"label": "r1" if number < 0.5 else "r2", "number": round(number, 3)}


def _both_ways(
    judgment: dict[str, Any], labels: tuple[str, ...], at: int, rng: np.random.Generator
) -> list[dict[str, Any]]:
    """The two orders of one sample; in one case out of eight it takes whatever is shown first."""
    lazy = rng.random() < 0.125
    return [
        {
            **judgment,
            "replicate": replicate,
            "shown": shown,
            "answers": {"preference": shown[0] if lazy else labels[at]},
        }
        for replicate, shown in enumerate((["r1", "r2"], ["r2", "r1"]))
    ]
