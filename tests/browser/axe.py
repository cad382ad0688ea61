"""axe-core over the page that is open."""

from axe_playwright_python.base import AxeResults
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page


def run_axe(page: Page, *, contrast: bool = True) -> AxeResults:
    """A click returns once the next page has begun: axe looks at it when it has loaded.

    What passes is left out of its answer: on a report that took as long as looking. Contrast is measured by what lies
    over what, which on a page of 20,000 elements takes most of a minute; the other rules together take seconds.
    """
    page.wait_for_load_state("load")
    rules = {} if contrast else {"color-contrast": {"enabled": False}}
    return Axe().run(page, options={"resultTypes": ["violations"], "rules": rules})
