"""Ways of asking a model about items, by the backend of the judge: the study's form unless it has one of its own.

One more is a module here, which makes an `Asking`, and its line in the registry.
"""

from evaluation.registry import Registry
from judging.asking.base import Asking
from judging.asking.embeddings import EMBEDDINGS
from judging.asking.forms import FORM
from judging.asking.perplexity import PERPLEXITIES
from judging.asking.scores.constraints import CONSTRAINTS
from judging.asking.scores.entry_scores import ENTRY_SCORES
from judging.asking.scores.geval import GEVAL

ASKINGS: Registry[Asking] = Registry(
    "way of asking",
    {
        "key": "the backend whose judges ask so",
        "steps": "the calls of an item",
        "last_step": "the call that follows the others",
        "request": "the request of a call",
        "read": "the reading of a reply",
    },
    (FORM, CONSTRAINTS, GEVAL, ENTRY_SCORES, EMBEDDINGS, PERPLEXITIES),
)


def asking_of(backend: str) -> Asking:
    """The way in which judges of this backend ask."""
    return ASKINGS.get(backend, FORM)
