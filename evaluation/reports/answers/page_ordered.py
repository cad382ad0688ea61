"""The sections on best picks and on rankings."""

from collections.abc import Iterator

from evaluation.reports.answers.subject import KINDS, AnswersSubject, heading_for
from evaluation.reports.numbers import decimal, percent
from evaluation.reports.plots import DotPlot
from evaluation.reports.subject import Record, mean_plot, share_plot, tag_of
from evaluation.reports.tables import DASH, P_COLUMNS, Builder, Cell, Table, columns, count, head, words
from evaluation.reports.view import Block, Section

UNKNOWN_ORDER = "Undefined. It is not known in which order the responses were shown."


def picks(subject: AnswersSubject) -> Section | None:
    """Which system's response is the best."""
    questions = subject.of_form("picks")
    if not questions:
        return None
    blocks: list[Block] = []
    for question in questions:
        lead = subject.lead(question)
        plot = share_plot(
            [
                (
                    label,
                    [
                        (group, each["share"])
                        for group, figures in subject.voiced(question)
                        for each in figures["picks"]["by_system"]
                        if each["system"] == key
                    ],
                )
                for key, label in subject.systems.items()
                if any(each["system"] == key for each in lead["picks"]["by_system"])
            ],
            what=f"Share of picks: {question['prompt']}",
            caption="Share of picks.",
        )
        for figures in [lead, *(each for each in question["groups"] if each is not lead)]:
            group, is_lead = subject.who(figures), figures is lead
            blocks.append(
                Block(
                    heading_for(subject, group, question["prompt"]),
                    tables=(_pick_shares(subject, figures),),
                    plot=plot if is_lead else None,
                    folded=not is_lead,
                    tag=tag_of(group),
                    anchor=f"question-{question['key']}" if is_lead else "",
                )
            )
        blocks.append(Block("How often raters pick the same", tables=(_same_picks(subject, question),)))
    intro = "The share of all picks that went to a system, over the items that have a response of it."
    return Section("best-picks", "Best picks", "Best picks", tuple(blocks), intro)


def _pick_shares(subject: AnswersSubject, figures: Record) -> Table:
    found = figures["picks"]
    build = Builder(
        "Share of picks, and what picking at random would give, in percent. p: sign-flip test of that over queries.",
        columns(["System", "Picked", "By chance", "n", *P_COLUMNS]),
    )
    blank = words("")
    rows = [(subject.systems[each["system"]], each) for each in found["by_system"]]
    rows += [(KINDS.get(each["kind"], each["kind"]), each) for each in found["by_kind"]]
    for name, each in rows:
        build.add(
            head(name),
            build.share(each["share"]),
            _bare_share(each["chance"]),
            build.n(each["share"]),
            *(build.tested(each["test"]) if each["test"] else (blank, blank)),
        )
    if found["tie"]["value"]:
        tie = found["tie"]
        build.add(head("Tie"), build.share(tie), Cell(DASH), build.n(tie), blank, blank)
    return build.build()


def _bare_share(value: float | None) -> Cell:
    return Cell(DASH if value is None else percent(value))


def _same_picks(subject: AnswersSubject, question: Record) -> Table:
    build = Builder(
        "Items on which all raters, and at least two of them, pick the same response, in percent with their number.",
        columns(["Raters", "All", "Items", "At least two", "Items", "n"]),
    )
    for figures in question["groups"]:
        group, same = subject.who(figures), figures["picks"]["same"]
        build.add(
            head(group["label"], tag=tag_of(group)),
            build.share(same["all_same"]),
            count(same["n_all_same"]),
            build.share(same["two_same"]),
            count(same["n_two_same"]),
            build.n(same["all_same"]),
        )
    return build.build()


def rankings(subject: AnswersSubject) -> Section | None:
    questions = subject.of_form("ranking")
    if not questions:
        return None
    blocks: list[Block] = []
    for question in questions:
        lead = subject.lead(question)
        for figures in [lead, *(each for each in question["groups"] if each is not lead)]:
            blocks += _ranking(subject, question, figures, is_lead=figures is lead)
    intro = "1 is the first place. The share of first places is over the rankings that have a response of the system."
    return Section("rankings", "Rankings", "Rankings", tuple(blocks), intro)


