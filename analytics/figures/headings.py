"""The headings of a report, in their order. Figures stand under them; a heading without figures is not shown."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Heading:
    """`short` is its name in the list of contents."""

    key: str
    title: str
    short: str


HEADINGS: dict[str, Heading] = {
    heading.key: heading
    for heading in (
        Heading("entries", "Entries", "Entries"),
        Heading("best-picks", "Best picks", "Best picks"),
        Heading("rankings", "Rankings", "Rankings"),
        Heading("stopping", "Stopping early", "Stopping"),
        Heading("win-rates", "Win rates", "Win rates"),
        Heading("leaderboard", "Leaderboard", "Leaderboard"),
        Heading("grades", "Graded preferences", "Grades"),
        Heading("flips", "Flips between settings", "Flips"),
        Heading("strengths", "Bradley-Terry strengths", "Strengths"),
        Heading("values", "Ratings by attribute value", "Values"),
        Heading("ratings", "Ratings", "Ratings"),
        Heading("aspects", "Aspects and the overall rating", "Aspects"),
        Heading("tags", "Tags", "Tags"),
        Heading("checks", "Yes/no answers", "Yes/no"),
        Heading("choices", "Choices", "Choices"),
        Heading("shares", "Shares among chosen answers", "Shares"),
        Heading("associations", "Associations between questions", "Associations"),
        Heading("agreement", "Agreement", "Agreement"),
        Heading("groups", "Groups of people", "Groups"),
        Heading("judges", "Judges", "Judges"),
        Heading("measures", "Measures", "Measures"),
        Heading("bias", "Position and length bias", "Bias"),
        Heading("follow-ups", "Follow-ups", "Follow-ups"),
        Heading("texts", "Texts", "Texts"),
        Heading("raters", "Raters", "Raters"),
    )
}


def ordered(first: Iterable[str]) -> list[Heading]:
    """All headings, those that a protocol wants first before the others."""
    keys = list(dict.fromkeys([*first, *HEADINGS]))
    return [HEADINGS[key] for key in keys]
