"""Moments at which recruiters have a say in what the crowd's services do, which don't import them: registered by name.

`annotator.panels` fills these when the app is ready.
"""

from collections.abc import Callable
from typing import Any

from annotator.visit import Visit
from evaluation.hooks import Registry

# Somebody is about to be taken in or recognised: gets the study, which is locked, and the visit. Raises to refuse it.
arrival: Registry[Callable[[Any, Visit], None]] = Registry()
# A participant whose visit was returned or timed out comes with another one: true where that goes on with their work.
reentry: Registry[Callable[[Any, Visit], bool]] = Registry()
# A participant who completed comes once more: true where no visit in which they completed is paid, nor will be.
unpaid_completion: Registry[Callable[[Any], bool]] = Registry()
# A study's list names another study: why people of the second are unknown in the first, or nothing. Gets both.
unknown_people: Registry[Callable[[Any, Any], str]] = Registry()
