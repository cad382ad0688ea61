"""Published releases: PandaLM's own file, and annotations in the manner of AlpacaEval."""

import orjson
import pytest
from django.core.management import CommandError, call_command

from evaluation.dumps.published import read_release
from evaluation.models import Answer, Item, Judgment, Query, Rater, Study
from evaluation.refusals import Refused
from evaluation.services.studies.verification import verify_study
from tests.published import published_data

pytestmark = pytest.mark.django_db


def annotation(**changes):
    return {
        "instruction": "Name a tree.",
        "generator_1": "birch",
        "output_1": "Birch!",
        "generator_2": "aspen",
        "output_2": "Aspen!",
        "annotator": "a-judge",
        "preference": 1.2,
        **changes,
    }


def pair(**changes):
    return {
        "idx": 0,
        "motivation_app": "Garden",
        "cmp_key": "birch_aspen",
        "instruction": "Name a tree.",
        "input": "",
        "response1": "Birch!",
        "response2": "",
        "annotator1": 1,
        "annotator2": 2,
        "annotator3": 0,
        **changes,
    }


@pytest.fixture
def release(tmp_path):
    def make(name, entries):
        path = tmp_path / f"{name}.json"
        path.write_bytes(orjson.dumps(entries))
        call_command("import_published", name, str(path), slug=name.replace("_", "-"))
        return Study.objects.get(slug=name.replace("_", "-"))

    return make


def test_pandalm_as_published(capsys):
    path = published_data("pandalm/testset-v1.json")
    call_command("import_published", "pandalm", str(path), slug="panda")
    printed = capsys.readouterr().out
    assert "coerced: 6 responses that are a JSON truth value, read as text" in printed
    assert "counted: 54 items with an empty response" in printed
    study = Study.objects.get()
    assert (study.status, study.render_as) == ("closed", "plain")
    assert (study.items.count(), Query.objects.count(), Judgment.objects.count()) == (999, 170, 2997)
    assert Rater.objects.filter(kind="person", source="imported").count() == 3
    assert set(Judgment.objects.values_list("shown", "replicate")) == {("", 0)}
    empty = [
        item for item in Item.objects.all() if any(not each["text"] for each in item.stimulus["responses"])
    ]
    assert len(empty) == 54
    assert study.created_by_import.notes["counted"]["items with an empty response"] == 54
    assert _labels(study) == _published_labels(path)
    assert not list(verify_study(study))


def _labels(study):
    """(item, rater) -> the preferred system, or tie."""
    rows = Answer.objects.filter(judgment__study=study).select_related("judgment__item", "judgment__rater")
    found = {}
    for answer in rows:
        systems = {each["part"]: each["system"] for each in answer.judgment.item.stimulus["responses"]}
        key = (answer.judgment.item.key, answer.judgment.rater.label)
        found[key] = systems.get(answer.label, "tie")
    return found


def _published_labels(path):
    return {
        (str(entry["idx"]), person): ("tie", *entry["cmp_key"].split("_"))[entry[person]]
        for entry in orjson.loads(path.read_bytes())
        for person in ("annotator1", "annotator2", "annotator3")
    }


def test_pandalm_small(release):
    study = release("pandalm", [pair(), pair(idx=1, response2=True), pair(idx=2, input="Not an oak.")])
    assert study.created_by_import.notes == {
        "coerced": {"responses that are a JSON truth value, read as text": 1},
        "counted": {
            "items with an empty response": 2,
            "items": 3,
            "queries": 2,
            "judgments": 9,
            "systems with several texts for a query": 1,
        },
        "written": {"items": 3, "judgments": 9, "raters": 3},
    }
    assert _labels(study)[("0", "annotator1")] == "birch"
    assert Answer.objects.get(judgment__item__key="0", judgment__rater__label="annotator1").label == "r2"
    assert set(Item.objects.get(key="1").responses.values_list("key", "text")) == {
        ("aspen#2", "True"),
        ("birch", "Birch!"),
    }
    assert Item.objects.get(key="2").query.text == "Name a tree.\n\nNot an oak."
    assert study.items.first().query.category == "Garden"


PANDA_FAULTS = [
    (pair(annotator2=3), "entry 1: annotator2 is 3 and not 0, 1 or 2"),
    (pair(cmp_key="birch"), "entry 1: cmp_key 'birch' does not name two systems"),
    (pair(response1=None), "entry 1: response1 is neither text nor a truth value"),
    (pair(instruction=5), "entry 1: instruction is not text"),
    ({"idx": 1}, "entry 1: lacks instruction, input"),
    ("text", "entry 1: not an object"),
]


