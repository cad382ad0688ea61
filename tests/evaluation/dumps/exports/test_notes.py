"""The table of notes."""

import csv
import io

import pytest

from evaluation.dumps.exports.stored_study import StoredStudy
from evaluation.dumps.formats.notes import FORMAT, HEAD
from evaluation.models import Note
from tests import factories
from tests.crowd import come, hand_in

pytestmark = pytest.mark.django_db


def test_notes_stand_with_their_items_and_judgments(owner):
    study = factories.launched_pairs("noted", 1, owner=owner, steps=factories.NO_STEPS)
    assert not FORMAT.suits(study)
    judgment = hand_in(come(study).token).judgment
    for about, text in ((None, "=1+1"), (judgment, "Two\nlines, and more.")):
        Note.objects.create(study=study, item=judgment.item, judgment=about, text=text, by=owner)
    out = io.BytesIO()
    FORMAT.write(out, StoredStudy(study), lambda *told: None)
    head, *rows = csv.reader(io.StringIO(out.getvalue().decode()))
    day = f"{Note.objects.first().at:%Y-%m-%d}"
    assert tuple(head) == HEAD
    assert rows == [
        [judgment.item.key, "", "", "owner", day, "'=1+1"],
        [judgment.item.key, judgment.rater.pseudonym, "0", "owner", day, "Two\nlines, and more."],
    ]
    assert FORMAT.suits(study)
