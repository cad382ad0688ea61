"""Generation in replication bundles: prompts, replies and products of a study's items, and the check of them."""

import hashlib
import json
import zipfile

import pytest
from django.core.management import call_command

from analytics.reports.bundle.replication import replicate
from analytics.reports.bundle.writing import export_bundle
from evaluation.canonical import canonical_hash
from evaluation.models import Study
from judging.services.generation.made_studies import make_study
from judging.services.generation.products import edit_product, products_of
from tests.analytics.reports.judging import judge as people_judge
from tests.judging import endpoint
from tests.judging.generating import generated, make_endpoint, study_of_queries

pytestmark = pytest.mark.django_db
QUERIES = [{"key": f"q{n}", "text": f"Which soup can I make on day {n}?"} for n in range(4)]
CALLS = "generation/calls.jsonl"


@pytest.fixture(scope="module")
def written(around_module, tmp_path_factory):
    """A bundle of a judged study of products, of which one was edited."""
    folder = tmp_path_factory.mktemp("bundle")
    with endpoint.serve() as served:
        make_endpoint(served)
        source = study_of_queries(folder, QUERIES, slug="soups")
        run = generated(source, "responses", models=("aspen", "birch"), options={"settings": "without"})
        first = products_of(run).first()
        edit_product(first, {**first.content, "text": "Leek."})
        make_study(run, {"arms": "without"}, slug="soup-pairs")
        call_command("launch", "soup-pairs", "--confirm", verbosity=0)
        study = Study.objects.get(slug="soup-pairs")
        people_judge(study, raters=2)
        path = folder / "bundle.zip"
        export_bundle(study, path)
    return path


@pytest.fixture
def bundle(db, written):
    return written


def files_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def lines_of(files, name):
    return [json.loads(line) for line in files[name].splitlines()]


def changed(path, tmp_path, name, change):
    """The bundle with another file, of which its manifest knows."""
    files = files_of(path)
    lines = change(lines_of(files, name))
    files[name] = "".join(f"{json.dumps(each)}\n" for each in lines).encode()
    manifest = json.loads(files["MANIFEST.json"])
    manifest["sha256"][name] = hashlib.sha256(files[name]).hexdigest()
    files["MANIFEST.json"] = json.dumps(manifest).encode()
    other = tmp_path / "changed.zip"
    with zipfile.ZipFile(other, "w", zipfile.ZIP_DEFLATED) as archive:
        for each, content in files.items():
            archive.writestr(each, content)
    return other


def test_a_bundle_holds_the_prompts_replies_and_products_of_its_items(bundle):
    files = files_of(bundle)
    [run] = lines_of(files, "generation/runs.jsonl")
    assert (run["pipeline"], run["roles"]["writers"]["models"]) == ("responses", ["aspen", "birch"])
    assert [each["key"] for each in lines_of(files, "generation/queries.jsonl")] == ["q0", "q1", "q2", "q3"]
    calls = lines_of(files, CALLS)
    assert len(calls) == 8
    for call in calls:
        [product] = call["products"]
        assert call["messages"][-1]["content"] == QUERIES[int(call["query"][1:])]["text"]
        assert call["raw"] == product["content"]["text"]
    assert calls[0]["products"][0]["edited"]["text"] == "Leek."
    assert not any(
        b"127.0.0.1" in content for name, content in files.items() if name.startswith("generation/")
    )


def test_it_replicates_and_says_what_was_checked(bundle, capsys):
    done = replicate(bundle)
    assert done.succeeded
    [check] = done.checks
    assert (list(check.said), check.problems) == (["Generation: 8 prompts and 8 products checked."], [])
    call_command("replicate", str(bundle))
    assert "Generation: 8 prompts and 8 products checked." in capsys.readouterr().out


def without_prompt(lines):
    lines[2] |= {"messages": None, "prompt_sha256": None}
    return lines


def with_another_prompt(lines):
    lines[2]["messages"][-1]["content"] += " Be brief."
    return lines


def with_a_prompt_of_its_own(lines):
    with_another_prompt(lines)
    lines[2]["prompt_sha256"] = canonical_hash(lines[2]["messages"])
    return lines


def with_another_product(lines):
    lines[2]["products"][0]["content"]["text"] += " Or not."
    return lines


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (without_prompt, "its prompt is missing."),
        (with_another_prompt, "its prompt was changed: its sha256 is another."),
        (with_a_prompt_of_its_own, "its prompt is not the one that this version makes of its query."),
        (with_another_product, "was changed: its sha256 is another."),
    ],
)
def test_a_prompt_or_product_that_is_missing_or_changed_is_named(bundle, tmp_path, change, said, capsys):
    other = changed(bundle, tmp_path, CALLS, change)
    done = replicate(other)
    [problem] = done.checks[0].problems
    assert problem.startswith(f"{CALLS}: run ")
    assert "responses aspen:without of q1: " in problem
    assert problem.endswith(said)
    assert not done.succeeded
    with pytest.raises(SystemExit):
        call_command("replicate", str(other))
    assert f"DIFFERENT         {problem}" in capsys.readouterr().out


def test_a_product_that_an_item_names_is_missed(bundle, tmp_path):
    other = changed(bundle, tmp_path, CALLS, lambda lines: lines[1:])
    [problem] = replicate(other).checks[0].problems
    assert problem.startswith("study.jsonl: item q0-")
    assert problem.endswith(f"which is not in {CALLS}.")


def test_files_of_another_form_are_refused_in_a_sentence(bundle, tmp_path):
    other = changed(bundle, tmp_path, CALLS, lambda lines: [{"run": 1}])
    [problem] = replicate(other).checks[0].problems
    assert "are not of the form that bundles have" in problem
