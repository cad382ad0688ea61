"""From a report to what is read: the one view model of page, file and Markdown."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from analytics.display.blocks import Block, Finding, Headline, ReportPage, Section, Summary
from analytics.display.plots import DotPlot
from analytics.display.tables import Builder, Pairs, TableCell, Where, columns, count, head
from analytics.figures import where
from analytics.figures.document import FindingRecord, LeftOutRecord, ReportRecord
from analytics.figures.failures import Failures
from analytics.figures.figure import Figure, StudyFigure
from analytics.figures.groups import GroupView
from analytics.figures.headings import Heading, ordered
from analytics.figures.registry import FIGURES
from analytics.figures.report_view import ReportView, joined
from analytics.reports.captions import with_contexts
from analytics.reports.deferred.records import waiting_in
from analytics.reports.keys import with_keys
from analytics.reports.paper.citation import citation
from analytics.reports.strip import group_facts, left_out, notice
from evaluation.filters import Filters, view_in_words
from evaluation.models import Outcome
from evaluation.protocols import PROTOCOLS
from evaluation.selectors import RATERS

# Headings of what a study is about, one of whose plots stands at the top.
OUTCOMES = frozenset(
    {
        "entries", "best-picks", "rankings", "win-rates", "leaderboard", "grades", "strengths", "values", "ratings",
        "tags", "checks", "choices", "shares",
    }
)  # fmt: skip

REASONS = {
    "excluded": "excluded individually or with their rater",
    "skipped": "skipped",
    "unparsed": "judges' replies that could not be read",
    "refused": "refused by a judge",
    "truncated": "judges' replies that were cut off",
    "failed": "judges' failed calls",
    "excluded_self": "excluded to avoid self-preference",
    "surplus": "late judgments on items that had enough",
    "withdrawn item": "on withdrawn items",
    "run not in figures": "from judges' runs that are not in the report: trial, anchor, unfinished or superseded runs",
}

# The filters of the list of items for a reason that is no outcome, and the reasons that are told first.
LISTED: dict[str, Pairs] = {
    "excluded": (("state", "excluded"),),
    "surplus": (("state", "surplus"),),
    "withdrawn item": (("state", "withdrawn"),),
}
BEFORE = {"excluded": frozenset[str](), "withdrawn item": REASONS.keys() - {"withdrawn item"}}


def report_page(report: ReportRecord) -> ReportPage:
    """The report in words, tables and plots."""
    view = ReportView(report)
    failures = Failures.of(report)
    by_heading = _by_heading(view)
    figures = [figure for found in by_heading.values() for figure in found]
    beside = [group for group in view.plotted_groups if group is not view.leading]
    single = [
        group
        for group in view.groups
        if group.kind == "judge" and group is not view.leading and group not in beside
    ]

    def summaries(groups: Iterable[GroupView]) -> tuple[Summary, ...]:
        return tuple(
            Summary(group.label, group_facts(view, group, figures, failures), group.key) for group in groups
        )

    # What fails in a strip is said in its section.
    facts = (*group_facts(view, view.leading, figures, failures), left_out(report))
    others, judges = summaries(beside), summaries(single)
    findings = [_shown(view, finding) for finding in report["findings"]]
    sections = with_contexts(with_keys((*_sections(view, by_heading, failures), _methods(report))), view)
    return ReportPage(
        title=report["study"]["title"],
        status=report["study"]["status"],
        facts=facts,
        findings=tuple(findings),
        sections=tuple(replace(each, finding=_found_in(each, findings)) for each in sections),
        notice=notice(view),
        view=viewed(report),
        citation=citation(report),
        leading=view.leading.label,
        others=others,
        judges=judges,
        headline=_headline(sections),
        heuristics=_heuristics(view) if any(each.key == "judges" for each in sections) else "",
    )


def _shown(view: ReportView, finding: FindingRecord) -> Finding:
    return Finding(
        finding["kind"],
        finding["supported"],
        finding["about"],
        finding["heading"],
        finding["text"],
        finding["anchor"],
        _behind(view, finding),
    )


def _behind(view: ReportView, finding: FindingRecord) -> Where | None:
    """The judgments behind a finding: of those who lead the report, of the systems that it is about."""
    pair: tuple[str, ...] = ()
    if "system_1" in finding and view.pairs:
        pair = view.pairs[0].listed_pair(finding["system_1"], finding["system_2"])
    return where.of(view.leading, pair=pair, system=finding.get("system"))


def _heuristics(view: ReportView) -> str:
    names = [group.label for group in view.everybody if group.heuristic and group not in view.groups]
    return f"Heuristics: {joined(names)}." if names else ""


def _found_in(section: Section, findings: Iterable[Finding]) -> str:
    """The headings of the findings that the section holds."""
    anchors = {section.key, *(block.anchor for block in section.blocks)}
    return "; ".join(each.title for each in findings if each.supported and each.anchor in anchors)


def _headline(sections: Iterable[Section]) -> Headline | None:
    """The first plot of what the study is about; a figure before it that failed or waits is named in its place."""
    for section in sections:
        if section.key not in OUTCOMES:
            continue
        for block in section.blocks:
            if block.failed or block.deferred:
                missing = "A figure failed." if block.failed else "Not computed yet."
                return Headline(section, missing=missing, anchor=block.anchor)
            if isinstance(block.plot, DotPlot) and not block.folded:
                return Headline(section, block)
    return None


def viewed(report: ReportRecord, names: Mapping[str, Mapping[str, str]] | None = None) -> str:
    """The part of the study that the report is of; `names` as in `view_in_words`."""
    parameters = report["parameters"]
    said = []
    if view := parameters.get("view"):
        whole = "Every figure is of these judgments alone."
        said.append(
            f"View: {view_in_words(view, names)}.{f' {whole}' if Filters.of(view).is_partial else ''}"
        )
    if "only" in parameters:
        said.append(f"This report holds only: {', '.join(parameters['only'])}.")
    return " ".join(said)


def _by_heading(view: ReportView) -> dict[Heading, list[Figure]]:
    """The figures that a report can have under each heading, in their order."""
    protocol = PROTOCOLS.get(view.report["study"]["protocol"])
    asked_for = view.report["parameters"].get("only", FIGURES)
    there = view.figures | {each["figure"] for each in view.report.get("failed", ())}
    here = [
        figure
        for figure in FIGURES.values()
        if figure.key in there or (isinstance(figure, StudyFigure) and figure.key in asked_for)
    ]
    here.sort(key=lambda figure: (figure.place, figure.key))
    return {
        heading: [figure for figure in here if figure.heading == heading.key]
        for heading in ordered(protocol.headings if protocol else ())
    }


def _sections(
    view: ReportView, by_heading: Mapping[Heading, Iterable[Figure]], failures: Failures
) -> Iterator[Section]:
    for heading, figures in by_heading.items():
        titles: list[str] = []
        intros: list[str] = []
        blocks: list[Block] = []
        for figure in figures:
            with failures.leaving_out(figure.key):
                if figure.key not in failures and (shown := tuple(figure.blocks(view))):
                    titles.append(figure.title(view))
                    intros.append(figure.intro(view))
                    blocks += shown
            if figure.key in failures:
                blocks.append(_failed(figure, failures))
        blocks += _waiting(view.report, heading.key)
        if blocks:
            title = next(filter(None, titles), heading.title)
            yield Section(heading.key, title, heading.short, tuple(blocks), next(filter(None, intros), ""))


def _failed(figure: Figure, failures: Failures) -> Block:
    said = (
        f"{figure.definition} This figure could not be computed, which is a fault of Assay and not of the study: "
        f"{figure.key}, {failures[figure.key]}. Whoever runs the server finds it in the log. The other figures stand "
        "without it."
    )
    anchor = f"failed-{figure.key.replace('/', '-')}"
    return Block("A figure that failed", (said,), anchor=anchor, failed=True)


def _waiting(report: ReportRecord, heading: str) -> tuple[Block, ...]:
    """The block of the figures that nobody has had computed yet."""
    names = [FIGURES[key].deferred_as for key in waiting_in(report, heading)]
    if not names:
        return ()
    said = f"Not computed yet (large study). Compute now: {joined(names)}."
    return (
        Block("Figures not computed yet", (said,), folded=True, anchor=f"{heading}-deferred", deferred=True),
    )


def _methods(report: ReportRecord) -> Section:
    counts = report["counts"]
    kinds = [
        kind
        for kind in RATERS
        if any(each["kind"] == kind for part in counts["left_out"] for each in part["by_kind"])
    ]
    build = Builder(
        "Judgments on main items that are not in the report.",
        columns(["Reason", *(f"Of {RATERS[kind]}" for kind in kinds)]),
    )
    for part in counts["left_out"]:
        found = {each["kind"]: each["n"] for each in part["by_kind"]}
        build.add(
            head(REASONS.get(part["reason"], part["reason"])),
            *(_left_out(counts["left_out"], part["reason"], kind, found.get(kind, 0)) for kind in kinds),
            of=Where(()),
        )
    text = () if counts["left_out"] else ("None: every judgment on a main item counts.",)
    blocks = (
        Block("Methods in a paragraph", (report["methods_paragraph"],)),
        Block("Excluded judgments", text, tables=(build.build(),) if counts["left_out"] else ()),
        Block("How the figures are computed", (*report["methods"], _revisions(report))),
    )
    return Section("methods", "Exclusions and methods", "Methods", blocks)


def _left_out(parts: Iterable[LeftOutRecord], reason: str, kind: str, n: int) -> TableCell:
    """The number of a kind's judgments that are left out for a reason. The list has those of a reason that come before
    it, too: of them nobody is counted twice here."""
    there = {part["reason"] for part in parts for each in part["by_kind"] if each["kind"] == kind}
    own = LISTED.get(reason, (("outcome", reason),) if reason in Outcome.values else ())
    before = BEFORE.get(reason, {"excluded", "run not in figures"})
    pairs = (("by", kind), *own)
    return replace(count(n), where=Where(pairs, "judgments", n) if n and own and not there & before else None)


def _revisions(report: ReportRecord) -> str:
    revisions = report["study"]["revisions"]
    named = ", ".join(f"{each['number']} ({each['spec_hash'][:12]})" for each in revisions)
    return f"Revision {named}." if len(revisions) == 1 else f"Pooled over revisions {named}."
