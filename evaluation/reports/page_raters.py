"""The sections on the raters themselves: biases, checklists, kappas and counts, and what was left out."""

from collections.abc import Iterator

from evaluation.reports.subject import Record, Subject, group_head, share_plot, tag_of, title_for
from evaluation.reports.tables import P_COLUMNS, Builder, Table, columns, count, head, words
from evaluation.reports.view import Block, Section

# More rows than this are in the JSON only.
MAX_RATERS = 50
REASONS = {
    "excluded": "excluded, of themselves or with their rater",
    "skipped": "skipped",
    "unparsed": "replies of judges that could not be read",
    "refused": "refused by a judge",
    "truncated": "replies of judges that were cut off",
    "failed": "failed calls of judges",
    "excluded_self": "left out against self-preference",
    "surplus": "late judgments of items that had enough",
    "withdrawn item": "of withdrawn items",
    "run not in figures": "of judges' runs that are in no figure: trials, anchors, unfinished or superseded ones",
}
KINDS = {"person": "person", "judge": "judge", "simulated": "simulated"}


def bias(subject: Subject) -> Section:
    position = Builder(
        "Position: share of preferences that are for the response shown first, in percent; 50 is no bias. p: sign-flip "
        "test of that over queries.",
        columns(["Raters", "First preferred", "n", *P_COLUMNS]),
    )
    length = Builder(
        "Length: how many judgments of two responses of unequal length, ties included, prefer the longer and the "
        "shorter one, and the difference, in percent.",
        columns(["Raters", "Longer", "Shorter", "Bias", "n"]),
    )
    for group in subject.groups:
        found = group["bias"]
        position.add(
            group_head(group),
            position.share(found["position"]["share"]),
            position.n(found["position"]["share"]),
            *position.tested(found["position"]["test"], found["position"]["share"]["undefined"]),
        )
        of_length = found["length"]
        length.add(
            group_head(group),
            *(length.share(of_length[name]) for name in ("longer", "shorter", "bias")),
            length.n(of_length["bias"]),
        )
    blocks = (Block(tables=(position.build(), length.build())),)
    intro = "Read from every judgment by itself. Length is counted in characters of the response."
    return Section("bias", "Position and length bias", "Bias", blocks, intro)


def follow_ups(subject: Subject) -> Section | None:
    groups = subject.checked
    if not groups:
        return None
    blocks: list[Block] = []
    for group in groups:
        folded, tag = group is not groups[0], tag_of(group)
        blocks.append(
            Block(
                title_for(group, "Satisfied follow-ups by system", subject),
                tables=(_by_system(subject, group),),
                plot=share_plot(
                    _system_rows(subject, group),
                    what="Share of follow-ups satisfied",
                    caption="Share of follow-ups that a response satisfies.",
                ),
                folded=folded,
                tag=tag,
            )
        )
        if group["raters"] > 1:
            heading = title_for(group, "Agreement where responses differ", subject)
            tables = tuple(_where_they_differ(subject, group, *rule) for rule in _rules(group))
            blocks.append(Block(heading, tables=tables, folded=folded, tag=tag))
    intro = (
        "A response satisfies a follow-up where more than half of an item's raters find its answer taken into "
        "account. Where responses differ is told from what each rater finds."
    )
    return Section("follow-ups", "Follow-ups", "Follow-ups", tuple(blocks), intro)


def _system_rows(subject: Subject, group: Record) -> Iterator[tuple[str, list[tuple[Record, Record]]]]:
    for found in group["follow_ups"]["by_system"]:
        setting = f", {subject.arm(found['arm'])}" if subject.several_arms else ""
        yield f"{subject.system(found['system'])}{setting}", [(group, found["share"])]


def _by_system(subject: Subject, group: Record) -> Table:
    names = ["System", "Setting"] if subject.several_arms else ["System"]
    build = Builder(
        "Follow-ups that a response satisfies: share of those asked about in percent, and mean number.",
        columns([*names, "Share", "Number", "n"], names=len(names)),
    )
    for found in group["follow_ups"]["by_system"]:
        build.add(
            head(subject.system(found["system"])),
            *([words(subject.arm(found["arm"]))] if len(names) > 1 else []),
            build.share(found["share"]),
            build.coefficient(found["number"]),
            build.n(found["share"]),
        )
    return build.build()


