"""Corpora are files of one folder, read strictly, found by BM25 as its formula has it, and indexed once."""

import json
import math
import os
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.refusals import Refused
from judging.generation.fragments import documents_of, fragments_for, written_fragments
from judging.generation.pipeline import QueryState, SourceQuery
from judging.retrieval.bm25 import K1, B, build_index
from judging.retrieval.corpora import CORPORA, open_corpus

BRIDGES = [
    {"id": "b1", "title": "Bridge of Ulm", "text": "The bridge was opened in 1894.", "source": "https://example.org/1"},
    {"id": "b2", "title": "River", "text": "A river with a bridge over the river.", "source": "Atlas"},
    {"id": "b3", "text": "Soup is hot."},
]  # fmt: skip


@pytest.fixture
def folder(settings, tmp_path):
    place = tmp_path / "corpora"
    place.mkdir()
    settings.ASSAY_CORPORA = str(place)
    return place


def written(folder, lines, name="bridges.jsonl"):
    path = folder / name
    path.write_text("\n".join(each if isinstance(each, str) else json.dumps(each) for each in lines) + "\n")
    return path


def test_the_best_fragments_come_first_with_their_title_and_source(folder):
    written(folder, BRIDGES)
    corpus = open_corpus("bridges.jsonl")
    found = corpus.search("Which BRIDGE leads over a river?", 5)
    assert [each.id for each in found] == ["b2", "b1"]
    assert (found[1].title, found[1].source) == ("Bridge of Ulm", "https://example.org/1")
    assert found[0].score > found[1].score > 0
    assert [each.id for each in corpus.search("soup", 5)] == ["b3"]
    assert corpus.search("nowhere at all", 5) == corpus.search("?!", 5) == []
    assert len(corpus) == 3


def test_a_corpus_is_indexed_once_until_its_file_changes(folder):
    path = written(folder, BRIDGES)
    first = open_corpus("bridges.jsonl")
    assert open_corpus("bridges.jsonl") is first
    written(folder, BRIDGES[:2])
    os.utime(path, (1, 1))
    again = open_corpus("bridges.jsonl")
    assert again.search("soup", 5) == []
    assert again.digest != first.digest


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 2: it is no JSON"),
        ("[1]", "line 2: it is no JSON object"),
        ({"id": "x"}, "line 2: text is no text"),
        ({"id": 3, "text": "x"}, "line 2: id is no text"),
        ({"id": "x", "text": "x", "title": ["x"]}, "line 2: title is no text"),
        ({"id": "b1", "text": "x"}, "line 2: the id b1 appears twice"),
    ],
)
def test_a_line_that_is_no_fragment_is_named(folder, line, said):
    written(folder, [BRIDGES[0], line])
    with pytest.raises(Refused, match=said):
        open_corpus("bridges.jsonl")


def test_nothing_outside_the_folder_is_read(folder, tmp_path):
    written(folder, BRIDGES)
    secret = tmp_path / "secret.jsonl"
    secret.write_text(json.dumps(BRIDGES[0]))
    (folder / "link.jsonl").symlink_to(secret)
    (folder / "down").mkdir()
    for name in ("../secret.jsonl", str(secret), "link.jsonl", ".", "down/../../secret.jsonl", "a\0b"):
        with pytest.raises(Refused, match="not inside the folder"):
            CORPORA.file(name)
    for name in ("other.jsonl", "down"):
        with pytest.raises(Refused, match=r"There is no file .* It has: bridges\.jsonl"):
            CORPORA.file(name)
    assert CORPORA.file("down/../bridges.jsonl") == folder / "bridges.jsonl"


def test_without_a_folder_nothing_is_read(settings):
    settings.ASSAY_CORPORA = ""
    with pytest.raises(Refused, match="its operator sets ASSAY_CORPORA"):
        open_corpus("bridges.jsonl")


def test_an_empty_file_is_no_corpus(folder):
    written(folder, ["", ""])
    with pytest.raises(Refused, match="no fragments"):
        open_corpus("bridges.jsonl")


TEXTS = st.lists(
    st.lists(st.sampled_from(["ant", "bee", "cat", "dog"]), max_size=6).map(" ".join), min_size=1
)


@given(texts=TEXTS, query=st.lists(st.sampled_from(["ant", "bee", "eel"]), max_size=3).map(" ".join))
def test_scores_are_those_of_the_formula(texts, query):
    """Lucene's BM25: idf is ln(1 + (N - n + 0.5) / (n + 0.5)), and the constant k1 + 1 is left out."""
    documents = [re.findall(r"\w+", text) for text in texts]
    mean = sum(map(len, documents)) / len(documents)
    expected = {}
    for row, document in enumerate(documents):
        counts, score = Counter(document), 0.0
        for word in query.split():
            n = sum(word in each for each in documents)
            idf = math.log(1 + (len(documents) - n + 0.5) / (n + 0.5))
            if counts[word]:
                score += idf * counts[word] / (counts[word] + K1 * (1 - B + B * len(document) / mean))
        if score:
            expected[row] = score
    found = build_index(texts).best(query, len(texts))
    assert dict(found) == pytest.approx(expected, rel=1e-5)
    scores = [score for _, score in found]
    assert scores == sorted(scores, reverse=True)
    assert build_index(texts).best(query, 2) == found[:2]


def test_without_retrieval_a_querys_documents_are_its_fragments():
    documents = [
        {"title": "Ulm", "url": "https://example.org", "snippet": "In 1894."},
        {"title": "Nothing"},
        {"text": "Over it."},
    ]
    state = QueryState(
        query=SourceQuery(key="q", text="?", documents=documents), seed=1, options={}, casts={}
    )
    found = fragments_for(state, 5)
    assert [(each["number"], each["text"]) for each in found] == [(1, "In 1894."), (2, "Over it.")]
    assert documents_of(found)[0] == {"title": "Ulm", "text": "In 1894.", "url": "https://example.org"}
    assert documents_of(found)[1] == {"title": "", "text": "Over it."}
    assert written_fragments(found) == [("Fragment 1", "Ulm\nIn 1894."), ("Fragment 2", "Over it.")]
    assert len(fragments_for(state, 1)) == 1
