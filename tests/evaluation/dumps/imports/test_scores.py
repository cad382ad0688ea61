"""Scores from outside: a file of numbers becomes a judge's measures, or nothing is written and every line says why."""

import csv
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError, call_command

from evaluation.dumps.imports.scores import import_scores
from evaluation.models import Answer, Judgment, Rater
from evaluation.refusals import Refused
from evaluation.services.studies.verification import verify_study
from tests.evaluation.dumps.build import context_item, export_bytes, header, item, judgment, read_in, write

pytestmark = pytest.mark.django_db
HEAD = "item,system,name,score\n"


@pytest.fixture
def study(tmp_path):
    items = [item(1, judgments=[judgment()]), item(2, judgments=[judgment()]), context_item(3)]
    return read_in(write(tmp_path / "dump.jsonl", header(), *items))


@pytest.fixture
def file(tmp_path):
    def make(text: str, name: str = "scores.csv"):
        path = tmp_path / name
        path.write_text(text, "utf-8")
        return path

    return make


def scores(study):
    rows = Answer.objects.filter(judgment__study=study, kind="measure").order_by("pk")
    return [(row.judgment.item.key, row.question, row.part, row.number) for row in rows]


def test_a_score_of_a_system_s_response_is_a_measure(study, file):
    rater = import_scores(
        study, file(HEAD + "i1,birch,rouge,0.25\ni1,aspen,rouge,1e-2\n"), judge="ROUGE script"
    )
    assert scores(study) == [("i1", "measure:rouge", "r2", 0.25), ("i1", "measure:rouge", "r1", 0.01)]
    assert (rater.kind, rater.source, rater.label) == ("judge", "imported", "ROUGE script")
    assert rater.about["measures"] == [
        {
            "name": "rouge",
            "label": "",
            "subject": "response",
            "low": None,
            "high": None,
            "direction": "higher",
        }
    ]
    assert list(verify_study(study)) == []
    rater.about = {**rater.about, "measures": [{"name": "rouge", "high": 0.1}]}
    rater.save(update_fields=["about"])
    sentence, *others = verify_study(study)
    assert others == [f"Rater {rater.pk} ({rater.pseudonym}): was changed past the application."]
    assert "measure:rouge has numbers from 0.01 to 0.25, outside of its range" in sentence
    rater.about = {"measures": []}
    rater.save(update_fields=["about"])
    sentence, *others = verify_study(study)
    assert others == [f"Rater {rater.pk} ({rater.pseudonym}): was changed past the application."]
    assert "measure:rouge is not among the measures that it declares" in sentence


def test_the_four_formats_bring_the_same(study, file, tmp_path):
    rows = [
        {"item": "i1", "system": "aspen", "name": "rouge", "score": 0.5},
        {"item": "i2", "system": "birch", "name": "rouge", "score": 0.75},
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "scores.parquet")
    text = "\n".join("\t".join(map(str, row.values())) for row in rows)
    paths = [
        file(HEAD + text.replace("\t", ",")),
        file("\ufeff" + HEAD.replace(",", "\t") + text + "\n", "scores.tsv"),
        file("\n".join(map(json.dumps, rows)), "scores.jsonl"),
        tmp_path / "scores.parquet",
    ]
    found = []
    for number, path in enumerate(paths):
        rater = import_scores(study, path, judge=f"script {number}")
        answers = Answer.objects.filter(judgment__rater=rater).order_by("judgment__item__key")
        found.append(list(answers.values_list("judgment__item__key", "question", "part", "number")))
    assert found[0] == [("i1", "measure:rouge", "r1", 0.5), ("i2", "measure:rouge", "r2", 0.75)]
    assert all(each == found[0] for each in found)


