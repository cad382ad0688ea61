"""ContextEval's autoraters from files in the form of its release."""

import json

import pytest
from django.core.management import CommandError, call_command

from analytics.reproduce.releases.contexteval import CLAUDE, GEMINI, GEMMA, GPT, JAMBA, LLAMA
from evaluation.dumps.published.contexteval import read_reply
from evaluation.models import Judgment, Rater, Study
from evaluation.services.studies.verification import verify_study
from tests.analytics.reproduce.reproducing import reproduced

pytestmark = pytest.mark.django_db
JUDGES = (CLAUDE, LLAMA, "gpt-4-turbo", "gemini-1.5-pro", "Qwen_Qwen2-72B-Instruct")
OF_GEMMA = (CLAUDE, LLAMA, "gpt-4", "gemini-1.5-pro", "Qwen_Qwen2-72B-Instruct")
SETTING, ARM = "gen_wo_ctx_eval_w_ctx", "NoCtxGen-CtxEval"
AGREEMENT, WINS = "Agreement of autoraters", "Win rates by majority of autoraters"


def reply(judgement):
    return f'**output: {{"judgement": "{judgement}"}}**\nJustification: It says more about it.'


def row(index, judge, label, pair=(GPT, GEMINI), setting=SETTING):
    """`label` is one, two or tie; every other judgment saw the responses in the other order."""
    turned = (index + len(judge)) % 2
    judgement = {"one": f"Response {1 + turned}", "two": f"Response {2 - turned}", "tie": "Tie"}.get(label)
    return {
        "query": f"Question {index}?",
        "candidate_one_model": pair[0],
        "candidate_two_model": pair[1],
        "candidate_one_response": f"{pair[0]} on {index}.",
        "candidate_two_response": f"{pair[1]} on {index}.",
        "rand_choice": 1 + turned,
        "eval_judgement": reply(judgement) if judgement else label,
        "eval_model": judge,
        "setting": setting,
        "context": "Q: Why? A: So.\nQ: For whom? A: For me.",
    }


def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(json.dumps(each) for each in rows))


def labels_of_a_cell():
    """Labels of Gemma and Jamba under NoCtxGen-CtxEval that give the printed figures of Tables 4b and 6: 911 items with
    a majority, 3 without, and 4,570 judgments of which 3,701 agree."""
    sizes = [5] * 479 + [4] + [3] * 427
    sides = ["one"] * 425 + ["two"] * 482
    for side, size in zip(sides, sizes, strict=True):
        other = "two" if side == "one" else "one"
        yield [side] * size + [other] * (5 - size)
    yield from (["tie"] * size + ["one"] * (5 - size) for size in (3, 4, 4, 4))
    yield from [["one", "one", "two", "two", "tie"]] * 3


def test_a_cell_of_tables_4b_and_6(tmp_path, capsys):
    rows = [
        row(index, judge, label, (GEMMA, JAMBA))
        for index, labels in enumerate(labels_of_a_cell())
        for judge, label in zip(OF_GEMMA, labels, strict=True)
    ]
    write(tmp_path / "all_autorater_judgements.jsonl", rows)
    figures, found = reproduced(capsys, "contexteval", tmp_path, "--as-published")
    titles = [each["title"].split(" (")[0] for each in found["tables"]]
    assert titles == [AGREEMENT, "What a context adds to autoraters' agreement", WINS]
    name = f"{GEMMA} vs {JAMBA}, {ARM}"
    told = {
        (AGREEMENT, name): "80.98",
        (AGREEMENT, f"{name}, without ties"): "81.01",
        (WINS, f"{name}: {GEMMA}"): "46.65",
        (WINS, f"{name}: {JAMBA}"): "52.91",
        (WINS, f"{name}: tie"): "0.44",
    }
    for key, printed in told.items():
        assert figures[key]["published"] == printed
        assert figures[key]["difference"] == figures[key]["difference_as_published"] == 0
    assert figures[AGREEMENT, f"{name}, without ties"]["note"].endswith("A tie came first in 0 of 0.")
    assert figures[AGREEMENT, f"{GPT} vs {GEMINI}, {ARM}"]["note"] == "Not in the files."
    assert not Study.objects.exists()


def test_unread_replies_and_first_labels_as_published(tmp_path, capsys):
    """The script reads Response 1 wherever it stands, and everything else as a tie."""
    said = [
        ["one", "two", "tie", "two", "one"],
        ["I prefer Response 1 to Response 2.", "two", "two", "one", "one"],
        ["tie", "I can't say.", "one", "one", "two"],
    ]
    rows = [
        row(index, judge, label)
        for index, labels in enumerate(said)
        for judge, label in zip(JUDGES, labels, strict=True)
    ]
    write(tmp_path / "all_autorater_judgements.jsonl", rows)
    figures, _ = reproduced(capsys, "contexteval", tmp_path, "--as-published")
    name = f"{GPT} vs {GEMINI}, {ARM}"
    # Ours: 2 of 5, 2 of 4, 2 of 4.
    assert figures[AGREEMENT, name]["ours"] == pytest.approx(100 * (2 / 5 + 1 / 2 + 1 / 2) / 3)
    # As published: 2 of 5, 3 of 5, 2 of 5; of the last one the tie comes first, so that it is left out without ties.
    read = figures[AGREEMENT, name]["as_published"]
    assert read == pytest.approx(100 * (2 / 5 + 3 / 5 + 2 / 5) / 3)
    without = figures[AGREEMENT, f"{name}, without ties"]
    assert without["as_published"] == pytest.approx(100 * (2 / 5 + 3 / 5) / 2)
    assert without["ours"] == figures[AGREEMENT, name]["ours"]
    assert figures[WINS, f"{name}: tie"]["as_published"] == 0