def _ranking(subject: AnswersSubject, question: Record, figures: Record, *, is_lead: bool) -> Iterator[Block]:
    group = subject.who(figures)
    tag, found = tag_of(group), figures["ranking"]
    yield Block(
        heading_for(subject, group, question["prompt"]),
        tables=(_mean_ranks(subject, found),),
        plot=_rank_plot(subject, question) if is_lead else None,
        folded=not is_lead,
        tag=tag,
        anchor=f"question-{question['key']}" if is_lead else "",
    )
    heading = heading_for(subject, group, "How often each rank was given")
    yield Block(heading, tables=(_rank_counts(subject, found),), folded=not is_lead, tag=tag)
    heading = heading_for(subject, group, "Whether systems differ")
    yield Block(
        heading, _friedman_text(found["friedman"]), _friedman(subject, found), folded=not is_lead, tag=tag
    )
    heading = heading_for(subject, group, "Place on the screen")
    if found["places"]["places"]:
        yield Block(heading, tables=(_places(found["places"]),), folded=not is_lead, tag=tag)
    else:
        yield Block(heading, (UNKNOWN_ORDER,), folded=not is_lead, tag=tag)


def _mean_ranks(subject: AnswersSubject, found: Record) -> Table:
    build = Builder(
        "Mean rank, and share of first places with what random rankings would give, in percent.",
        columns(["System", "Mean rank", "First places", "By chance", "n"]),
    )
    for each in sorted(found["by_system"], key=lambda each: each["mean_rank"]["value"]):
        build.add(
            head(subject.systems[each["system"]]),
            build.coefficient(each["mean_rank"]),
            build.share(each["first"]),
            _bare_share(each["chance"]),
            build.n(each["first"]),
        )
    return build.build()


def _rank_plot(subject: AnswersSubject, question: Record) -> DotPlot | None:
    lead = subject.lead(question)["ranking"]
    most = max((len(each["counts"]) for each in lead["distribution"]), default=1)
    return mean_plot(
        [
            (
                subject.systems[system["system"]],
                [
                    (group, each["mean_rank"])
                    for group, figures in subject.voiced(question)
                    for each in figures["ranking"]["by_system"]
                    if each["system"] == system["system"]
                ],
            )
            for system in sorted(lead["by_system"], key=lambda each: each["mean_rank"]["value"])
        ],
        what=f"Mean rank: {question['prompt']}",
        caption="Mean rank; further left is better.",
        within=(1.0, float(max(most, 2))),
    )


def _rank_counts(subject: AnswersSubject, found: Record) -> Table:
    most = max((len(each["counts"]) for each in found["distribution"]), default=0)
    build = Builder(
        "How often each rank was given, in percent of the system's ranks.",
        columns(["System", *(str(rank) for rank in range(1, most + 1)), "n"]),
        foot="Equals count under the higher of the places that they share.",
    )
    for each in found["distribution"]:
        counts = each["counts"] + [0] * (most - len(each["counts"]))
        total = sum(counts)
        build.add(
            head(subject.systems[each["system"]]), *(Cell(percent(n / total)) for n in counts), count(total)
        )
    return build.build()


def _friedman_text(test: Record) -> tuple[str, ...]:
    if test["undefined"]:
        return (f"Undefined. {test['undefined']}",)
    p = "< 0.001" if test["p_value"] < 0.001 else f"= {test['p_value']:.3f}"
    dropped = "".join(f" Left out: {part['n']:,} {part['reason']}." for part in test["left_out"])
    return (
        f"Friedman's \N{GREEK SMALL LETTER CHI}\u00b2 = {decimal(test['statistic'])} with {test['degrees_of_freedom']} "
        f"degrees of freedom, p {p}, over {test['n']:,} {test['unit']}. Nemenyi's critical difference of two mean "
        f"ranks is {decimal(test['critical_difference'])}.{dropped}",
    )


def _friedman(subject: AnswersSubject, found: Record) -> tuple[Table, ...]:
    pairs = found["friedman"]["pairs"]
    if not pairs:
        return ()
    build = Builder(
        "Difference of the mean ranks of two systems (the second's less the first's), with Nemenyi's p-value. p: "
        "sign-flip test over queries.",
        columns(["System", "and", "Difference", "Nemenyi's p", *P_COLUMNS], names=2),
    )
    for pair in pairs:
        build.add(
            head(subject.systems[pair["system_1"]]),
            words(subject.systems[pair["system_2"]]),
            Cell(decimal(pair["difference"])),
            build.p(pair["p_value"]),
            *build.tested(pair["test"]),
        )
    return (build.build(),)


def _places(found: Record) -> Table:
    left_out = "; ".join(f"{part['n']:,} {part['reason']}" for part in found["left_out"])
    build = Builder(
        "What was shown at each place: its mean rank less that of chance (below 0: favoured), and its share of first "
        "places with that of chance, in percent.",
        columns(["Shown", "Less chance", "First places", "By chance", "n"]),
        foot=f"Left out: {left_out}." if left_out else "",
    )
    for each in found["places"]:
        build.add(
            head(f"{each['place'] + 1}."),
            build.coefficient(each["bias"]),
            build.share(each["first"]),
            _bare_share(each["chance"]),
            build.n(each["bias"]),
        )
    return build.build()