def test_items_follow_ups_and_pairs_have_scores_too(study, file):
    import_scores(
        study, file("item,part,name,score\ni3,,clarity,3\ni3,f1,use,1\ni3,f2.r1,met,0\n"), judge="script"
    )
    assert scores(study) == [
        ("i3", "measure:clarity", "", 3), ("i3", "measure:use", "f1", 1), ("i3", "measure:met", "f2.r1", 0),
    ]  # fmt: skip
    by_system = "item,system,part,name,score\ni3,aspen,f2,kept,1\n"
    import_scores(study, file(by_system), judge="follow-ups of a system's response")
    assert scores(study)[-1] == ("i3", "measure:kept", "f2.r1", 1)
    pair = [{"name": "margin", "subject": "pair", "direction": ""}]
    import_scores(study, file("item,score\ni1,-0.5\n"), judge="pairs", name="margin", declared=pair)
    assert scores(study)[-1] == ("i1", "measure:margin", "", -0.5)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("item,score,points\ni1,1,2\n", ["it has 'points'"]),
        ("system,score\naspen,1\n", ["it has no item"]),
        ("item!system!score\nx!y!1\n", ["it has one column only"]),
        (HEAD, ["scores.csv: The file has the names of columns, and no rows."]),
        (
            HEAD + "i9,aspen,m,1\ni1,cedar,m,1\n",
            ["line 3: item 'i1' has no response", "line 2: the study has no item"],
        ),
        (HEAD + "i1,aspen,m,high\n,aspen,m,1\n", ["line 2: score: 'high' is not", "line 3: item is missing"]),
        (HEAD + "i1,aspen,,1\n", ["line 2: name is missing"]),
        (HEAD + "i1,aspen,m,nan\n", ["line 2: measure:m.r1: nan is not a number"]),
        (HEAD + "i1,aspen,m,1e160\n", ["line 2: measure:m.r1: 1e+160 is further from zero than 1e+30"]),
        (HEAD + "i1,aspen,m,1\ni1,aspen,m,2\n", ["line 3: 'i1' has a score of 'm' twice"]),
        (
            HEAD + "i1,aspen,m,1\ni2,,m,2\n",
            ["line 3: the measure 'm' is of each response, and the line names none"],
        ),
        (HEAD + "i1,aspen,m\n", ["line 2: score is missing"]),
        (
            "item,system,response,name,score\ni1,aspen,a1,m,1\n",
            ["line 2: names system and response; one is enough"],
        ),
        (
            "item,system,part,name,score\ni1,aspen,e1,m,1\n",
            ["line 2: measure:m.e1.r1: no such part: 'e1.r1'"],
        ),
        (HEAD + "i1,aspen,a measure,1\n", ["line 2: the measure 'a measure': a name is letters"]),
    ],
)
def test_every_fault_is_named_with_its_line_and_nothing_is_written(study, file, text, sentences):
    before = Judgment.objects.count()
    with pytest.raises(Refused) as caught:
        import_scores(study, file(text), judge="script")
    for sentence in sentences:
        assert any(sentence in problem for problem in caught.value.problems), caught.value.problems
    assert (Judgment.objects.count(), Rater.objects.filter(label="script").count()) == (before, 0)


def test_a_range_is_held(study, file):
    with pytest.raises(Refused, match=r"line 2: measure:m\.r1: 1\.5 is above 1"):
        import_scores(study, file(HEAD + "i1,aspen,m,1.5\n"), judge="script", low=0, high=1)


def test_a_name_is_taken_once_and_means_one_thing(study, file):
    path = file(HEAD + "i1,aspen,m,1\n")
    import_scores(study, path, judge="script")
    with pytest.raises(Refused, match="has a judge 'script' already"):
        import_scores(study, path, judge="script")
    with pytest.raises(Refused, match="has a measure 'm' with another subject, range or direction"):
        import_scores(study, path, judge="another", direction="lower")
    import_scores(study, path, judge="another")


def test_of_a_draft_nothing_is_taken(tmp_path, file):
    draft = read_in(write(tmp_path / "draft.jsonl", header(status="draft"), item()), slug="draft")
    with pytest.raises(Refused):
        import_scores(draft, file(HEAD + "i1,aspen,m,1\n"), judge="script")


def test_the_command_says_what_it_took(study, file, capsys):
    call_command(
        "import_scores", study.slug, str(file(HEAD + "i1,aspen,m,1\n")), judge="script", direction="none"
    )
    assert capsys.readouterr().out == "script: m of 1 item.\n"
    with pytest.raises(CommandError, match="Nothing was imported: 1 problem"):
        call_command("import_scores", study.slug, str(file(HEAD + "i1,cedar,m,1\n")), judge="other")


def test_a_study_with_measures_is_read_back_equal(study, file, tmp_path):
    import_scores(study, file(HEAD + "i1,aspen,m,0.1\ni1,birch,m,2\n"), judge="script", low=0)
    first = export_bytes(study)
    (tmp_path / "again.jsonl").write_bytes(first)
    again = read_in(tmp_path / "again.jsonl", slug="again")
    assert export_bytes(again).replace(b'"slug":"again"', b'"slug":"soups"') == first
    assert scores(again) == scores(study)


def test_a_dump_s_measures_must_be_declared_and_alike(tmp_path):
    def raters(*directions):
        return [
            {"rater": f"m{n}", "about": {"measures": [{"name": "m", "direction": each}]}}
            for n, each in enumerate(directions)
        ]

    given = [judgment(f"m{n}", kind="judge", answers={"measure:m": {"r1": 1}}) for n in range(2)]
    path = write(tmp_path / "a.jsonl", header(raters=raters("higher")), item(judgments=given))
    with pytest.raises(Refused, match="no such measure is declared by the rater"):
        read_in(path)
    path = write(tmp_path / "b.jsonl", header(raters=raters("higher", "lower")), item(judgments=given))
    with pytest.raises(Refused, match="the measure 'm' is declared in two ways"):
        read_in(path)


def test_measures_are_columns_of_an_export(study, file):
    import_scores(study, file(HEAD + "i1,aspen,m,0.5\ni2,birch,n,2\n"), judge="=script")
    import_scores(study, file(HEAD + "i1,aspen,m,4\n"), judge="second")
    rows = list(csv.DictReader(io.StringIO(export_bytes(study, "measures").decode(), newline="")))
    columns = ("item", "part", "system", "'=script: m", "'=script: n", "second: m")
    assert [tuple(row[name] for name in columns) for row in rows] == [
        ("i1", "r1", "aspen", "0.5", "", "4.0"), ("i2", "r2", "birch", "", "2.0", ""),
    ]  # fmt: skip
