"""The embedding judge without an endpoint: a static model on this machine, in the folder that the operator allows."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings

from evaluation.protocols import QuestionSpec
from evaluation.protocols.base import Stimulus
from judging.backends.base import CallFailed, Draws, Heuristic, StopRun, Unmeasurable
from judging.backends.embedding.measure import COSINE, compared_texts, nearest_cosines
from judging.backends.measured import MARGIN, fits_scale, is_comparison, verdict_by_measure
from judging.backends.options import JudgeOption

if TYPE_CHECKING:
    from judging.backends.embedding.static import StaticEmbeddings

FOLDER = JudgeOption(
    key="folder",
    label="Folder of the model",
    help="Its name in the folder of static models that the operator of this installation has set.",
)


class StaticSimilarity:
    """Cosines of an item's texts by one static model."""

    def __init__(self, embeddings: "StaticEmbeddings") -> None:
        self.embeddings = embeddings
        # An item's verdict and its measure are asked for one after the other.
        self._cosines = lru_cache(maxsize=1)(self._compute)

    def numbers(self, stimulus: Stimulus) -> dict[str, float]:
        texts = compared_texts(stimulus, of_each=False)
        return nearest_cosines(stimulus, texts, self._cosines(tuple(texts)))

    def _compute(self, texts: tuple[str, ...]) -> list[list[float]]:
        from judging.backends.embedding.similarity import cosines

        try:
            return cosines(self.embeddings.embed(texts))
        except CallFailed as reason:
            raise Unmeasurable(str(reason)) from None


def model_folder(name: str) -> Path:
    """The folder of this name among the allowed models; StopRun where it is none of them."""
    allowed = settings.ASSAY_STATIC_MODELS
    if not allowed:
        raise StopRun(
            "This installation has no folder of static models; its operator sets ASSAY_STATIC_MODELS."
        )
    if not name:
        raise StopRun("Name the folder of a static model.")
    root = Path(allowed).resolve()
    # Links are followed first: one that leads out of the folder is refused, too.
    found = (root / name).resolve()
    if found == root or not found.is_relative_to(root):
        raise StopRun(f"{name} is not inside the folder of static models.")
    return found


def _configured(heuristic: Heuristic, options: Mapping[str, Any]) -> Heuristic:
    from judging.backends.embedding.static import StaticEmbeddings

    name = options["folder"]
    embeddings = StaticEmbeddings(model_folder(name), name)
    embeddings.require()
    similarity = StaticSimilarity(embeddings)
    return replace(
        heuristic,
        rule=partial(_verdict, similarity, options["margin"]),
        numbers=lambda stimulus: {COSINE.key: similarity.numbers(stimulus)},
    )


def _verdict(
    similarity: StaticSimilarity, margin: float, question: QuestionSpec, stimulus: Stimulus, draws: Draws
) -> Any:
    numbers = similarity.numbers(stimulus)
    return verdict_by_measure(question, stimulus, COSINE, numbers, draws, margin=margin)


def _without_model(question: QuestionSpec, stimulus: Stimulus, draws: Draws) -> Any:
    raise StopRun("Name the folder of a static model.")


STATIC_EMBEDDING = Heuristic(
    key="static_embedding",
    label="static embeddings compared with the reference",
    rule=_without_model,
    answers=is_comparison,
    answers_if_named=partial(fits_scale, measure=COSINE),
    measures=(COSINE,),
    sees_reference=True,
    measures_each=True,
    options=(FOLDER, MARGIN),
    configured=_configured,
)
