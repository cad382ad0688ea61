"""Numbered fragments of a corpus for each query, by BM25 (CondAmbigQA section 3.3, which embeds instead)."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, ClassVar

from evaluation.refusals import Refused
from judging.backends.options import Input, JudgeOption
from judging.generation.fragments import FRAGMENTS, MOST, RETRIEVAL, number_of_fragments
from judging.generation.pipeline import (
    Cast,
    Content,
    ContentProblem,
    Pipeline,
    PipelineStep,
    Planned,
    ProductText,
    QueryState,
    Unprepared,
)
from judging.generation.shapes import KEPT, LONG_TEXT
from judging.retrieval.bm25 import K1, B
from judging.retrieval.corpora import CORPORA, Corpus, open_corpus


class Search(PipelineStep):
    key, label = FRAGMENTS, "Fragments"
    fields: ClassVar[Mapping[str, type]] = {
        "number": int,
        "title": str,
        "text": str,
        "source": str,
        "score": float,
    }
    shapes: ClassVar = {**dict.fromkeys(("number", "id", "score"), KEPT), "text": LONG_TEXT}

    def plan(self, state: QueryState) -> Iterable[Planned]:
        name = str(state.options["corpus"])
        corpus = _opened(name)
        found = corpus.search(state.query.text, int(state.options["fragments"]))
        about = {"corpus": name, "sha256": corpus.digest, "ranking": "BM25", "k1": K1, "b": B}
        products = [{"number": number, **asdict(each)} for number, each in enumerate(found, 1)]
        return [Planned(about=about, products=products)]

    def shown(self, content: Content) -> ProductText:
        score = content.get("score")
        lines = [
            ("Fragment", f"{content.get('number', '')}. {content.get('title', '')}".strip(". ")),
            ("Source", str(content.get("source") or "")),
            ("Score", f"{score:.2f}" if isinstance(score, float) else ""),
        ]
        return ProductText(content["text"], [each for each in lines if each[1]])

    def problems(self, content: Any) -> list[ContentProblem]:
        text = content.get("text") if isinstance(content, dict) else None
        if isinstance(text, str) and text.strip():
            return []
        return [ContentProblem("A fragment is an object with a text.", "text")]


class Retrieval(Pipeline):
    key, label = RETRIEVAL, "Retrieval"
    about = (
        "Finds fragments of a corpus for each query, by BM25, for pipelines that draft and answer from them, or as "
        "the queries' documents."
    )
    options = (
        JudgeOption(
            key="corpus", label="Corpus", help="A file in the folder of corpora that the operator has set.",
            needed="Name the corpus to search.", hint=CORPORA.hint,
        ),
        JudgeOption(
            key="fragments", label="Fragments of a query", input=Input.NUMBER, default=20,
            help=f"At most so many, up to {MOST}.", clean=number_of_fragments,
        ),
    )  # fmt: skip
    steps = (Search(),)

    def problems(self, options: Mapping[str, Any], casts: Mapping[str, Cast]) -> list[str]:
        try:
            CORPORA.file(str(options["corpus"]))
        except Refused as refused:
            return [str(refused)]
        return []

    def prepare(self, options: Mapping[str, Any]) -> None:
        _opened(str(options["corpus"]))


def _opened(name: str) -> Corpus:
    try:
        return open_corpus(name)
    except Refused as refused:
        raise Unprepared(str(refused)) from None


PIPELINE = Retrieval()
