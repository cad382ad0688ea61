"""Files of TREC: judgments of relevance (qrels), and runs of any retrieval system."""

from collections import defaultdict
from pathlib import Path

from evaluation.refusals import Refused


def read_qrels(path: Path) -> dict[str, dict[str, float]]:
    """{topic: {document: grade}} of lines "topic iteration document grade"; Refused names the first that is none."""
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for number, (topic, _, document, grade) in _rows(path, 4):
        found[topic][document] = _number(path, number, grade)
    return dict(found)


def read_run(path: Path) -> dict[str, list[str]]:
    """{topic: documents, the best first} of lines "topic Q0 document rank score tag"; Refused as for qrels.

    The score decides, and of equals the rank.
    """
    scored: dict[str, list[tuple[float, float, str]]] = defaultdict(list)
    for number, (topic, _, document, rank, score, _) in _rows(path, 6):
        place = (-_number(path, number, score), _number(path, number, rank), document)
        scored[topic].append(place)
    return {topic: [document for _, _, document in sorted(places)] for topic, places in scored.items()}


def _rows(path: Path, columns: int) -> list[tuple[int, list[str]]]:
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise Refused(f"{path.name} can't be read as UTF-8 text.") from None
    rows = [(number, line.split()) for number, line in enumerate(lines, 1) if line.strip()]
    for number, row in rows:
        if len(row) != columns:
            raise Refused(
                f"{path.name}, line {number}: {columns} columns are needed, and {len(row)} are there."
            )
    if not rows:
        raise Refused(f"{path.name} is empty.")
    return rows


def _number(path: Path, line: int, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if value - value != 0:  # neither nan nor infinite
        raise Refused(f"{path.name}, line {line}: {text!r} is no number.")
    return value
