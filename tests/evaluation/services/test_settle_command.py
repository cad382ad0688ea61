"""`manage.py settle`: what the page does, on the server and from a file."""

import pytest
from django.contrib.admin.models import LogEntry
from django.core.management import CommandError, call_command

from evaluation.models import Judgment, StudyMember
from evaluation.selectors import settled_judgments
from evaluation.services.answers import load_answers
from evaluation.services.settling import SETTLED
from evaluation.services.studies.verification import verify_study
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def pairs(owner):
    """A live study of three pairs."""
    return factories.launched_pairs("settled", 3, owner=owner, steps=factories.NO_STEPS)


@pytest.fixture
def keys(pairs):
    return list(pairs.items.filter(role="main").order_by("pk").values_list("key", flat=True))


def settle(*given, **options):
    call_command("settle", "settled", *given, **options)


def answered(key, preference):
    return (
        "--item",
        key,
        "--answer",
        f"preference={preference}",
        "--answer",
        "justification=It names the source.",
    )


def labels():
    return [
        next(each.label for each in load_answers(label) if each.question == "preference")
        for label in settled_judgments_in_order()
    ]


def settled_judgments_in_order():
    return Judgment.objects.filter(rater__kind="settled").order_by("item")


def last_line():
    return LogEntry.objects.order_by("pk").values_list("user__username", "change_message").last()


def test_an_item_is_settled_under_the_servers_name(pairs, keys, capsys):
    settle(*answered(keys[0], "r1"), "--reason", "Only it is true.", "--shown", "people")
    (label,) = settled_judgments(pairs)
    assert capsys.readouterr().out == "Settled 1 item.\n"
    assert (label.item.key, label.rater.label) == (keys[0], "command-line")
    assert label.trace == {SETTLED: {"reason": "Only it is true.", "shown": ["people"]}}
    assert last_line() == ("command-line", f"Settled item {keys[0]}. Reason: Only it is true.")
    assert list(verify_study(pairs)) == []


def test_a_members_label_is_theirs_with_no_more_than_their_rights(pairs, keys, owner, colleague, outsider):
    settle(*answered(keys[0], "r2"), "--reason", "So it is.", "--by", "owner")
    assert settled_judgments(pairs).get().rater.settled_by == owner
    assert last_line()[0] == "owner"
    StudyMember.objects.create(study=pairs, user=colleague, role="viewer")
    for who, said in (("colleague", "may read this study"), ("outsider", "no study"), ("nobody", "no user")):
        with pytest.raises(CommandError, match=said):
            settle(*answered(keys[0], "r1"), "--reason", "No.", "--by", who)
    assert labels() == ["r2"]


def test_a_label_is_taken_back_and_settled_anew(pairs, keys, capsys):
    settle(*answered(keys[0], "r1"), "--reason", "So it is.")
    settle(*answered(keys[0], "r2"), "--reason", "It is not.", "--by", "owner")
    settle("--item", keys[0], "--take-back", "--reason", "Too soon.")
    assert capsys.readouterr().out.endswith(f"Took back the settled label of {keys[0]}.\n")
    assert [each.rater.label for each in settled_judgments(pairs)] == ["owner"]
    with pytest.raises(CommandError, match=r"by command-line \(it was settled by owner\)"):
        settle("--item", keys[0], "--take-back")
    settle("--item", keys[0], "--take-back", "--of", "owner")
    with pytest.raises(CommandError, match="nobody has settled it"):
        settle("--item", keys[0], "--take-back", "--of", "owner")
    settle(*answered(keys[0], "tie"), "--reason", "After all.")
    assert [each.rater.label for each in settled_judgments(pairs)] == ["command-line"]


def test_a_file_settles_many_or_none(pairs, keys, tmp_path, capsys):
    file = tmp_path / "labels.csv"
    head = "item,preference,justification,reason\n"
    rows = f"{head}{keys[0]},r1,It names the source.,Checked.\n{keys[1]},tie,"
    file.write_text(f"{rows},\n")
    with pytest.raises(CommandError, match="Line 3: justification: an answer is missing"):
        settle("--file", str(file))
    assert not labels()
    file.write_text(f"{rows}Neither names one.,\n")
    settle("--file", str(file), "--reason", "Looked up.")
    assert capsys.readouterr().out == "Settled 2 items.\n"
    assert labels() == ["r1", "tie"]
    reasons = [each.trace[SETTLED]["reason"] for each in settled_judgments_in_order()]
    assert reasons == ["Checked.", "Looked up."]
    settle("--file", str(file))
    reasons = [each.trace[SETTLED]["reason"] for each in settled_judgments_in_order()]
    assert reasons == ["Checked.", "Neither names one."]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("preference,reason\nr1,So.\n", "needs a column 'item'"),
        ("item,preference,reason\nnone,r1,So.\n", "Line 2: The study has no item 'none'"),
        ("item,preference,reason\n{0},r9,So.\n", "Line 2: preference: 'r9' is not one of"),
        ("item,preference,reason\n{0},r1,So.,more\n", "Line 2: as many cells as columns are needed, 3"),
        ("item,visible_ms,reason\n{0},r1,So.\n", "no question 'visible_ms'"),
        ("item,preference,reason\n{0},r1,So.\n{0},r2,No.\n", "Line 3: {0} is settled in Line 2, too"),
        ("item,preference,reason\n\xff", "can't be read"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_with_its_line(pairs, keys, tmp_path, text, said):
    file = tmp_path / "labels.csv"
    file.write_bytes(text.format(*keys).encode("latin-1"))
    with pytest.raises(CommandError, match=said.format(*keys)):
        settle("--file", str(file))
    assert not labels()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--answer", "preference"), "is no answer: write it as"),
        (("--answer", "preference=r1", "--answer", "preference=r2"), "two answers to 'preference'"),
        (("--answer", "preference=r1", "--of", "owner", "--reason", "So."), "goes with --take-back"),
        (("--answer", "preference=r1", "--take-back"), "alone"),
    ],
)
def test_what_is_wrong_on_the_line_is_said(pairs, keys, given, said):
    with pytest.raises(CommandError, match=said):
        settle("--item", keys[0], *given)
    assert not labels()
