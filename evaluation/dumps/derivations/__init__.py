"""The derivations by key: one more is one more module here, which makes a `StudyDerivation` named DERIVATION.

Those that need to know of other apps are given by them (evaluation.extension).
"""

import sys

from evaluation.dumps.derivation import StudyDerivation
from evaluation.extension import extensions
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
    lambda: [
        *entries_in(sys.modules[__name__], "DERIVATION"),
        *(found for each in extensions() for found in each.derivations()),
    ],
)
