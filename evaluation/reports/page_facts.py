"""What the top of every report says: who judged, what was left out, and whom not to take for people."""

from evaluation.reports.subject import SIMULATED, Record, tag_of
from evaluation.reports.view import Fact

PLURALS = {
    "person": ("person", "people"),
    "judge": ("judge", "judges"),
    "judges": ("judge", "judges"),
    SIMULATED: ("simulated rater", "simulated raters"),
}
# Reasons that are no adjective, as they stand after a number.
LEFT_OUT = {"run not in figures": "of runs not in figures", "withdrawn item": "of withdrawn items"}


def raters_of(group: Record) -> str:
    one, many = PLURALS[group["kind"]]
    return f"{group['raters']:,} {one if group['raters'] == 1 else many}"


def judgments(group: Record) -> Fact:
    """A group's own: groups stand beside each other and are never added up."""
    n = group["items"]
    detail = f"{n:,} item{'s' if n != 1 else ''}, {raters_of(group)}"
    return Fact("Judgments", f"{group['judgments']:,}", detail, tag=tag_of(group))


def left_out(report: Record) -> Fact:
    counts = report["counts"]
    parts = []
    if counts["excluded_raters"]:
        n = counts["excluded_raters"]
        parts.append(f"{n:,} rater{'s' if n != 1 else ''} excluded")
    parts += [
        f"{part['n']:,} {LEFT_OUT.get(part['reason'], part['reason'].replace('_', ' '))}"
        for part in counts["left_out"]
        if part["reason"] != "excluded" or not counts["excluded_raters"]
    ]
    total = sum(part["n"] for part in counts["left_out"])
    return Fact("Left out", f"{total:,}", ", ".join(parts) or "every judgment counts")


def notice(groups: list[Record], leading: Record) -> str:
    """Simulated raters must not be taken for people."""
    kinds = {group["kind"] for group in groups}
    if SIMULATED not in kinds:
        return ""
    if leading["kind"] == SIMULATED:
        return (
            "Simulated: a program drew these judgments to try the study out. Nobody has judged anything yet."
        )
    return "Some judgments are by simulated raters. They are marked as such and never pooled with those of people."
