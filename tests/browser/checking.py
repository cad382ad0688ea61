"""What the tests of a protocol's screen share: a participant who has come, and pages that are looked at."""

from annotator.models import Participant
from annotator.services.admission.entry import enter
from evaluation.models import Judgment, Study
from tests.browser.conftest import PHONE, Visitor
from tests.browser.looking import look
from tests.browser.test_screens import PANEL
from tests.browser.walking import resize, tab_to


def come(visitor: Visitor, study: Study) -> Participant:
    """Somebody who has consented, with the first item before them."""
    participant = enter(study, PANEL)
    visitor.go(f"/p/{participant.token}/")
    return participant


def hand_in(visitor: Visitor) -> None:
    with visitor.page.expect_navigation():
        visitor.page.get_by_role("button", name="Submit and continue").click()


def hand_in_by_keyboard(visitor: Visitor) -> None:
    with visitor.page.expect_navigation():
        visitor.page.keyboard.press("Control+Enter")


def be_on_a_phone(visitor: Visitor) -> None:
    resize(visitor.page, PHONE)


def choose_by_keyboard(visitor: Visitor, name: str, value: str) -> None:
    """Tab to the radio group and the arrow until the value is chosen."""
    page = visitor.page
    tab_to(page, f'[name="{name}"]')
    page.keyboard.press("Space")
    for _ in range(6):
        if page.evaluate("document.activeElement.value") == value:
            return
        page.keyboard.press("ArrowRight")
    raise AssertionError(f"the arrows do not reach {value} of {name}")


def answers_of(study: Study) -> list[dict[tuple[str, str], object]]:
    """What was answered, judgment by judgment: a number or a label by question and part."""
    return [
        {
            (answer.question, answer.part): answer.label
            or (answer.text if answer.number is None else answer.number)
            for answer in judgment.answers.all()
        }
        for judgment in Judgment.objects.filter(study=study).order_by("id")
    ]


def assert_still_open(visitor: Visitor, name: str, lines: int) -> None:
    """Submits as it stands: the summary has the focus and so many lines; looks at it."""
    hand_in(visitor)
    alert = visitor.page.get_by_role("alert")
    assert alert.evaluate("node => node === document.activeElement")
    assert alert.locator("a").count() == lines
    for link in alert.locator("a").all():
        assert visitor.page.locator(f'[id="{link.get_attribute("href")[1:]}"]').count() == 1
    look(visitor, name)
