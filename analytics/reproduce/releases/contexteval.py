"""ContextEval's judgments of people and autoraters: agreement and win rates in its three settings; and its queries.

Source: section 2, Tables 4 to 6. The figures outside the parentheses of Table 4 are those of all items, ties
included, and those inside are without them: the caption has it the other way round, which the majorities of Table 6
show.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from analytics.frames.rows import JUDGES
from analytics.reproduce.contexteval_script import TIE, Cell, ScriptCell, judges_as_script, people_as_script
from analytics.reproduce.published_tables import PublishedFigure, PublishedTable, table
from analytics.reproduce.release_input import PEOPLE, ReleaseInput, ReleaseRow
from analytics.reproduce.reproduction import Reproduction
from evaluation.dumps.published.contexteval import read_judges, read_people, read_queries

GPT, GEMINI = "gpt-4", "gemini-1.5-flash-exp-0827"
CLAUDE, LLAMA = "claude-3.5-sonnet", "meta-llama_Meta-Llama-3.1-405B-Instruct-Turbo"
GEMMA, JAMBA = "google_gemma-2-27b-it", "jamba-1.5-large"
NN, NC, CC = "NoCtxGen-NoCtxEval", "NoCtxGen-CtxEval", "CtxGen-CtxEval"
# All items, and those without a tie as their most common label, in percent.
AGREEMENT = {
    (GPT, GEMINI): {NN: ("70.67", "73.33"), NC: ("75.00", "77.15"), CC: ("76.00", "76.36")},
    (CLAUDE, LLAMA): {NN: ("65.99", "67.75"), NC: ("71.33", "72.84"), CC: ("74.67", "77.19")},
    (GEMMA, JAMBA): {NN: ("71.33", "73.95"), NC: ("74.00", "75.48"), CC: ("74.33", "75.79")},
}
# First system, second system, tie, in percent.
WINS = {
    (GPT, GEMINI): {
        NN: ("40.24", "48.78", "10.98"), NC: ("40.86", "50.54", "8.60"), CC: ("52.75", "32.97", "14.29"),
    },
    (CLAUDE, LLAMA): {
        NN: ("58.75", "37.50", "3.75"), NC: ("45.88", "36.47", "17.65"), CC: ("55.55", "24.44", "20.00"),
    },
    (GEMMA, JAMBA): {
        NN: ("38.82", "54.12", "7.06"), NC: ("36.67", "50.00", "13.33"), CC: ("49.43", "34.48", "16.09"),
    },
}  # fmt: skip
# The same of autoraters.
JUDGES_AGREEMENT = {
    (GPT, GEMINI): {NN: ("68.03", "68.73"), NC: ("78.34", "78.40"), CC: ("74.51", "74.56")},
    (CLAUDE, LLAMA): {NN: ("64.00", "65.04"), NC: ("74.57", "74.89"), CC: ("74.93", "75.13")},
    (GEMMA, JAMBA): {NN: ("73.22", "74.40"), NC: ("80.98", "81.01"), CC: ("75.94", "75.99")},
}
JUDGES_WINS = {
    (GPT, GEMINI): {
        NN: ("39.07", "53.00", "7.92"), NC: ("53.69", "46.04", "0.27"), CC: ("68.05", "31.79", "0.16"),
    },
    (CLAUDE, LLAMA): {
        NN: ("47.36", "47.07", "5.57"), NC: ("44.86", "54.57", "0.57"), CC: ("75.29", "24.49", "0.23"),
    },
    (GEMMA, JAMBA): {
        NN: ("55.16", "39.16", "5.68"), NC: ("46.65", "52.91", "0.44"), CC: ("63.89", "35.93", "0.17"),
    },
}  # fmt: skip
# What each setting adds to the agreement in the first, of all items and without ties, with the paper's mark of p < .05.
GAINS = {
    (GPT, GEMINI): {NC: ("4.33", "3.82"), CC: ("5.33", "3.03")},
    (CLAUDE, LLAMA): {NC: ("5.34", "5.09"), CC: ("8.68*", "9.44*")},
    (GEMMA, JAMBA): {NC: ("2.67", "1.53"), CC: ("3.00", "1.84")},
}
JUDGES_GAINS = {
    (GPT, GEMINI): {NC: ("10.31*", "9.67*"), CC: ("6.48*", "5.83*")},
    (CLAUDE, LLAMA): {NC: ("10.57*", "9.85*"), CC: ("10.93*", "10.09*")},
    (GEMMA, JAMBA): {NC: ("7.76*", "6.61*"), CC: ("2.72*", "1.59*")},
}
# Agreement of people without ties, where the responses differ by one satisfied follow-up question or more.
FOLLOW_UPS = {
    (GPT, GEMINI): {NC: "82.42", CC: "81.40"},
    (CLAUDE, LLAMA): {NC: "79.43", CC: "77.33"},
    (GEMMA, JAMBA): {NC: "82.05", CC: "82.54"},
}
SOURCES = {
    "lmsys/chatbot_arena_conversations": "2500",
    "tatsu-lab/alpaca_eval": "645",
    "lmsys/mt_bench_human_judgments": "57",
    "cmalaviya/expertqa": "300",
    "fangyuan/kiwi": "78",
}
WAYS = ("with_ties", "without_ties")
CUT = {"65.99": "Cut in print: 65.999...", "55.55": "Cut in print: 55.555..."}
FIRST_LABEL = (
    "Where a tie is as common as another label (three raters, three labels), the release takes the label that came "
    "first in the file; here such an item has no tie as its most common label."
)
# Differences of rounded means are printed, and some figures are cut.
MISPRINT = 0.015
NOT_THE_FILE = (
    "The release's rule doesn't give the published figure: in its labels or their order the file is not the one "
    "behind the table. One that was put together from counts has no order of its own."
)
FORGIVING = (
    "As published: a reply without a dictionary is Response 1 if that stands anywhere in it, otherwise Response 2; the "
    "rest are ties. Ours: replies of another form are unparsed and left out."
)
PAIRED = (
    "Differences from the first setting: ours are of the queries that both settings have (without ties: that have no "
    "tie as their most common label in either), the paper's and those as published of the two means, each over its own "
    "queries. p is that of the paired t-test; the release's script has an unpaired one without ties."
)
NO_CONTEXT = (
    "Its row without a context repeats the autoraters' agreement of Table 4b, and is left out. As published: a rater's "
    "difference is that of the responses as this rater saw them, first less second, before the mean is taken, and "
    "items whose most common label is a tie are in. Ours: differences by system, without those items, as its caption "
    "says."
)
NONE_DIFFERS = "As published: no item is left, as the responses were shown in different orders."
Published = Mapping[tuple[str, str], Mapping[str, tuple[str, ...]]]


class ContextEvalReproduction(Reproduction):
    key = "contexteval"
    paper = "Contextualized Evaluations: Judging Language Model Responses to Underspecified Queries"
    figures = ("agreement/percentage", "conditions/follow_ups", "preferences/win_rates")
    missing = (
        "Types of queries (Table 1): not released; the pipeline query_types has a model name them.",
        "Validation of contexts (Figure 2) and ratings by attribute value (Figures 5 and 6): not released.",
        "Codes of justifications (Figure 4): the release has the texts; the derived study `justifications` codes them.",
    )

    def tables(self, given: ReleaseInput) -> Iterator[PublishedTable]:
        """Notes rest on the release's own reading, which is shown only if it was asked for."""
        for each in self._tables(given):
            hidden = (replace(figure, as_published=None) for figure in each.figures)
            yield each if given.as_published else table(each.title, hidden, each.note)

    def _tables(self, given: ReleaseInput) -> Iterator[PublishedTable]:
        _ = given.study
        if queries := read_queries(given.path):
            yield table("Queries by data set (section 2)", _queries(queries))
        if people := read_people(given.path):
            read = people_as_script(people)
            agreed = _agreement(given, PEOPLE, AGREEMENT, read)
            yield table("Agreement of people (Table 4a), in percent", agreed)
            gained = _gains(given, PEOPLE, GAINS, read)
            yield table("What a context adds to people's agreement (Table 4a), in points", gained, PAIRED)
            yield table(
                "Agreement of people where satisfied follow-ups differ (Table 5), in percent",
                _follow_ups(given, read),
                NO_CONTEXT,
            )
            yield table(
                "Win rates by majority of people (Table 6), in percent", _wins(given, PEOPLE, WINS, read)
            )
        if rows := read_judges(given.path):
            group = _judges_group(given)
            read = judges_as_script(rows)
            agreed = _agreement(given, group, JUDGES_AGREEMENT, read)
            yield table("Agreement of autoraters (Table 4b), in percent", agreed, FORGIVING)
            gained = _gains(given, group, JUDGES_GAINS, read)
            yield table("What a context adds to autoraters' agreement (Table 4b), in points", gained, PAIRED)
            won = _wins(given, group, JUDGES_WINS, read)
            yield table("Win rates by majority of autoraters (Table 6), in percent", won, FORGIVING)


