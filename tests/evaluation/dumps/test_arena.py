"""Chatbot Arena's votes, of which one says that both are bad."""

import orjson
import pytest
from django.core.management import CommandError, call_command

from evaluation.models import Item, Judgment, Study
from evaluation.services.answers import load_answers
from evaluation.services.studies.verification import verify_study

pytestmark = pytest.mark.django_db
VOTES = {"a0": "model_a", "a1": "tie (bothbad)", "a2": "model_b", "a3": "tie"}


def said(*texts):
    return [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(texts)]


def row(key="a0", **changes):
    return {
        "question_id": key,
        "model_a": "birch",
        "model_b": "aspen",
        "winner": VOTES.get(key, "tie"),
        "judge": f"u-{key}",
        "conversation_a": said("What is a quark?", "A part of matter."),
        "conversation_b": said("What is a quark?", "A cheese."),
        "turn": 1,
        "language": "English",
        "tstamp": 1682351591.1322,
        **changes,
    }


def imported(path, rows, slug="arena"):
    file = path / "arena.jsonl"
    file.write_bytes(b"\n".join(orjson.dumps(each) for each in rows))
    call_command("import_published", "arena", str(file), slug=slug, verbosity=0)
    return Study.objects.get(slug=slug)


def votes(study):
    return {
        judgment.item.key: load_answers(judgment)[0].label
        for judgment in Judgment.objects.filter(item__study=study)
    }


def test_each_vote_is_taken_over_as_it_was_given(tmp_path):
    study = imported(tmp_path, [row(key) for key in VOTES])
    # Aspen comes before birch, which was model a.
    assert votes(study) == {"a0": "r2", "a1": "both_bad", "a2": "r1", "a3": "tie"}
    assert list(verify_study(study)) == []
    (preference,) = [each for each in study.revisions.get().spec["questions"] if each["kind"] == "preference"]
    assert preference["options"]["form"] == {"both_bad": True}


def test_a_dump_of_them_reads_back_equal(tmp_path):
    study = imported(tmp_path, [row(key) for key in VOTES])
    dump, again = tmp_path / "dump.jsonl", tmp_path / "again.jsonl"
    call_command("export", study.slug, out=str(dump), verbosity=0)
    call_command("import_study", str(dump), slug="again", verbosity=0)
    call_command("export", "again", out=str(again), verbosity=0)
    assert b'"both_bad"' in dump.read_bytes()
    assert votes(Study.objects.get(slug="again")) == votes(study)
    assert dump.read_bytes().split(b"\n")[1:] == again.read_bytes().split(b"\n")[1:]


def test_a_study_that_does_not_offer_it_refuses_the_vote_with_its_line(tmp_path):
    study = imported(tmp_path, [row(key) for key in VOTES])
    dump = tmp_path / "dump.jsonl"
    call_command("export", study.slug, out=str(dump), verbosity=0)
    head, *items = [orjson.loads(line) for line in dump.read_bytes().splitlines()]
    for spec in (head["spec"], *(each["spec"] for each in head.get("revisions", ()) if "spec" in each)):
        for question in spec["questions"]:
            question["options"].pop("form", None)
    for record in (head, *(each for each in head.get("revisions", ()))):
        for name in [name for name in record if name.endswith("hash")]:
            del record[name]
    dump.write_bytes(b"\n".join(map(orjson.dumps, [head, *items])))
    with pytest.raises(CommandError) as refused:
        call_command("import_study", str(dump), slug="again", verbosity=0)
    [place] = [number for number, item in enumerate(items, 2) if item["key"] == "a1"]
    assert f"line {place}: judgments[0]: answers: preference: 'both_bad' is not one of r1, r2, tie" in str(
        refused.value
    )


def test_several_turns_are_compared_as_a_conversation(tmp_path):
    asked = ("Name a river", "And a lake?")
    study = imported(
        tmp_path,
        [
            row(
                conversation_a=said(asked[0], "The Oder.", asked[1], "Laacher See."),
                conversation_b=said(asked[0], "The Elbe.", asked[1], "The Titisee."),
            )
        ],
    )
    stimulus = Item.objects.get(study=study).stimulus
    assert [turn["text"] for turn in stimulus["query"]["turns"]] == list(asked)
    first, _ = stimulus["responses"]
    assert [turn["text"] for turn in first["turns"]] == ["The Elbe.", "The Titisee."]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"winner": "model_c"}, "winner is 'model_c' and not model_a, model_b, tie or tie"),
        ({"conversation_b": said("Else?", "A cheese.")}, "the two conversations do not ask the same"),
        ({"conversation_b": said("What is a quark?")}, "is not messages of user and assistant in turn"),
        ({"conversation_a": ["x"]}, "conversation_a is not a list of messages with their content"),
        ({"judge": 7}, "judge is 7"),
        ({"model_b": "birch"}, "No row compares two models."),
    ],
)
def test_what_is_no_vote_is_refused(changes, message, tmp_path):
    with pytest.raises(CommandError, match=message):
        imported(tmp_path, [row(**changes)])