@pytest.mark.parametrize(("entry", "expected"), PANDA_FAULTS)
def test_pandalm_faults(entry, expected, release):
    with pytest.raises(CommandError) as refused:
        release("pandalm", [pair(), entry])
    assert str(refused.value).startswith(expected)
    assert not Study.objects.exists()


def test_alpaca_eval(release, capsys):
    study = release(
        "alpaca_eval",
        [
            annotation(),
            annotation(annotator="another", preference=1.5),
            annotation(annotator="third", preference=None),
            # The same pair the other way round.
            annotation(
                generator_1="aspen", output_1="Aspen!", generator_2="birch", output_2="Birch!", annotator="fourth",
                preference=1,
            ),
            annotation(annotator="a-judge", preference=2.0),
            annotation(instruction="Name a bird.", output_1="Wren", output_2="Owl", preference=2),
        ],
    )  # fmt: skip
    assert (study.items.count(), study.judgments.count()) == (2, 6)
    found = [
        (row.rater.label, row.replicate, row.outcome, *row.answers.values_list("label", "number"))
        for row in study.items.get(key="i1").judgments.select_related("rater").order_by("pk")
    ]
    # r1 is aspen, which is output 2 of the first annotation; numbers are the probability that r2 is better.
    assert found == [
        ("a-judge", 0, "ok", ("r2", pytest.approx(0.8))),
        ("another", 0, "ok", ("tie", 0.5)),
        ("third", 0, "failed"),
        ("fourth", 0, "ok", ("r1", 0.0)),
        ("a-judge", 1, "ok", ("r1", 0.0)),
    ]
    assert set(Rater.objects.values_list("kind", "source")) == {("judge", "imported")}
    printed = capsys.readouterr().out
    assert "counted: 1 failed judgments" in printed
    assert "counted: 1 repeated judgments, read as replicates" in printed
    assert not list(verify_study(study))


def test_alpaca_eval_with_long_names_and_several_texts(release):
    study = release(
        "alpaca_eval",
        [
            annotation(annotator="j" * 200),
            annotation(annotator="j" * 200, output_1="Silver birch", dataset="wood"),
        ],
    )
    assert (study.items.count(), study.raters.count()) == (2, 1)
    assert set(study.items.get(key="i2").responses.values_list("key", flat=True)) == {"aspen", "birch#2"}


INSTRUCTIONS = ("Name a tree.", "Name a bird.", "Name a fish.")


@pytest.fixture
def results(tmp_path):
    """A folder of results as AlpacaEval's: two models by one annotator, and the baseline against itself."""
    for system in ("aspen", "cedar", "birch"):
        folder = tmp_path / "results" / system / "a-judge"
        folder.mkdir(parents=True)
        entries = [annotation(instruction=each, generator_2=system) for each in INSTRUCTIONS]
        (folder / "annotations.json").write_bytes(orjson.dumps(entries))
    return tmp_path / "results"


def difficulties_of(study):
    answers = Answer.objects.filter(question="measure:instruction_difficulty", judgment__item__study=study)
    return dict(answers.values_list("judgment__item__query__text", "number").distinct())


def test_alpaca_eval_of_several_models_in_one_command(results, capsys):
    call_command("import_published", "alpaca_eval", str(results), slug="several")
    study = Study.objects.get(slug="several")
    assert set(study.systems.values_list("key", flat=True)) == {"aspen", "birch", "cedar"}
    assert (study.items.count(), study.queries.count(), study.raters.count()) == (6, 3, 1)
    assert study.baseline == "birch"
    assert "3 entries of a model against itself, left out" in capsys.readouterr().out
    assert not difficulties_of(study)


def test_alpaca_eval_of_several_paths(results, tmp_path):
    table = tmp_path / "published.csv"
    table.write_text("index,instruction_difficulty\n0,0.5\n1,-1.25\n2,2")
    one = results / "aspen"
    other = results / "cedar" / "a-judge" / "annotations.json"
    call_command("import_published", "alpaca_eval", str(one), str(other), str(table), slug="several")
    study = Study.objects.get(slug="several")
    assert set(study.systems.values_list("key", flat=True)) == {"aspen", "birch", "cedar"}
    assert difficulties_of(study) == dict(zip(INSTRUCTIONS, (0.5, -1.25, 2), strict=True))


def test_alpaca_eval_of_difficulties_alone(tmp_path):
    table = tmp_path / "instruction_difficulty.csv"
    table.write_text("index,instruction_difficulty\n0,0.5")
    with pytest.raises(CommandError, match="No file of annotations is given"):
        call_command("import_published", "alpaca_eval", str(table), slug="several")