def _judges_group(given: ReleaseInput) -> str:
    """The group of all judges, or the only one."""
    keys = [each["key"] for each in given.report["groups"] if each["kind"] in (JUDGES, "judge")]
    return JUDGES if JUDGES in keys else str(keys[0])


def _agreement(
    given: ReleaseInput, group: str, published: Published, read: Mapping[Cell, ScriptCell]
) -> Iterator[PublishedFigure]:
    found = {
        (frozenset((cell["system_1"], cell["system_2"])), cell["arm"]): cell
        for cell in given.record("agreement/percentage", "preference", group)["by_cell"]
    }
    for pair, of_arms in published.items():
        for arm, (ours, without) in of_arms.items():
            at = (frozenset(pair), arm)
            cell, script = found.get(at), read.get(at)
            name = f"{pair[0]} vs {pair[1]}, {arm}"
            yield _figure(name, ours, cell and cell["with_ties"], script.with_ties if script else None)
            came_first = f" A tie came first in {script.ties_first} of {script.undecided}." if script else ""
            yield _explained(
                _figure(
                    f"{name}, without ties",
                    without,
                    cell and cell["without_ties"],
                    script.without_ties if script else None,
                    f"{FIRST_LABEL}{came_first}",
                )
            )


def _explained(figure: PublishedFigure) -> PublishedFigure:
    """The release's rule explains a difference of a figure without ties where it gives the published figure itself."""
    beyond = figure.difference_as_published
    if beyond is None or abs(beyond) < MISPRINT:
        return figure
    return replace(figure, note=f"{figure.note} {NOT_THE_FILE}".strip())


