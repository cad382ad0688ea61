"""Settings of judges, and the status of their replies."""

from collections.abc import Iterator

from analytics.display.blocks import Block
from analytics.display.tables import DASH, Builder, Column, Table, TableCell, columns, count, head, words
from analytics.figures import where
from analytics.figures.document import JudgeRecord, OutcomeRecord
from analytics.figures.figure import StudyFigure
from analytics.figures.report_view import ReportView

ORDERS = {"random": "random", "fixed": "fixed", "both": "both ways"}
REDUCTIONS = {"majority": "majority", "mean": "mean", "both_ways": "a flip is a tie"}
OUTCOMES = ("unparsed", "refused", "truncated", "failed", "excluded_self")
OUTCOME_LABELS = {"excluded_self": "Excluded (self)"}
NOT_KNOWN = "unknown"


class RepliesFigure(StudyFigure):
    heading = "judges"
    place = 90
    definition = "Outcomes of each judge's judgments, what they cost, and how it was asked."

    def intro(self, view: ReportView) -> str:
        if any(group.kind == "person" for group in view.groups):
            return "No judge results to compare with people yet."
        return "No person has judged these items, so there is nobody to compare the judges with."

    def blocks(self, view: ReportView) -> Iterator[Block]:
        if view.judges:
            yield Block("Judge response status", tables=(_outcomes(view),))
            if any("cost" in judge for judge in view.judges):
                yield Block("Cost of judging", tables=(_costs(view.judges),), folded=True)
            yield Block(
                "How they were asked", tables=(_asked(view.judges, by_rule=bool(view.pairs)),), folded=True
            )


FIGURE = RepliesFigure()


def _outcomes(view: ReportView) -> Table:
    labels = [OUTCOME_LABELS.get(outcome, outcome.capitalize()) for outcome in OUTCOMES]
    build = Builder(
        "Outcomes of a judge's judgments, in percent, with their number.",
        columns(["Judge", "Judgments", "Read", *labels]),
    )
    for judge in view.judges:
        found = {each["outcome"]: each for each in judge["outcomes"]}
        build.add(
            head(judge["label"]),
            count(judge["judgments"], "judgments"),
            *(_share_of(found[outcome]) for outcome in ("ok", *OUTCOMES)),
            of=where.recorded(judge["rater"]),
        )
    return build.build()


def _costs(judges: list[JudgeRecord]) -> Table:
    build = Builder(
        "What each judge's run has cost as it came out, in the installation's currency: calls that brought no judgment "
        "are paid, too, and answers from the cache cost nothing. Judgments are those that could be read, of every "
        "order and sample.",
        columns(["Judge", "Judgments", "Tokens", "Cost", "Cost per judgment"]),
    )
    for judge in judges:
        if found := judge.get("cost"):
            build.add(
                head(judge["label"]),
                count(found["judgments"]),
                count(found["tokens"]),
                TableCell(f"{found['cost']:,.4f}"),
                build.number(found["per_judgment"], "{:,.4g}".format, "No judgment could be read."),
            )
    return build.build()


def _share_of(found: OutcomeRecord) -> TableCell:
    if found["share"] is None:
        return TableCell(DASH)
    told = where.outcome(found["outcome"], "judgments", found["n"])
    return TableCell(f"{found['share'] * 100:.1f}", f"n = {found['n']:,}" if told else "", where=told)


def _reference(judge: JudgeRecord) -> str:
    if judge["reference_from"]:
        return f"responses of {judge['reference_from']}"
    if judge["reference"]:
        return "human-written"
    return "none" if judge["judge"] else NOT_KNOWN


def _asked(judges: list[JudgeRecord], *, by_rule: bool) -> Table:
    """`by_rule` says that several readings of a preference become one by the judge's own rule."""
    labels = [
        "Judge",
        "Model",
        "Reference",
        "Orders",
        "Samples",
        *(["Several readings"] if by_rule else []),
        "Questions",
    ]
    build = Builder("How each judge was asked.", [Column(label, numeric=False) for label in labels])
    for judge in judges:
        known = bool(judge["judge"])
        samples = judge["samples"]
        build.add(
            head(judge["label"]),
            words(judge["model"] or (DASH if known else NOT_KNOWN)),
            words(_reference(judge)),
            words(ORDERS.get(judge["orders"], judge["orders"]) or NOT_KNOWN),
            words(NOT_KNOWN if samples is None else f"{samples:,}"),
            *([words(REDUCTIONS[judge["reduction"]])] if by_rule else []),
            words(", ".join(judge["questions"]) or "all except text"),
        )
    return build.build()
