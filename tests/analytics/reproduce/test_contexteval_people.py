"""ContextEval's people by the reading of its release, on files of a few items that are counted by hand."""

import json

import pytest

from analytics.reproduce.releases.contexteval import GEMINI, GPT
from tests.analytics.reproduce.reproducing import reproduced
from tests.analytics.reproduce.test_contexteval import folder, judgment  # noqa: F401  # a fixture
from tests.fixtures.contexteval import CC, NC, NN, PAIRS, Row

pytestmark = pytest.mark.django_db
AGREEMENT, GAINS = "Agreement of people", "What a context adds to people's agreement"
FOLLOW_UPS, WINS = "Agreement of people where satisfied follow-ups differ", "Win rates by majority of people"
PAIR = f"{GPT} vs {GEMINI}"
# Of four queries under two settings, what three people said in the order of the file.
SAID = {
    NN: [("tie", "a", "b"), ("a", "tie", "b"), ("a", "a", "a"), ("tie", "tie", "a")],
    NC: [("b", "a", "tie"), ("a", "a", "b"), ("tie", "tie", "tie"), ("b", "b", "b")],
}


def write(path, rows):
    (path / "all_human_judgements.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def judgments(said):
    """The second rater of each item sees the responses in the other order."""
    return [
        judgment(Row(arm, *PAIRS[0], index, labels), rep, label)
        for arm, items in said.items()
        for index, labels in enumerate(items)
        for rep, label in enumerate(labels)
    ]


def test_the_label_that_came_first_counts(tmp_path, capsys):
    figures, _ = reproduced(capsys, "contexteval", write(tmp_path, judgments(SAID)), "--as-published")
    without = figures[AGREEMENT, f"{PAIR}, {NN}, without ties"]
    # Ours has the three items without a tie as their most common label; of these, the first has its tie first.
    assert without["ours"] == pytest.approx(100 * (1 / 3 + 1 / 3 + 1) / 3)
    assert without["as_published"] == pytest.approx(100 * (1 / 3 + 1) / 2)
    assert "A tie came first in 1 of 2." in without["note"]
    with_context = figures[AGREEMENT, f"{PAIR}, {NC}, without ties"]
    assert (
        with_context["ours"] == with_context["as_published"] == pytest.approx(100 * (1 / 3 + 2 / 3 + 1) / 3)
    )
    for arm, share in ((NN, (1 / 3 + 1 / 3 + 1 + 2 / 3) / 4), (NC, (1 / 3 + 2 / 3 + 1 + 1) / 4)):
        found = figures[AGREEMENT, f"{PAIR}, {arm}"]
        assert found["ours"] == found["as_published"] == pytest.approx(100 * share)
    assert figures[AGREEMENT, f"{PAIR}, {CC}"]["as_published"] is None


def test_the_order_of_lines_is_what_counts(tmp_path, capsys):
    turned = {NN: [labels[::-1] for labels in SAID[NN]]}
    figures, _ = reproduced(capsys, "contexteval", write(tmp_path, judgments(turned)), "--as-published")
    without = figures[AGREEMENT, f"{PAIR}, {NN}, without ties"]
    assert without["ours"] == without["as_published"] == pytest.approx(100 * (1 / 3 + 1 / 3 + 1) / 3)
    assert "A tie came first in 0 of 2." in without["note"]
    # A file without a setting that shows a context has no follow-ups.
    assert figures[FOLLOW_UPS, f"{PAIR}, {NC}"]["note"] == "Not in the files."


def test_a_context_adds_the_difference_of_two_means(tmp_path, capsys):
    figures, found = reproduced(capsys, "contexteval", write(tmp_path, judgments(SAID)), "--as-published")
    added = figures[GAINS, f"{PAIR}, {NC}, without ties"]
    # Only the first two queries are without a tie as their most common label in both settings.
    assert added["ours"] == pytest.approx(100 * ((1 / 3 - 1 / 3) + (2 / 3 - 1 / 3)) / 2)
    assert added["as_published"] == pytest.approx(100 * (2 / 3 - 2 / 3))
    everything = figures[GAINS, f"{PAIR}, {NC}"]
    assert [everything["ours"], everything["as_published"]] == pytest.approx([100 * (3 / 4 - 7 / 12)] * 2)
    assert figures[GAINS, f"{PAIR}, {CC}"]["as_published"] is None
    assert figures[WINS, f"{PAIR}, {NN}: tie"]["as_published"] == 50
    assert figures[WINS, f"{PAIR}, {NC}: {GEMINI}"]["as_published"] == pytest.approx(100 / 3)
    [note] = [each["note"] for each in found["tables"] if each["title"].startswith(GAINS)]
    assert "unpaired" in note


def checked(rows, satisfied):
    """With the numbers of follow-ups that each rater found satisfied by the two systems, each of two."""
    for row, (by_gpt, by_gemini) in zip(rows, satisfied, strict=True):
        sides = {1: by_gpt, 2: by_gemini} if row["model_1"] == GPT else {1: by_gemini, 2: by_gpt}
        row["follow_up_qas"] = [
            {"qa": f"Q: Why {at}? A: So."}
            | {f"satisfied_{side}": None if n is None else int(n >= at) for side, n in sides.items()}
            for at in (1, 2)
        ]
    return rows


def test_follow_ups_as_they_were_shown(tmp_path, capsys):
    """By system, the responses of the first item differ by 2, of the second by 2 / 3; as shown, by 2 / 3 and by 2,
    as the second rater saw them turned. Those of the third, whose label is a tie, differ by 1 for its one rater with
    every answer."""
    rows = judgments({NC: [("a", "a", "a"), ("b", "b", "a"), ("tie", "tie", "tie")]})
    satisfied = [(2, 0)] * 3 + [(2, 0), (0, 2), (2, 0)] + [(1, 0), (None, 0), (None, None)]
    path = write(tmp_path, checked(rows, satisfied))
    figures, _ = reproduced(capsys, "contexteval", path, "--as-published")
    found = figures[FOLLOW_UPS, f"{PAIR}, {NC}"]
    assert found["ours"] == 100
    assert found["as_published"] == pytest.approx(100 * (2 / 3 + 1) / 2)


def test_a_file_from_counts_does_not_blame_the_rule(folder, capsys):  # noqa: F811
    figures, _ = reproduced(capsys, "contexteval", folder, "--as-published")
    without = {
        name: each
        for (title, name), each in figures.items()
        if title == AGREEMENT and name.endswith("without ties")
    }
    assert len(without) == 9
    assert all(each["difference_as_published"] for each in without.values())
    assert all("put together from counts" in each["note"] for each in without.values())
    added = figures[GAINS, f"{PAIR}, {CC}, without ties"]
    assert (added["difference_as_published"], "put together from counts" in added["note"]) == (1.41, True)
    assert "put together from counts" not in figures[GAINS, f"{PAIR}, {CC}"]["note"]
    # Every rater of these finds the same response better, but the second one sees it on the other side.
    shown = figures[FOLLOW_UPS, f"{PAIR}, {NC}"]
    assert (shown["as_published"], "no item is left" in shown["note"]) == (None, True)
    won = [each for (title, _), each in figures.items() if title == WINS]
    assert [each["as_published"] for each in won] == pytest.approx([each["ours"] for each in won])
    # The same is said where the reading itself wasn't asked for.
    plain, _ = reproduced(capsys, "contexteval", folder)
    assert {key: each["note"] for key, each in plain.items()} == {
        key: each["note"] for key, each in figures.items()
    }
    assert {each["as_published"] for each in plain.values()} == {None}
