"""Moments at which recruiters have a say in what the crowd's services do, which don't import them: registered by name.

`annotator.panels` fills these when the app is ready.
"""

from collections.abc import Callable
from typing import Any

from annotator.visit import Visit
from evaluation.hooks import HookRegistry

# Somebody is about to be taken in or recognised: gets the study, which is locked, and the visit. Raises to refuse it.
arrival: HookRegistry[Callable[[Any, Visit], None]] = HookRegistry()
# A participant whose visit was returned or timed out comes with another one: true where that goes on with their work.
reentry: HookRegistry[Callable[[Any, Visit], bool]] = HookRegistry()
# A participant who completed comes once more: true where no visit in which they completed is paid, nor will be.
unpaid_completion: HookRegistry[Callable[[Any], bool]] = HookRegistry()
# A study's list names another study: why people of the second are unknown in the first, or nothing. Gets both.
unknown_people: HookRegistry[Callable[[Any, Any], str]] = HookRegistry()
