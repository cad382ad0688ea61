"""The derivations by key: one more is one more module here, which makes a `StudyDerivation` named DERIVATION.

Those that need to know of other apps are registered by them (evaluation.hooks).
"""

import sys

from evaluation import hooks
from evaluation.dumps.derivation import StudyDerivation
from evaluation.registry import Registry, entries_in

DERIVATIONS: Registry[StudyDerivation] = Registry(
    "derivation",
    {
        "key": "its name in commands and in the origin of what it makes",
        "label": "its name on the page",
        "about": "the sentence beside it there",
        "refusal": "the reason why a study has nothing for it",
        "header": "the draft's line",
        "records": "the draft's items",
    },
    lambda: [*entries_in(sys.modules[__name__], "DERIVATION"), *hooks.derivations],
)
