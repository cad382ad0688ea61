"""ContextEval's tables from judgments in the form of its release, rebuilt from the counts that the tables give."""

import json

import pytest
from django.core.management import CommandError, call_command

from analytics.reproduce.releases.contexteval import CLAUDE, GEMINI, GEMMA, GPT, JAMBA, LLAMA
from evaluation.models import Study
from tests.analytics.reproduce.reproducing import reproduced
from tests.fixtures.contexteval import CC, NC, NN, rows
from tests.published import published_data

pytestmark = pytest.mark.django_db
SYSTEMS = {
    "GPT-4o": GPT, "Gemini-1.5-Flash": GEMINI, "Claude-3.5-Sonnet": CLAUDE, "Llama-3.1-405B": LLAMA,
    "Gemma-2-27B": GEMMA, "Jamba-1.5-Large": JAMBA,
}  # fmt: skip
SETTINGS = {NN: "gen_wo_ctx_eval_wo_ctx", NC: "gen_wo_ctx_eval_w_ctx", CC: "gen_w_ctx_eval_w_ctx"}


def judgment(row, rep, label):
    """The second rater sees the responses in the other order."""
    systems = [SYSTEMS[row.system_a], SYSTEMS[row.system_b]][:: -1 if rep == 1 else 1]
    chosen = {"a": SYSTEMS[row.system_a], "b": SYSTEMS[row.system_b]}.get(label)
    context = row.arm != NN
    return {
        "query": f"Question {row.index}?"
        + (" Follow-Up Questions and Answers Q: Why? A: So." if context else ""),
        "example_id": f"{row.index}_{SETTINGS[row.arm]}_rep{rep}",
        "setting": SETTINGS[row.arm],
        "model_1": systems[0],
        "model_2": systems[1],
        "response_1": f"{systems[0]} on {row.index}, {row.arm == CC}.",
        "response_2": f"{systems[1]} on {row.index}, {row.arm == CC}.",
        "overall_preference": "Tie" if chosen is None else f"Response {systems.index(chosen) + 1}",
        "justification": "It says more about it.",
        "follow_up_qas": [
            {"qa": "Q: Why? A: So.", "satisfied_1": int(rep != 1), "satisfied_2": int(rep == 1)}
        ]
        if context
        else [],
    }


@pytest.fixture
def folder(tmp_path):
    """A file per pair of systems, a JSON list each, as in the repository."""
    pairs = {}
    for row in rows():
        name = f"{SYSTEMS[row.system_a]}_vs_{SYSTEMS[row.system_b]}.jsonl"
        pairs.setdefault(name, []).extend(judgment(row, rep, label) for rep, label in enumerate(row.labels))
    (tmp_path / "human_judgements").mkdir()
    for name, judgments in pairs.items():
        (tmp_path / "human_judgements" / name).write_text(json.dumps(judgments))
    return tmp_path


def test_tables_4a_and_6(folder, capsys):
    figures, found = reproduced(capsys, "contexteval", folder)
    assert [len(table["figures"]) for table in found["tables"]] == [18, 12, 6, 27]
    told = {
        name: each
        for (title, name), each in figures.items()
        if title in ("Agreement of people", "Win rates by majority of people")
        and not name.endswith("without ties")
    }
    cut = {name: each["difference"] for name, each in told.items() if each["difference"]}
    # Two figures are cut in print and not rounded.
    assert sorted(cut.values()) == pytest.approx([0.01, 0.01])
    assert {told[name]["published"] for name in cut} == {"65.99", "55.55"}
    assert not Study.objects.exists()
    gained = {
        name: each
        for (title, name), each in figures.items()
        if title == "What a context adds to people's agreement"
    }
    # The settings have the same queries, so that the difference of all items is that of the two means.
    all_items = [each["difference"] for name, each in gained.items() if not name.endswith("without ties")]
    assert all_items == pytest.approx([0, 0, 0, 0, 0, 0], abs=0.011)
    largest = gained[f"{CLAUDE} vs {LLAMA}, {CC}"]
    assert (largest["published"], round(largest["ours"], 1)) == ("8.68", 8.7)
    assert largest["note"].endswith("the paper marks it as significant.")
    # Every rater of the fixture finds that the first system alone satisfies the question, so that no item is left out.
    followed = [each for (title, _), each in figures.items() if title.startswith("Agreement of people where")]
    assert [each["published"] for each in followed][:2] == ["82.42", "81.40"]
    for each in followed:
        assert each["ours"] == figures["Agreement of people", f"{each['name']}, without ties"]["ours"]


def test_queries_by_data_set(capsys):
    figures, found = reproduced(capsys, "contexteval", published_data("contexteval/queries.jsonl"))
    assert [table["title"] for table in found["tables"]] == ["Queries by data set (section 2)"]
    assert [each["published"] for each in figures.values()] == ["3580", "2500", "645", "57", "300", "78"]
    assert {each["difference"] for each in figures.values()} == {0}


def test_judgments_a_line_each_make_the_same_study(folder, tmp_path, capsys):
    files = sorted((folder / "human_judgements").iterdir())
    lines = [json.dumps(each) for file in files for each in json.loads(file.read_text())]
    file = tmp_path / "all_human_judgements.jsonl"
    file.write_text("\n".join(lines[:600]))
    call_command("import_published", "contexteval", str(file), slug="lines")
    study = Study.objects.get(slug="lines")
    assert study.items.count() == 200
    assert study.raters.count() == 3
    item = study.items.filter(arm__key=CC).first() or study.items.filter(arm__key=NC).first()
    assert item.query.text.startswith("Question ")
    assert "Follow-Up" not in item.query.text
    if item.context:
        assert item.context.follow_ups[0]["question"] == "Why?"
    answer = item.judgments.first().answers.get(question="justification")
    assert answer.text == "It says more about it."


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"setting": "other"}, "setting is 'other'"),
        ({"overall_preference": "Both"}, "overall_preference is 'Both'"),
        ({"model_2": GPT, "model_1": GPT}, "are the same"),
        ({"follow_up_qas": [{"question": "Why?"}]}, "has no text qa"),
        ({"follow_up_qas": [{"qa": "Why?", "satisfied_1": 2}]}, "neither satisfied nor not"),
        ({"response_1": None}, "response_1 is None"),
    ],
)
def test_other_forms_are_refused(changed, said, tmp_path):
    row = judgment(next(iter(rows())), 0, "a") | changed
    (tmp_path / "all_human_judgements.jsonl").write_text(json.dumps(row))
    with pytest.raises(CommandError, match=said):
        call_command("reproduce", "contexteval", str(tmp_path))
