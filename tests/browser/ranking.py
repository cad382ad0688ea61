"""What tests of rankings share: coming to one, reading the page, handing in, and what was stored of it."""

from typing import Any

from playwright.sync_api import Locator, Page

from annotator.models import Assignment, Participant
from annotator.services.admission.entry import enter
from annotator.visit import Visit
from evaluation.models import Judgment
from tests.browser.conftest import Visitor
from tests.protocol_factories import make_ranking_study

SUBMIT = "Submit and continue"


def come(visitor: Visitor, **fields: Any) -> Participant:
    participant = enter(make_ranking_study(**fields), Visit("prolific", "5f0c", "study", "visit"))
    visitor.go(f"/p/{participant.token}/")
    return participant


def shown(participant: Participant) -> list[str]:
    """The parts in the order in which the item before the participant was shown."""
    order: str = Assignment.objects.get(participant=participant, state="reserved").order
    return order.split(",")


def now(page: Page) -> list[str]:
    """The parts in the order of the page."""
    found: list[str] = page.locator(".entry").evaluate_all("nodes => nodes.map(node => node.dataset.part)")
    return found


def entry(page: Page, part: str) -> Locator:
    return page.locator(f'.entry[data-part="{part}"]')


def hand_in(page: Page) -> None:
    with page.expect_navigation():
        page.get_by_role("button", name=SUBMIT).click()


def stored() -> tuple[list[str], list[dict[str, Any]], Judgment]:
    """What the last judgment says: its parts by rank, its moves, and itself."""
    judgment = Judgment.objects.latest("pk")
    ranks = dict(judgment.answers.filter(question="ranking").values_list("part", "number"))
    assert sorted(ranks.values()) == list(range(1, len(ranks) + 1))
    return sorted(ranks, key=lambda part: ranks[part]), judgment.trace["ranking"], judgment


def without_times(moves: list[dict[str, Any]]) -> list[tuple[str, int, int, str]]:
    times = [move["ms"] for move in moves]
    assert times == sorted(times)
    assert times[0] > 0
    return [(move["part"], move["from"], move["to"], move["by"]) for move in moves]


def middle(box: Any) -> tuple[float, float]:
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def settled(page: Page) -> None:
    """Nothing glides any more."""
    page.evaluate("Promise.allSettled(document.getAnimations().map(each => each.finished))")
