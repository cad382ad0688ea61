"""CondAmbigQA's figures beside those of its sample results, and of evaluation outputs in the repository's form."""

import json

import pytest
from django.core.management import CommandError, call_command

from tests.analytics.reproduce.reproducing import reproduced, values
from tests.published import published_data

pytestmark = pytest.mark.django_db
SCORES, SIZES = "Scores of models' sets", "Answers per question"
NOTHING = {"condition_evaluation": {}, "answer_evaluation": {}, "citation_evaluation": {}}


def test_counts_of_the_sample_results(capsys):
    path = published_data("condambigqa/conditions.jsonl")
    figures, found = reproduced(capsys, "condambigqa", path, "--as-published")
    assert values(figures, "Data set") == {"Questions": 500, "Conditions per question": 2.036}
    assert "200 questions" in figures["Data set", "Questions"]["note"]
    sample = "Answers per question in the sample results"
    assert values(figures, sample) == {
        "gpt-4o": 1.938,
        "glm-4-plus": 2.19,
        "llama3.1-8b": 2.188,
        "mistral-7b": 2.312,
        "qwen2.5-7b": 1.878,
        "gemma2-9b": 1.46,
    }
    # Models without documents, of whom the paper says nothing.
    assert not any(each["published"] for (title, _), each in figures.items() if title == sample)
    assert [table["title"].partition(" (")[2] for table in found["tables"]][1:6] == [
        "section 5.1, Table 2, Figures 2 to 4)",
        "section 5.1)",
        "section 5.2, Figure 5)",
        "section 5.3, Figure 6)",
        "section 5.4, Table 3)",
    ]


def test_without_models_sets_the_printed_figures_stand_alone(release, capsys):
    figures, found = reproduced(capsys, "condambigqa", release, "--as-published")
    of_table = {name: each for (title, name), each in figures.items() if title == SCORES}
    assert len(of_table) == 30
    assert of_table["gemma2: citation score"]["published"] == "0.077"
    assert of_table["gemma2: citation score, standard deviation"]["published"] == "0.173"
    assert all(each["ours"] is each["as_published"] is None for each in of_table.values())
    [note] = [each["note"] for each in found["tables"] if each["title"].startswith(SCORES)]
    assert "no sets of models" in note
    assert "greedy matching" in note


def question(name, scores, size):
    """A model's set of `size` entries, and the condition, answer and citation score of each that was compared."""
    return {
        "id": name,
        "question": f"{name}?",
        "conditions": [{"condition": f"{name} {at}", "answer": "So.", "citations": []} for at in range(size)],
        "evaluations": [
            {
                f"{part}_evaluation": {"score": score, "reason": "So."}
                for part, score in zip(("condition", "answer", "citation"), each, strict=True)
            }
            for each in scores
        ],
        "answer_count_difference": 0,
    }


@pytest.fixture
def release(tmp_path):
    row = {
        "id": "q1",
        "question": "Q?",
        "conditions": [{"condition": "c", "answer": "a"}],
        "model_answers": {"m": ["x", "y"]},
    }
    (tmp_path / "conditions.jsonl").write_text(json.dumps(row))
    return tmp_path


def write_output(release, model, questions):
    path = release / f"intermediate_results_{model}_main_experiment.json"
    path.write_text(json.dumps({model: questions}))


def test_outputs_are_read_as_the_release_does(release, capsys):
    first = question("q1", [(0.2, 0.4, 0.0), (0.4, 0.1, 0.5), (0.6, 0.1, 0.5)], 3)
    write_output(release, "gemma2", [first, question("q2", [(0.8, 1.0, 1.0)], 1)])
    figures, _ = reproduced(capsys, "condambigqa", release, "--as-published")
    condition = figures[SCORES, "gemma2: condition score"]
    assert (condition["ours"], condition["as_published"]) == (
        None,
        pytest.approx((0.2 + 0.4 + 0.6 + 0.8) / 4),
    )
    spread = figures[SCORES, "gemma2: condition score, standard deviation"]["as_published"]
    assert spread == pytest.approx((2 * (0.3**2 + 0.1**2) / 3) ** 0.5)
    assert figures[SCORES, "gemma2: answer score"]["as_published"] == pytest.approx((0.4 + 0.1 + 0.1 + 1) / 4)
    assert figures[SCORES, "gemma2: citation score"]["as_published"] == pytest.approx((0 + 0.5 + 0.5 + 1) / 4)
    assert figures[SCORES, "mistral: condition score"]["as_published"] is None
    # Two questions of 3 and 1 entries, the first of which the release counts three times.
    size = figures[SIZES, "gemma2"]
    assert (size["published"], size["ours"], size["as_published"]) == (
        "2.21",
        2,
        pytest.approx((3 * 3 + 1) / 4),
    )


def test_outputs_are_not_ours(release, capsys):
    write_output(release, "glm4", [question("q1", [(0.2, 0.4, 0.0)], 1)])
    figures, _ = reproduced(capsys, "condambigqa", release)
    assert figures[SIZES, "glm4"]["ours"] == 1
    assert {each["as_published"] for each in figures.values()} == {None}


def matched(name, scores, size):
    """As the later outputs are: they name the reference entry; an entry that none was left for has -Infinity as fit."""
    row = question(name, scores, size)
    for at, each in enumerate(row["evaluations"]):
        each |= {"actual_idx": at, "expected_idx": at, "combined_score": 0.6}
    left_over = NOTHING | {"expected_idx": None, "combined_score": float("-inf")}
    row["evaluations"] += [left_over] * (size - len(scores))
    return row


def test_greedily_matched_entries_are_averaged_by_question(release, capsys):
    first = matched("q1", [(0.5, 0.5, 1.0), (0.3, 0.5, 0.0)], 3)
    write_output(release, "new-model", [first, matched("q2", [(0.8, 0.2, 0.0)], 1), matched("q3", [], 1)])
    figures, _ = reproduced(capsys, "condambigqa", release, "--as-published")
    found = figures[SCORES, "new-model: condition score"]
    assert (found["published"], found["as_published"]) == ("", pytest.approx((0.4 + 0.8 + 0) / 3))
    assert figures[SCORES, "new-model: citation score"]["as_published"] == pytest.approx((0.5 + 0 + 0) / 3)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "is no object of questions by model"),
        ('{"m": {}}', "has no list of questions for 'm'"),
        ("{", "is not JSON"),
        (
            '{"m": [{"question": "Q?", "conditions": [], "evaluations": [{}]}]}',
            "evaluation 1 lacks one of condition",
        ),
        (
            json.dumps({"m": [question("q1", [("high", 0, 0)], 1)]}),
            "evaluation 1 has a score that is no number",
        ),
    ],
)
def test_outputs_of_another_form_are_refused(text, said, release):
    (release / "intermediate_results_m_main_experiment.json").write_text(text)
    with pytest.raises(CommandError, match=said):
        call_command("reproduce", "condambigqa", str(release))
