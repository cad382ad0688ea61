"""axe-core over the page that is open."""

from axe_playwright_python.base import AxeResults
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page


def run_axe(page: Page) -> AxeResults:
    """A click returns once the next page has begun: axe looks at it when it has loaded.

    What passes is left out of its answer: on a report that took as long as looking.
    """
    page.wait_for_load_state("load")
    return Axe().run(page, options={"resultTypes": ["violations"]})
