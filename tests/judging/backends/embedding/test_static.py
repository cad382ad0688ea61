"""Embeddings without an endpoint, by a small static model that the tests build."""

import subprocess
import sys

import numpy as np
import pytest

from judging.backends.base import CallFailed, StopRun
from judging.backends.embedding.similarity import cosine
from judging.backends.embedding.static import NOT_INSTALLED, StaticEmbeddings
from tests.judging.backends.embedding.static_model import build_model


@pytest.fixture
def folder(tmp_path):
    return build_model(tmp_path / "model")


def test_a_text_is_the_mean_of_its_words(folder):
    found = StaticEmbeddings(folder).embed(["Fox", "fox tax", "wolf?"])
    assert found.dtype == np.float64
    assert found == pytest.approx(np.array([[1, 0], [0.5, 0.5], [0.8, 0.6]]), abs=1e-6)
    assert cosine(found[0], found[2]) == pytest.approx(0.8)


def test_a_long_text_is_not_cut(folder):
    [vector] = StaticEmbeddings(str(folder)).embed(["fox " * 600 + "tax " * 600])
    assert vector == pytest.approx([0.5, 0.5], abs=1e-6)


@pytest.mark.parametrize("text", ["", "quokka", " \n"])
def test_a_text_without_a_known_word_has_no_vector(folder, text):
    with pytest.raises(CallFailed, match="knows no word of a text"):
        StaticEmbeddings(folder).embed(["fox", text])


def test_no_text_is_no_request(folder):
    with pytest.raises(ValueError, match="no text"):
        StaticEmbeddings(folder).embed([])


def test_a_folder_without_a_model_is_never_looked_for_elsewhere(tmp_path):
    with pytest.raises(StopRun, match=r"no static model in minishlab/potion.*model\.safetensors"):
        StaticEmbeddings("minishlab/potion-base-8M").embed(["fox"])
    with pytest.raises(StopRun, match="no static model in"):
        StaticEmbeddings(tmp_path).embed(["fox"])


def test_a_broken_model_is_said_so(folder):
    (folder / "model.safetensors").write_bytes(b"broken")
    with pytest.raises(StopRun, match="can't be read"):
        StaticEmbeddings(folder).embed(["fox"])


def test_without_the_extra_the_sentence_names_it(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "model2vec", None)
    with pytest.raises(StopRun) as caught:
        StaticEmbeddings(folder).embed(["fox"])
    assert str(caught.value) == NOT_INSTALLED
    assert "requirements/embeddings.txt" in NOT_INSTALLED


def test_the_library_is_imported_only_when_it_is_asked():
    program = "import sys, judging.backends.embedding.static; print('model2vec' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