def _rules(group: Record) -> Iterator[tuple[str, str, str]]:
    """(differing, equal, caption) of each rule by which responses differ in satisfied follow-ups."""
    yield (
        "differing",
        "equal",
        "Percentage agreement without ties, on items whose responses differ in satisfied follow-ups (the mean over "
        "raters of those satisfied by one response less those by the other is 1 or more; ContextEval, Table 5) and on "
        "those where they do not.",
    )
    # Reports that were computed before there were two rules have one.
    if "differing_by_majority" in group["follow_ups"]["overall"]:
        yield (
            "differing_by_majority",
            "equal_by_majority",
            "The same by majority: on items whose responses differ in the number of follow-ups that more than half of "
            "the raters find satisfied, and on those where they do not.",
        )


def _where_they_differ(subject: Subject, group: Record, differing: str, equal: str, caption: str) -> Table:
    build = Builder(caption, columns(["Items", "Differing", "n", "Equal", "n"]))
    found = group["follow_ups"]
    named = [("All with a checklist", found["overall"])]
    for cell in found["by_cell"]:
        setting = f", {subject.arm(cell['arm'])}" if subject.several_arms else ""
        named.append((f"{subject.pair(cell)}{setting}", cell))
    for name, part in named if len(named) > 2 else named[-1:]:
        those, others = part[differing]["without_ties"], part[equal]["without_ties"]
        build.add(
            head(name),
            build.share(those),
            build.n(those | {"left_out": []}),
            build.share(others),
            build.n(others | {"left_out": []}),
        )
    return build.build()


def raters(subject: Subject) -> Section:
    blocks = [_kappas(subject, group) for group in subject.panels if group["kappa"]["pairs"]]
    blocks.append(who_judged(subject.report, folded=bool(blocks)))
    intro = "Raters go by pseudonyms; imported ones by the name they were published under."
    return Section("raters", "Raters", "Raters", tuple(blocks), intro)


def _kappas(subject: Subject, group: Record) -> Block:
    build = Builder(
        "Cohen's \N{GREEK SMALL LETTER KAPPA} between two raters, on the items that both judged.",
        columns(["Rater", "and", "Cohen's \N{GREEK SMALL LETTER KAPPA}", "n"], names=2),
        foot=" ".join(f"Not shown: {part['n']:,} {part['reason']}." for part in group["kappa"]["left_out"]),
    )
    for pair in group["kappa"]["pairs"]:
        build.add(
            head(subject.raters[pair["rater_1"]]),
            words(subject.raters[pair["rater_2"]]),
            build.coefficient(pair["kappa"]),
            build.n(pair["kappa"]),
        )
    folded = group is not subject.leading
    return Block(
        title_for(group, "Pairs of raters", subject),
        tables=(build.build(),),
        folded=folded,
        tag=tag_of(group),
    )


def who_judged(report: Record, *, folded: bool) -> Block:
    found = report["raters"]
    beyond = len(found) - MAX_RATERS
    build = Builder(
        "Judgments that count, by rater.",
        columns(["Rater", "Kind", "Judgments"], names=2),
        foot=f"{beyond:,} further raters are in the JSON." if beyond > 0 else "",
    )
    for rater in found[:MAX_RATERS]:
        tag = "simulated" if rater["kind"] == "simulated" else ""
        build.add(
            head(rater["label"]), words("" if tag else KINDS[rater["kind"]], tag), count(rater["judgments"])
        )
    return Block("Who judged how much", tables=(build.build(),), folded=folded)


def methods(report: Record) -> Section:
    counts = report["counts"]
    build = Builder("Judgments of main items that are in no figure.", columns(["Reason", "Judgments"]))
    for part in counts["left_out"]:
        build.add(head(REASONS.get(part["reason"], part["reason"])), count(part["n"]))
    text = () if counts["left_out"] else ("Nothing was left out: every judgment of a main item counts.",)
    blocks = (
        Block("Left out", text, tables=(build.build(),) if counts["left_out"] else ()),
        Block("How the figures are made", (*report["methods"], _revisions(report))),
    )
    return Section("methods", "Left out, and methods", "Methods", blocks)


def _revisions(report: Record) -> str:
    revisions = report["study"]["revisions"]
    named = ", ".join(f"{each['number']} ({each['spec_hash'][:12]})" for each in revisions)
    return f"Revision {named}." if len(revisions) == 1 else f"Pooled over revisions {named}."
