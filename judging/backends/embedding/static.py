"""Embeddings in this process, without an endpoint: a static model's word vectors, averaged (model2vec, an extra).

The weights are a folder on this machine; nothing is downloaded.
"""

from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from judging.backends.base import CallFailed, StopRun
from judging.backends.embedding.similarity import Vectors, checked_vectors

if TYPE_CHECKING:
    from model2vec import StaticModel

NEEDED_FILES = ("model.safetensors", "tokenizer.json", "config.json")
NOT_INSTALLED = (
    "Static embeddings need an extra that is not installed; where Assay's processes run: "
    "pip install --require-hashes -r requirements/embeddings.txt"
)


class StaticEmbeddings:
    """A static model in a folder, loaded when it is first asked; `name` is what sentences call the folder."""

    def __init__(self, folder: str | Path, name: str = "") -> None:
        self._folder = Path(folder)
        self._name = name or str(folder)

    def require(self) -> None:
        """StopRun where the extra or one of the model's files is missing."""
        missing = [name for name in NEEDED_FILES if not (self._folder / name).is_file()]
        if missing:
            raise StopRun(f"There is no static model in {self._name}: {', '.join(missing)} missing.")
        if find_spec("model2vec") is None:
            raise StopRun(NOT_INSTALLED)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors (texts, dimensions) of several texts, whole whatever their length.

        StopRun where the extra or the model is missing; CallFailed for a text of which the model knows no word.
        """
        if not texts:
            raise ValueError("There is no text to embed.")
        vectors = np.asarray(self._model.encode(list(texts), use_multiprocessing=False), dtype=np.float64)
        unknown = next((text for text, vector in zip(texts, vectors, strict=True) if not vector.any()), None)
        if unknown is not None:
            raise CallFailed("The static model knows no word of a text.")
        return checked_vectors(list(vectors))

    @cached_property
    def _model(self) -> "StaticModel":
        # Looked for first: what is no folder the library would take for the name of a model to download.
        self.require()
        from model2vec import StaticModel

        try:
            return StaticModel.from_pretrained(self._folder, max_length=None, force_download=False)
        except Exception as error:  # safetensors and tokenizers export none of their own
            raise StopRun(
                f"The static model in {self._name} can't be read ({type(error).__name__})."
            ) from None