def test_files_whose_names_say_who_judged_what(tmp_path, capsys):
    kinds = {
        "wo_contexts": "NoCtxGen-NoCtxEval",
        "gen_wo_contexts_eval_w_contexts": ARM,
        "w_contexts": "CtxGen-CtxEval",
    }
    for kind in kinds:
        for judge in OF_GEMMA:
            rows = [row(index, judge, "one", (GEMMA, JAMBA)) for index in range(2)]
            for each in rows:
                for name in ("candidate_one_model", "candidate_two_model", "eval_model", "setting"):
                    del each[name]
            name = f"sampled_evals_{kind}_{judge}-judge_{GEMMA}_vs_{JAMBA}.jsonl"
            write(tmp_path / "autorater_judgements" / name, rows)
    figures, _ = reproduced(capsys, "contexteval", tmp_path)
    for arm in kinds.values():
        assert figures[WINS, f"{GEMMA} vs {JAMBA}, {arm}: {GEMMA}"]["ours"] == 100
    (tmp_path / "autorater_judgements" / "other.jsonl").write_text("{}")
    with pytest.raises(CommandError, match=r"other.jsonl does not name its setting, autorater and systems"):
        call_command("reproduce", "contexteval", str(tmp_path))


def person(index, setting=SETTING):
    return {
        "query": f"Question {index}?",
        "example_id": f"{index}_{setting}_rep0",
        "setting": setting,
        "model_1": GEMINI,
        "model_2": GPT,
        "response_1": f"{GEMINI} on {index}.",
        "response_2": f"{GPT} on {index}.",
        "overall_preference": "Tie",
        "justification": "",
        "follow_up_qas": [{"qa": "Q: Why? A: So.", "satisfied_1": 1, "satisfied_2": 0}],
    }


def test_people_and_autoraters_of_the_same_responses_share_their_items(tmp_path, capsys):
    write(tmp_path / "all_human_judgements.jsonl", [person(0), person(1)])
    rows = [row(index, judge, "one") for index in (0, 2) for judge in JUDGES]
    changed = row(1, JUDGES[0], "two") | {"candidate_one_response": "Another answer."}
    again = row(0, JUDGES[0], "tie")
    write(tmp_path / "all_autorater_judgements.jsonl", [*rows, changed, again])
    _, found = reproduced(capsys, "contexteval", tmp_path)
    assert len(found["tables"]) == 7
    call_command("import_published", "contexteval", str(tmp_path), slug="both")
    study = Study.objects.get(slug="both")
    assert study.items.count() == 5
    item = study.items.get(key__endswith="/q001")
    assert item.judgments.count() == 6
    assert study.raters.filter(kind=Rater.Kind.JUDGE).count() == 5
    verdict = item.judgments.get(rater__label=JUDGES[0])
    assert verdict.answers.get(question="justification").text == "Justification: It says more about it."
    other = study.items.get(key__endswith="/q003")
    assert [each["question"] for each in other.context.follow_ups] == ["Why?", "For whom?"]
    assert list(verify_study(study)) == []


def test_replies_are_read_strictly():
    assert read_reply(reply("Tie")) == ("Tie", "Justification: It says more about it.")
    assert read_reply("Let me see. output: {'judgement': 'Response 2'}") == ("Response 2", "")
    for other in (
        "Response 1", "output: {'judgement': 'Both'}", "output: {'judgement': 1}", "output: {broken}", "output: {1, 2}",
        "output: {'other': 'Tie'}", "output: {'judgement': 'Tie'} output: {'judgement': 'Response 1'}",
    ):  # fmt: skip
        assert read_reply(other) == ("", "")


def test_unread_replies_are_counted(tmp_path, capsys):
    write(tmp_path / "all_autorater_judgements.jsonl", [row(0, JUDGES[0], "one"), row(1, JUDGES[0], "Hm.")])
    call_command("import_published", "contexteval", str(tmp_path), slug="judged")
    assert "1 autoraters' replies of another form, read as unparsed" in capsys.readouterr().out
    assert Judgment.objects.filter(study__slug="judged", outcome="unparsed").count() == 1


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"setting": "other"}, "setting is 'other'"),
        ({"rand_choice": 3}, "rand_choice is 3 and neither 1 nor 2"),
        ({"candidate_two_model": GPT}, "are the same"),
        ({"context": ["Why?"]}, r"context is \['Why\?'\]"),
        ({"eval_judgement": None}, "eval_judgement is None"),
    ],
)
def test_rows_of_another_form_are_refused(changed, said, tmp_path):
    write(tmp_path / "all_autorater_judgements.jsonl", [row(0, JUDGES[0], "one") | changed])
    with pytest.raises(CommandError, match=said):
        call_command("reproduce", "contexteval", str(tmp_path))
