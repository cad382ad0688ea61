"""Numbers that a text gives by itself or against references, without a model: the text metrics, by key.

One more is a module here, which makes a `TextMetric`, and its place in the registry.
"""

from evaluation.registry import Registry
from judging.backends.text_metrics.base import TextMetric
from judging.backends.text_metrics.bleu import BLEU
from judging.backends.text_metrics.lengths import CHARACTERS, WORDS
from judging.backends.text_metrics.readability import FLESCH
from judging.backends.text_metrics.rouge import ROUGE_1, ROUGE_2, ROUGE_L

TEXT_METRICS: Registry[TextMetric] = Registry(
    "text metric",
    {
        "key": "its name where it is stored",
        "label": "its name in reports",
        "direction": "whether higher is better, lower is, or neither",
        "needs_reference": "whether it compares with references",
    },
    (ROUGE_1, ROUGE_2, ROUGE_L, BLEU, WORDS, CHARACTERS, FLESCH),
)