def test_other_releases_are_one_path(results):
    with pytest.raises(CommandError, match="The release pandalm is one file or folder"):
        call_command("import_published", "pandalm", str(results), str(results), slug="several")


@pytest.mark.parametrize(
    ("name", "header", "row"),
    [
        ("instruction_difficulty.csv", ",instruction_difficulty", "{at},{number}"),
        ("df_gamed.csv", "preference,index,instruction_difficulty,model", "0.5,{at},{number},x\n0.5,{at},{number},y"),
    ],
)  # fmt: skip
def test_alpaca_eval_with_published_difficulties(name, header, row, results, capsys):
    rows = [row.format(at=at, number=number) for at, number in enumerate((0.5, -1.25, 2))]
    (results / name).write_text("\n".join([header, *rows]))
    call_command("import_published", "alpaca_eval", str(results), slug="several")
    study = Study.objects.get(slug="several")
    assert difficulties_of(study) == dict(zip(INSTRUCTIONS, (0.5, -1.25, 2), strict=True))
    assert "6 items with a difficulty" in capsys.readouterr().out
    assert not list(verify_study(study))


def test_alpaca_eval_with_difficulties_in_its_entries(release, capsys):
    study = release(
        "alpaca_eval", [annotation(instruction_difficulty=1), annotation(instruction="Name a bird.")]
    )
    assert difficulties_of(study) == {"Name a tree.": 1}
    assert "1 items without a difficulty" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("published", "expected"),
    [
        ("place,difficulty\n0,1", "must have the columns index and instruction_difficulty"),
        ("index,instruction_difficulty\n0,nan", "with a number in every row"),
        ("index,instruction_difficulty\n", "with a number in every row"),
        ("index,instruction_difficulty\n0,1", "another instruction in place 0 than those before: 'Name a bird.'"),
    ],
)  # fmt: skip
def test_alpaca_eval_whose_difficulties_are_of_nothing_known(published, expected, results):
    (results / "instruction_difficulty.csv").write_text(published)
    entries = [annotation(instruction=each) for each in INSTRUCTIONS[1:]]
    (results / "cedar" / "a-judge" / "annotations.json").write_bytes(orjson.dumps(entries))
    with pytest.raises(CommandError, match=expected):
        call_command("import_published", "alpaca_eval", str(results), slug="several")


def test_alpaca_eval_of_a_model_against_itself_alone(release):
    with pytest.raises(CommandError, match="Every entry compares a model with itself"):
        release("alpaca_eval", [annotation(generator_1="aspen")])


def test_alpaca_eval_names_the_faulty_file(results):
    (results / "cedar" / "a-judge" / "annotations.json").write_bytes(orjson.dumps([annotation(preference=0)]))
    with pytest.raises(
        CommandError, match=r"cedar/a-judge/annotations.json, entry 0: the preference must lie"
    ):
        call_command("import_published", "alpaca_eval", str(results), slug="several")


ALPACA_FAULTS = [
    (annotation(preference=0), "entry 1: the preference must lie between 1 and 2 or be null, and is 0"),
    (annotation(preference="1"), "entry 1: the preference must lie"),
    (annotation(preference=True), "entry 1: the preference must lie"),
    (
        annotation(instruction_difficulty="hard"),
        "entry 1: instruction_difficulty must be a number, and is 'hard'",
    ),
    (annotation(output_1=None), "entry 1: output_1 is not text"),
    (annotation(annotator=" "), "entry 1: annotator is empty"),
    ({"instruction": "?"}, "entry 1: lacks generator_1"),
]


@pytest.mark.parametrize(("entry", "expected"), ALPACA_FAULTS)
def test_alpaca_eval_faults(entry, expected, release):
    with pytest.raises(CommandError) as refused:
        release("alpaca_eval", [annotation(), entry])
    assert str(refused.value).startswith(expected)
    assert not Study.objects.exists()


def test_files_that_are_none(tmp_path):
    path = tmp_path / "release.json"
    with pytest.raises(Refused, match="can't be read"):
        read_release("pandalm", path)
    path.write_text("[")
    with pytest.raises(Refused, match="is not JSON in UTF-8"):
        read_release("pandalm", path)
    path.write_text("{}")
    with pytest.raises(Refused, match="is not a list of judgments"):
        read_release("pandalm", path)
    with pytest.raises(
        Refused, match="there are: alpaca_eval, arena, clariq, condambigqa, contexteval, href, lfqa, pandalm"
    ):
        read_release("panda", path)
