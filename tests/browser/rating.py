"""Filling in scales, by mouse and by keyboard, whatever the protocol asks."""

from playwright.sync_api import Page

from tests.browser.walking import segment

# The names of the scales on the page, in its order, and of each the values of its points.
SCALES = """nodes => nodes.map(node => { const inputs = [...node.querySelectorAll('input')];
    return [inputs[0].name, inputs.map(input => input.value)] })"""


def scales(page: Page) -> list[tuple[str, list[str]]]:
    return [(name, values) for name, values in page.locator("#judge .scale").evaluate_all(SCALES)]


def rate_by_mouse(page: Page, place: int = -1) -> None:
    """Chooses the same point of every scale: by default the last."""
    for name, values in scales(page):
        segment(page, name, values[place])


def rate_by_keyboard(page: Page) -> dict[str, str]:
    """Each scale by N, which goes to the next open answer in whichever tab, and the key of its last point but one;
    returns what should be chosen now."""
    wanted = {}
    for name, values in scales(page):
        page.keyboard.press("n")
        assert page.evaluate("document.activeElement.name") == name
        wanted[name] = values[-2]
        page.keyboard.press(values[-2])
    return wanted


def chosen(page: Page) -> dict[str, str]:
    return dict(
        page.locator("#judge .scale input:checked").evaluate_all(
            "nodes => nodes.map(node => [node.name, node.value])"
        )
    )


def submit(page: Page) -> None:
    with page.expect_navigation():
        page.get_by_role("button", name="Submit and continue").click()
