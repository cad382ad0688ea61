"""Every sentence that the goldens' reports say, in one file to be read as the difference of texts, and its lint.

Numbers stand as 0. Where a change is meant, `ASSAY_WRITE_GOLDENS=1` and this test write the file anew, after the
goldens.
"""

import os
import re
from pathlib import Path

import pytest

from tests.analytics.reports import goldens
from tests.analytics.reports.test_goldens import WRITE

pytestmark = pytest.mark.embedded
FILE = Path(__file__).with_name("sentences.txt")
# Tables, questions quoted whole, and addresses are no sentences of ours.
NOT_OURS = ("|", "```", "http")
NUMBER = re.compile(r"(?<![\w-])[\N{MINUS SIGN}-]?\d[\d,.]*(?<![,.])(?![\w-])")
HASH = re.compile(r"\b[0-9a-f]{64}\b")
END = re.compile(r"(?<=[.?!]) (?=[A-Z“])")
# Doubled marks, a space before one, and a gap where something is missing.
SLIPS = re.compile(r"[?!][.,]|\.[:;,]|(?<!\.)\.\.(?!\.)|\s[,;](?=\s|$)|\(\)|asked for [;.]")
# A word that asks for a noun, and no noun.
NO_NOUN = re.compile(r"\b(the|an?|of|than)\s?[.,;:)]")
# As they may end a sentence: "what it is made of".
ENDS = re.compile(r"\b(made|consists?|out|part|rid|asked) of[.,;:)]")


def sentences():
    found = set()
    for name in goldens.MAKERS:
        for line in goldens.read(name)[-1]:
            if line.startswith(NOT_OURS):
                continue
            text = NUMBER.sub(
                "0", HASH.sub("0", line.strip(" *#>-¹²³⁴⁵⁶⁷⁸⁹⁰").replace("\\", "").replace("**", ""))
            )
            found |= {each.strip() for each in END.split(text) if " " in each.strip()}
    return sorted(found)


def test_every_sentence_is_in_the_file():
    found = sentences()
    if WRITE in os.environ:
        FILE.write_text("\n".join(found) + "\n", "utf-8")
    kept = FILE.read_text("utf-8").splitlines()
    assert sorted(set(kept) - set(found)) == [], "said no longer"
    assert sorted(set(found) - set(kept)) == [], "not in the file yet"


def test_no_sentence_has_a_gap_or_a_doubled_mark():
    kept = FILE.read_text("utf-8").splitlines()
    assert [each for each in kept if SLIPS.search(each)] == []
    assert [each for each in kept if NO_NOUN.search(each) and not ENDS.search(each)] == []


@pytest.mark.parametrize("name", goldens.MAKERS)
def test_names_are_spelt_as_they_are(name):
    """A label in the middle of a sentence keeps its capitals."""
    half, _, markdown = goldens.read(name)
    labels = {
        value
        for path, value in half.items()
        if re.fullmatch(r"report: study\.(arms|systems)\[\d+\]\.(label|key)", path) and isinstance(value, str)
    }
    # A label of words, such as "All items", may begin with a small letter in the middle of a sentence.
    changed = {label[:1].lower() + label[1:] for label in labels if any(map(str.isupper, label[1:]))}
    text = "\n".join(markdown)
    assert [each for each in changed - labels if re.search(rf"(?<![\w“]){re.escape(each)}(?!\w)", text)] == []
