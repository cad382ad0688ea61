"""A small static model, built here."""

import numpy as np

VECTORS = {"[UNK]": [0, 0], "fox": [1, 0], "wolf": [0.8, 0.6], "tax": [0, 1]}


def build_model(folder):
    """Save a model of four words to a folder; the folder."""
    from model2vec import StaticModel
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    vocabulary = {word: place for place, word in enumerate(VECTORS)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    StaticModel(np.array(list(VECTORS.values()), dtype=np.float32), tokenizer).save_pretrained(folder)
    return folder
