"""axe-core over the page that is open."""

import json

from axe_playwright_python.base import AXE_SCRIPT, AxeResults
from playwright.sync_api import Page

# A colour that is still on its way to another is none that anybody reads.
ARRIVED = """() => Promise.allSettled(document.getAnimations()
  .filter(each => each.effect.getComputedTiming().endTime < 10_000).map(each => each.finished))"""


def run_axe(page: Page, *, contrast: bool = True) -> AxeResults:
    """A click returns once the next page has begun: axe looks at it when it has loaded.

    What passes is left out of its answer: on a report that took as long as looking. Contrast is measured by what lies
    over what, which on a page of 20,000 elements takes most of a minute; the other rules together take seconds. A page
    that is looked at again, in another window, has the script already.
    """
    page.wait_for_load_state("load")
    page.evaluate(ARRIVED)
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    rules = {} if contrast else {"color-contrast": {"enabled": False}}
    options = json.dumps({"resultTypes": ["violations"], "rules": rules})
    return AxeResults(page.evaluate(f"axe.run({options})"))