def _gains(
    given: ReleaseInput, group: str, published: Published, read: Mapping[Cell, ScriptCell]
) -> Iterator[PublishedFigure]:
    found = {
        (frozenset((each["system_1"], each["system_2"])), each["second_arm"]): each
        for each in given.record("agreement/percentage", "preference", group)["differences"]
    }
    for pair, of_arms in published.items():
        for arm, printed in of_arms.items():
            gain = found.get((frozenset(pair), arm))
            scripts = [read.get((frozenset(pair), each)) for each in (NN, arm)]
            for way, name, figure in zip(WAYS, ("", ", without ties"), printed, strict=True):
                yield _explained(
                    _figure(
                        f"{pair[0]} vs {pair[1]}, {arm}{name}",
                        figure.rstrip("*"),
                        gain and gain[way]["difference"],
                        _gained(scripts, way),
                        _significance(gain and gain[way]["p_value"], marked=figure.endswith("*")),
                    )
                )


def _gained(scripts: Sequence[ScriptCell | None], way: str) -> float | None:
    """The difference of two settings' means."""
    means = [getattr(script, way) for script in scripts if script]
    return means[1] - means[0] if len(means) == len(scripts) and None not in means else None


def _significance(p: float | None, *, marked: bool) -> str:
    paper = "the paper marks it as significant" if marked else "the paper does not mark it"
    return f"p = {p:.3f}; {paper}." if p is not None else f"{paper.capitalize()}."


def _follow_ups(given: ReleaseInput, read: Mapping[Cell, ScriptCell]) -> Iterator[PublishedFigure]:
    try:
        cells = given.record("conditions/follow_ups", "preference")["by_cell"]
    except LookupError:  # no setting with a context is in the files
        cells = []
    found = {
        (frozenset((each["system_1"], each["system_2"])), each["arm"]): each["differing"]["without_ties"]
        for each in cells
    }
    for pair, of_arms in FOLLOW_UPS.items():
        for arm, printed in of_arms.items():
            at = (frozenset(pair), arm)
            script = read.get(at)
            note = NONE_DIFFERS if script and script.differing is None else ""
            name = f"{pair[0]} vs {pair[1]}, {arm}"
            yield _figure(name, printed, found.get(at), script.differing if script else None, note)


def _queries(rows: Sequence[ReleaseRow]) -> Iterator[PublishedFigure]:
    counted = Counter(row["source"] for row in rows)
    yield PublishedFigure("All", "3580", len(rows), decimals=0)
    for source in dict.fromkeys((*SOURCES, *counted)):
        yield PublishedFigure(source, SOURCES.get(source, ""), counted[source], decimals=0)


def _wins(
    given: ReleaseInput, group: str, published: Published, read: Mapping[Cell, ScriptCell]
) -> Iterator[PublishedFigure]:
    found = {
        (frozenset((each["cell"]["system_1"], each["cell"]["system_2"])), each["cell"]["arm"]): each
        for each in given.record("preferences/win_rates", "preference", group)["majority"]
    }
    for pair, of_arms in published.items():
        for arm, shares in of_arms.items():
            rates, script = found.get((frozenset(pair), arm)), read.get((frozenset(pair), arm))
            names = {rates["cell"][side]: side for side in ("system_1", "system_2")} if rates else {}
            for name, printed in zip((*pair, TIE), shares, strict=True):
                rate = rates and rates[names.get(name, TIE)]
                won = script.majorities.get(name, 0.0) if script and script.majorities else None
                yield _figure(f"{pair[0]} vs {pair[1]}, {arm}: {name}", printed, rate, won)


def _figure(
    name: str,
    published: str,
    estimate: dict[str, float | None] | None,
    script: float | None = None,
    note: str = "",
) -> PublishedFigure:
    """A share in percent; none where the files don't have the pair of systems in the setting."""
    if estimate is None:
        return PublishedFigure(name, published, None, note="Not in the files.")
    value = estimate["value"]
    read = None if script is None else script * 100
    if value is None:
        return PublishedFigure(name, published, None, read, "Nothing in the files to compute it from.")
    return PublishedFigure(name, published, value * 100, read, CUT.get(published, note))


REPRODUCTION = ContextEvalReproduction()
