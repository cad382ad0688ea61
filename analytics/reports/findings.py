"""The findings of a report: only what its tests support, corrected within their family."""

from collections.abc import Iterator

from analytics.figures.document import FigureFinding, FindingRecord, ReportRecord
from analytics.figures.failures import Failures
from analytics.figures.families import (
    CLAIMS,
    JUDGED,
    JUDGED_SHARE,
    LEAST_QUERIES,
    FamilyTest,
    TestedRecord,
    correct,
    left_uncorrected,
    read_tests,
)
from analytics.figures.figure import Figure
from analytics.figures.groups import GroupView, QuestionView
from analytics.figures.registry import FIGURES
from analytics.figures.replacement.differences import KEY as DIFFERENCES
from analytics.figures.replacement.differences import judge_findings
from analytics.figures.report_view import ReportView, leading_group, subject
from analytics.statistics.core.estimates import plain
from analytics.statistics.core.randomization import CorrectedTest, Tested


def correct_tests(report: ReportRecord, failures: Failures) -> None:
    """Corrects the tests family by family over all questions, and completes the records.

    The head's families are what it could say of the leading group and, with a share of the level, of judges. A report
    of some figures has only a part of them.
    """
    families: dict[tuple[str, str], list[FamilyTest]] = {}
    written: dict[int, TestedRecord] = {}
    read_records = []
    for record in report["records"]:
        figure = FIGURES[record["figure"]]
        with failures.leaving_out(figure.key):
            group = "" if figure.across_judges else record["group"]
            found = figure.read(record)
            for each in figure.tests(found):
                families.setdefault((group, each.family), []).append(each)
            written |= {id(test): of_test for test, of_test in read_tests(found, record)}
            read_records.append(found)  # whose tests are told by their identity
    of_judges = ("", JUDGED)
    shares = {}
    if of_judges in families or DIFFERENCES in report.get("deferred", ()):
        leading = (leading_group(map(GroupView.of, report["groups"])).key, CLAIMS)
        shares = {of_judges: JUDGED_SHARE, leading: 1 - JUDGED_SHARE}
    is_part = "only" in report["parameters"]
    for key, tests in families.items():
        uncorrected = is_part and key[1] in (CLAIMS, JUDGED)
        completed = left_uncorrected(tests) if uncorrected else correct(tests, share=shares.get(key, 1.0))
        for each, test in zip(tests, completed, strict=True):
            written[id(each.test)].update(plain(test))
    for record in report["records"]:
        figure = FIGURES[record["figure"]]
        with failures.leaving_out(figure.key):
            record.update(plain(figure.settle(figure.read(record))))


def findings(view: ReportView, failures: Failures) -> list[FindingRecord]:
    """Of the leading group of raters, people or others if there are none, and of judges beside people."""
    group = view.leading
    if group.heuristic:
        return []
    found: list[FindingRecord] = []
    tests: list[FamilyTest] = []
    for question in view.questions:
        records = view.group_in(question, group)
        if records is None:
            continue
        for figure in _present(records):
            with failures.leaving_out(figure.key):
                found += [
                    _named(view, question, each, figure) for each in figure.findings(view, records, question)
                ]
                # Whether conclusions can be drawn is not for figures to say that wait in a large study's report.
                if not figure.deferred_as:
                    tests += figure.tests(figure.of(records))
    with failures.leaving_out(DIFFERENCES):
        found += list(judge_findings(view))
    if found or "only" in view.report["parameters"]:
        # A part of the figures can't say that none of them supports a conclusion.
        return found
    return [
        *_too_few([each.test.n for each in tests], subject(group)),
        *_none_supported([each.test for each in tests if each.family == CLAIMS], subject(group)),
    ]


def _present(records: GroupView) -> list[Figure]:
    present = [figure for key, figure in FIGURES.items() if figure.is_in(records)]
    return sorted(present, key=lambda figure: (figure.finding_place, figure.key))


def _named(view: ReportView, question: QuestionView, finding: FigureFinding, figure: Figure) -> FindingRecord:
    """The finding with its place and its question, in its heading too where there are several."""
    heading = f"{finding['heading']}: {question.prompt}" if view.several_questions else finding["heading"]
    anchor = finding.get("anchor", figure.heading)
    return {**finding, "anchor": anchor, "heading": heading, "question": question.key, "supported": True}


def _too_few(queries: list[int], who: str) -> Iterator[FindingRecord]:
    """That nothing is said where no test has the queries for it."""
    if not queries or max(queries) >= LEAST_QUERIES:
        return
    most = max(queries)
    said = {0: "No query was", 1: "One query was"}.get(most, f"At most {most:,} queries were")
    yield {
        "kind": "too_few",
        "supported": False,
        "about": "Findings",
        "heading": "Too few queries for conclusions",
        "text": f"{said} judged by {who} in any comparison. With fewer than {LEAST_QUERIES} queries the report "
        "draws no conclusions; the figures and their intervals are shown below.",
        "anchor": "methods",
    }


def _none_supported(claims: list[Tested], who: str) -> Iterator[FindingRecord]:
    """That there were conclusions to draw, and that chance could have made the figures all the same."""
    told = [test for test in claims if isinstance(test, CorrectedTest) and test.p_corrected is not None]
    if not told:
        return
    n = told[0].tests
    which = "The one conclusion" if n == 1 else f"None of {n:,} conclusions"
    yield {
        "kind": "none_supported",
        "supported": False,
        "about": "Findings",
        "heading": "Nothing beyond chance",
        "text": f"{which} that could be drawn is {'not ' if n == 1 else ''}supported by the judgments of {who}, all "
        "tested together. That is no sign that nothing differs: the figures and their intervals are shown below.",
        "anchor": "methods",
    }
