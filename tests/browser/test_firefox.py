"""Firefox: an item of every protocol filled in by mouse, keys and typing, and handed in."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from annotator.services.admission.entry import enter
from annotator.visit import Visit
from evaluation.models import Judgment, Study
from evaluation.protocols import PROTOCOLS
from tests.browser import material
from tests.browser.checking import answers_of
from tests.browser.conftest import wait_for_the_server
from tests.browser.firefox import FirefoxPage, Keys, start, stop
from tests.browser.rating import SCALES
from tests.protocol_factories import (
    BOILING_DRAFT,
    ITEMS_ONLY,
    make_answer_pairs_study,
    make_aspects_study,
    make_condition_calibration_study,
    make_context_validation_study,
    make_justification_coding_study,
    make_question_quality_study,
    make_ranking_study,
    make_relevance_study,
)

pytestmark = [
    pytest.mark.browser,
    pytest.mark.audit,
    pytest.mark.django_db(transaction=True),
    # The driver leaves open the sockets by which it saw that Firefox was not up yet.
    pytest.mark.filterwarnings(
        "ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning"
    ),
]

Given = dict[tuple[str, str], Any]
WHY = "It says what was asked."


@pytest.fixture
def firefox(live_server: Any, tmp_path: Path) -> Iterator[FirefoxPage]:
    client = start(tmp_path / "gecko.log")
    yield FirefoxPage(client, live_server.url)
    stop(client)
    wait_for_the_server(live_server.url)


def scales(page: FirefoxPage) -> list[tuple[str, list[str]]]:
    script = f"return ({SCALES})([...document.querySelectorAll('#judge .scale')])"
    return [(name, values) for name, values in page.client.execute_script(script)]


def rated(name: str, value: str) -> tuple[tuple[str, str], float]:
    question, _, part = name.partition(".")
    return (question, part), float(value)


def rate_by_keys(page: FirefoxPage) -> Given:
    """Each scale by N and the key of its last point but one."""
    given: Given = {}
    for name, values in scales(page):
        page.press("n", values[-2])
        given |= [rated(name, values[-2])]
    return given


def pairwise(page: FirefoxPage) -> Given:
    parts = [f"f{follow_up}.r{response}" for follow_up in (1, 2) for response in (1, 2)]
    given: Given = {("satisfied", part): float(part.endswith("r1")) for part in parts}
    for (question, part), value in given.items():
        page.choose(f"{question}.{part}", f"{value:.0f}")
    page.press("t")
    page.type("[name=justification]", WHY)
    return given | {("preference", ""): "tie", ("justification", ""): WHY}


def aspects(page: FirefoxPage) -> Given:
    given = rate_by_keys(page)
    page.choose("best", "r3")
    page.click("label:has([name=none_appropriate])")
    page.type("[name=justification]", WHY)
    return given | {("best", ""): "r3", ("none_appropriate", ""): 1.0, ("justification", ""): WHY}


def ranking(page: FirefoxPage) -> Given:
    first, second, *others = page.of_all(".entry", "node.dataset.part")
    page.tab_to(f'.entry[data-part="{second}"] .handle')
    page.press(" ", Keys.ARROW_UP, " ")
    order = [second, first, *others]
    assert page.of_all(".entry", "node.dataset.part") == order
    return {("ranking", part): place for place, part in enumerate(order, 1)}


def context_validation(page: FirefoxPage) -> Given:
    given: Given = {}
    for name in page.of_all(".follow-up input[value='1']", "node.name"):
        value = "0" if name.startswith("complete") else "1"
        page.choose(name, value)
        given |= [rated(name, value)]
    return given


def relevance(page: FirefoxPage) -> Given:
    given: Given = {}
    for at, (name, values) in enumerate(scales(page)):
        page.choose(name, values[at % len(values)])
        given |= [rated(name, values[at % len(values)])]
    return given


def answer_pairs(page: FirefoxPage) -> Given:
    names = ("relevance", "usefulness", "naturalness", "overall")
    for _ in names:
        page.press("n", "t")
    page.type("[name=justification]", WHY)
    return {("justification", ""): WHY} | {(name, ""): "tie" for name in names}


def question_quality(page: FirefoxPage) -> Given:
    return rate_by_keys(page)


def justification_coding(page: FirefoxPage) -> Given:
    page.click('label:has([name="criteria.length"])')
    page.tab_to('[name="criteria.correctness"]')
    page.press(" ")
    return {("criteria", "length"): 1, ("criteria", "correctness"): 1, ("criteria", "clarity"): 0}


def condition_calibration(page: FirefoxPage) -> Given:
    card = '.calibrated[data-row="{}"] {}'.format
    for row, button in (("e1", "accept"), ("e3", "reject"), ("e4", "reject"), ("e2", "edit")):
        page.click(card(row, f".{button}"))
    page.type(card("e2", "[name$='.condition']"), "In the mountains")
    page.click('[data-fragment="7"] .cite')
    boxes = page.of_all(".tags input", "node.name")
    for name in boxes:
        page.click(f'label:has([name="{name}"])')
    sea, mountain = (each | {"origins": [f"r1.e{n}"]} for n, each in enumerate(BOILING_DRAFT[:2], 1))
    mountain |= {"condition": "In the mountains", "citations": [3, 7]}
    entries = {("entries", "e1"): sea, ("entries", "e2"): mountain}
    return entries | dict(rated(name, "1") for name in boxes)


WALK: dict[str, tuple[Callable[..., Study], Callable[[FirefoxPage], Given]]] = {
    "pairwise": (lambda **fields: material.make_study("coffee", steps=ITEMS_ONLY, follow_ups=2, **fields), pairwise),
    "aspects": (make_aspects_study, aspects),
    "ranking": (make_ranking_study, ranking),
    "context_validation": (make_context_validation_study, context_validation),
    "relevance": (make_relevance_study, relevance),
    "answer_pairs": (make_answer_pairs_study, answer_pairs),
    "question_quality": (make_question_quality_study, question_quality),
    "justification_coding": (make_justification_coding_study, justification_coding),
    "condition_calibration": (make_condition_calibration_study, condition_calibration),
}  # fmt: skip


def test_an_item_of_every_protocol_is_filled_in_and_stored(firefox: FirefoxPage) -> None:
    assert {*WALK} == {*PROTOCOLS} - {"custom"}
    for number, (protocol, (make, fill)) in enumerate(WALK.items()):
        study = make(main=1, items_per_participant=1)
        firefox.go(f"/p/{enter(study, Visit('link')).token}/")
        given = fill(firefox)
        if number % 2:
            firefox.press_control_enter()
        else:
            firefox.click("button.go[form=judge]")
        firefox.until(lambda: firefox.all("#code"))
        [stored] = answers_of(study)
        found = {key: stored.get(key) for key in given}
        found |= {key: json.loads(str(value)) for key, value in found.items() if key[0] == "entries"}
        assert found == given, protocol
        assert Judgment.objects.get(study=study).outcome == "ok"
    assert firefox.errors() == []
