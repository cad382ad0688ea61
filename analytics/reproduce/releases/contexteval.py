"""ContextEval's human judgments: agreement and win rates in its three settings.

Source: Tables 4a and 6 (human evaluators). The figures outside the parentheses of Table 4 are those of all items, ties
included, and those inside are without them: the caption has it the other way round, which the majorities of Table 6
show.
"""

from collections.abc import Iterator

from analytics.reproduce.published_tables import PublishedFigure, PublishedTable, table
from analytics.reproduce.release_input import ReleaseInput
from analytics.reproduce.reproduction import Reproduction

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
CUT = {"65.99": "Cut in print: 65.999...", "55.55": "Cut in print: 55.555..."}
WITHOUT_TIES = (
    "An item with three different labels counts here as having no tie as its most common label; in the release, only "
    "if a tie was not the label that came first."
)


class ContextEvalReproduction(Reproduction):
    key = "contexteval"
    paper = "Contextualized Evaluations: Judging Language Model Responses to Underspecified Queries"
    missing = (
        "Autoraters (Tables 4b and 6): their judgments are a file of their own, which is not read.",
        "Validation of contexts (Figure 2) and ratings by attribute value (Figures 5 and 6): not released.",
        "Codes of justifications (Figure 4): the release has the texts; the derived study `justifications` codes them.",
    )

    def tables(self, given: ReleaseInput) -> Iterator[PublishedTable]:
        yield table("Agreement of people (Table 4a), in percent", _agreement(given))
        yield table("Win rates by majority of people (Table 6), in percent", _wins(given))


def _agreement(given: ReleaseInput) -> Iterator[PublishedFigure]:
    found = {
        (frozenset((cell["system_1"], cell["system_2"])), cell["arm"]): cell
        for cell in given.record("agreement/percentage", "preference")["by_cell"]
    }
    for pair, of_arms in AGREEMENT.items():
        for arm, (ours, without) in of_arms.items():
            cell = found.get((frozenset(pair), arm))
            name = f"{pair[0]} vs {pair[1]}, {arm}"
            yield _figure(name, ours, cell and cell["with_ties"])
            yield _figure(f"{name}, without ties", without, cell and cell["without_ties"], WITHOUT_TIES)


def _wins(given: ReleaseInput) -> Iterator[PublishedFigure]:
    found = {
        (frozenset((each["cell"]["system_1"], each["cell"]["system_2"])), each["cell"]["arm"]): each
        for each in given.record("preferences/win_rates", "preference")["majority"]
    }
    for pair, of_arms in WINS.items():
        for arm, published in of_arms.items():
            rates = found.get((frozenset(pair), arm))
            names = {rates["cell"][side]: side for side in ("system_1", "system_2")} if rates else {}
            for name, printed in zip((*pair, "tie"), published, strict=True):
                rate = rates and rates[names.get(name, "tie")]
                yield _figure(f"{pair[0]} vs {pair[1]}, {arm}: {name}", printed, rate)


def _figure(
    name: str, published: str, estimate: dict[str, float | None] | None, note: str = ""
) -> PublishedFigure:
    """A share in percent; none where the files don't have the pair of systems in the setting."""
    value = estimate["value"] if estimate else None
    if value is None:
        return PublishedFigure(name, published, None, note="Not in the files.")
    return PublishedFigure(name, published, value * 100, note=CUT.get(published, note))


REPRODUCTION = ContextEvalReproduction()
