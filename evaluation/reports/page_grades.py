"""The section on graded preferences: by how much one response is better than the other."""

from evaluation.reports.answers.subject import number
from evaluation.reports.plots import DotPlot
from evaluation.reports.subject import Record, Subject, group_head, mean_plot, tag_of, title_for
from evaluation.reports.tables import Builder, Table, columns, head, words
from evaluation.reports.view import Block, Section


def grades(subject: Subject) -> Section | None:
    """None where the study only asks which response is better."""
    graded = [group for group in subject.groups if group.get("grades")]
    if not graded:
        return None
    first = next((group for group in graded if group is subject.leading), graded[0])
    # The plot stands below the table, which needs all the width there is.
    blocks = [_by_pair(subject, first), Block(plot=_means(subject, first)), Block(tables=(_raters(graded),))]
    blocks += [_by_pair(subject, group, folded=True) for group in graded if group is not first]
    farthest = number(first["grades"]["distribution"][-1]["grade"])
    one, two = subject.sides if len(subject.pairs) == 1 else ("the system named first", "the second")
    intro = (
        f"A grade is negative where {one} is better, positive where {two} is, 0 for a tie; "
        f"{farthest} is the farthest. Win rates and agreement are of its sign."
    )
    return Section("grades", "By how much", "Grades", tuple(blocks), intro)


def _by_pair(subject: Subject, group: Record, *, folded: bool = False) -> Block:
    cells = [cell for cell in group["grades"]["by_cell"] if cell["arm"] in subject.arms]
    points = [each["grade"] for each in group["grades"]["distribution"]]
    names = ["Pair", "Setting"] if subject.several_arms else ["Pair"]
    build = Builder(
        "Mean grade, and how often each was given, in percent.",
        columns([*names, "Mean", *map(number, points), "n"], names=len(names)),
        foot=_words(group["grades"]["words"]),
    )
    for cell in cells:
        build.add(
            head(subject.pair(cell)),
            *([words(subject.arm(cell["arm"]))] if len(names) > 1 else []),
            build.coefficient(cell["mean"]),
            *(build.share(each["share"]) for each in cell["distribution"]),
            build.n(cell["mean"]),
        )
    heading = title_for(group, "Grades by pair", subject)
    return Block(heading, tables=(build.build(),), folded=folded, tag=tag_of(group))


def _means(subject: Subject, first: Record) -> DotPlot | None:
    """The mean grades of everybody who gave some, pair by pair of the first group's."""
    voices = [group for group in subject.voices if group.get("grades")]
    points = [each["grade"] for each in first["grades"]["distribution"]]
    found = {
        (_place(cell), group["key"]): cell["mean"] for group in voices for cell in group["grades"]["by_cell"]
    }
    rows = [
        (
            _row(subject, cell),
            [(group, found[key]) for group in voices if (key := (_place(cell), group["key"])) in found],
        )
        for cell in first["grades"]["by_cell"]
    ]
    return mean_plot(
        rows,
        what="Mean grade by pair",
        caption="Mean grade; 0 is a tie.",
        within=(points[0], points[-1]),
        reference=0.0,
    )


def _place(cell: Record) -> tuple[str, str, str]:
    return cell["arm"], cell["system_1"], cell["system_2"]


def _row(subject: Subject, cell: Record) -> str:
    pair = subject.pair(cell)
    return f"{pair}, {subject.arm(cell['arm'])}" if subject.several_arms else pair


def _words(found: list[Record]) -> str:
    named = [f"{number(each['distance'])}: {each['label']}" for each in found if each["label"]]
    return f"{'; '.join(named)}." if named else ""


def _raters(graded: list[Record]) -> Table:
    build = Builder(
        "Krippendorff's \N{GREEK SMALL LETTER ALPHA} of the grades (ordinal), and the mean grade towards the response "
        "that was shown first; 0 is no bias.",
        columns(["Raters", "\N{GREEK SMALL LETTER ALPHA}", "n", "Towards the first", "n"]),
    )
    for group in graded:
        found = group["grades"]
        build.add(
            group_head(group),
            build.coefficient(found["alpha"]),
            build.n(found["alpha"]),
            build.coefficient(found["to_first"]),
            build.n(found["to_first"]),
        )
    return build.build()
