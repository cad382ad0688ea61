"""--json: every command of ours prints one document, on the demo, or says in one why it can't."""

import json
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command, get_commands, load_command_class

from evaluation.demo import studies as demo
from evaluation.management.base import AssayCommand
from evaluation.models import Item, Rater
from evaluation.refusals import FieldsRefused, Refused
from judging.models import Run

ROOT = Path(__file__).resolve().parents[2]
APPS = ("evaluation", "analytics", "annotator", "judging")
OURS = sorted(name for name, app in get_commands().items() if app in APPS)
# Runs until it is stopped.
SERVERS = {"demo"}
S, SETS, DRAFT = "context-contrast", "condition-calibration", "a-draft"
# Each command, as the demo lets it run; {tmp}, {item}, {rater}, {run} and {items} stand for what the demo has.
LINES = (
    f"create_study --from contexteval-preferences --slug {DRAFT} --owner demo",
    "create_study --list",
    f"design {DRAFT} --set rules.redundancy=2",
    f"import_items {DRAFT} {{items}}",
    f"rehearse {DRAFT} --participants 2",
    f"delete_rehearsal {DRAFT}",
    f"launch {DRAFT} --check",
    f"launch {DRAFT} --confirm",
    f"revisable {S} all",
    "import_study {items} --slug imported --owner demo",
    "import_queries {queries} --slug queries",
    f"import_scores {S} {{scores}} --judge script --name length",
    f"duplicate_study {S}",
    f"derive_study {S}",
    f"status {S} pause --reason lunch",
    f"status {S} resume",
    f"exclude {S} --rater {{rater}} --reason hurried",
    f"places {S} --redundancy 4 --replace-excluded",
    f"withdraw_item {S} {{item}} --reason misprinted",
    f"withdraw_item {S} {{item}} --undo",
    f"flags {S}",
    f"notes {S} --item {{item}} --write Look. --by demo",
    f"jobs {S}",
    f"entry_rules {S} --exclude {SETS}",
    f"participants {S}",
    f"participants {S} --quality",
    f"members {S} colleague --role viewer",
    f"invite {S} --role viewer",
    f"links {S} Ada",
    f"panel {S} whom",
    "token demo",
    "token demo --list",
    f"leaderboard {S} publish",
    f"leaderboard {S}",
    f"verify {S}",
    f"seal {S}",
    f"export {S} --out {{tmp}}/study.jsonl",
    f"export_bundle {S} {{tmp}}/bundle.zip",
    f"report {S}",
    f"report {S} --format csv --out {{tmp}}/tables",
    f"compare_studies {S} {S} --view-a arm=NoCtxGen-NoCtxEval --view-b arm=NoCtxGen-CtxEval",
    f"derive_resolver {SETS}",
    "sample_pairs {many} --baseline aspen --out {tmp}/pairs.jsonl",
    f"runs {S}",
    "run show {run}",
    f"run_judge {S} --judge longer --yes",
    f"trust {S}",
    f"set_budget {S} 5",
    "add_endpoint local --url http://127.0.0.1:9/v1 --local",
    "set_endpoint local --trust --timeout 20 --price small 0.1 0.2",
    "endpoint_key local --remove",
    f"add_judge {S} checker --endpoint local --model small",
    f"generate {S}",
    f"anchors {S}",
    "delete_study queries",
)
# Those that lack something here say so: a network, a release, scored entries, a study of their kind.
REFUSED = (
    "add_items", "add_conditions", "add_judges", "add_jury", "compare_rankings", "composite_map",
    "entry_scores", "erase", "export_settled", "import_published", "pair_references", "panel_hooks", "pool_rounds",
    "replicate", "reproduce", "revise", "rotate_endpoint_keys", "settle", "test_endpoint", "write_steps",
)  # fmt: skip
OF_REFUSED = {
    "add_items": f"{S} {{nowhere}} --yes",
    "add_conditions": f"{S} nobody",
    "add_judges": f"{S} --preset href --model nowhere:m",
    "add_jury": f"{S} jury --endpoint nowhere",
    "compare_rankings": f"{S} {SETS}",
    "composite_map": f"{S} nobody",
    "erase": f"{S} nobody",
    "entry_scores": f"{S} --judge nobody",
    "export_settled": f"{SETS} --out {{nowhere}}",
    "import_published": "arena {nowhere} --slug published",
    "pair_references": S,
    "panel_hooks": "a-workspace",
    "pool_rounds": f"{S} {SETS}",
    "replicate": "{nowhere}",
    "reproduce": "pandalm {nowhere}",
    "revise": f"{S} {{nowhere}}",
    "rotate_endpoint_keys": "",
    "settle": f"{S} --item nowhere --answer preference=r1 --reason clear",
    "test_endpoint": "nowhere",
    "write_steps": f"{S} nobody",
}


@pytest.fixture(scope="module")
def loaded(around_module: None, tmp_path_factory: Any) -> dict[str, str]:
    get_user_model().objects.create_user("colleague")
    with pytest.MonkeyPatch.context() as patch:
        few = [each for each in demo.STUDIES if each.slug in (S, SETS)]
        patch.setattr("evaluation.management.commands.load_demo.STUDIES", few)
        out = StringIO()
        call_command("load_demo", json=True, stdout=out)
    # In the order in which they were made.
    assert list(json.loads(out.getvalue())["judgments"]) == [S, SETS]
    tmp = tmp_path_factory.mktemp("commands")
    item = Item.objects.filter(study__slug=S, role="main").order_by("pk").first()
    assert item is not None
    (tmp / "queries.csv").write_text("key,prompt\nq1,Which soup?\n")
    (tmp / "scores.csv").write_text(
        f"item,response,score\n{item.key},{item.stimulus['responses'][0]['key']},3\n"
    )
    return {
        "tmp": str(tmp),
        "items": str(few[0].items),
        "many": str(few[0].items),
        "queries": str(tmp / "queries.csv"),
        "scores": str(tmp / "scores.csv"),
        "nowhere": str(tmp / "nowhere"),
        "item": item.key,
        "rater": Rater.objects.filter(study__slug=S, kind="simulated").order_by("pk")[0].pseudonym,
        "run": str(Run.objects.filter(study__slug=S).order_by("pk")[0].pk),
    }


def run(name: str, *args: str) -> tuple[int, str, str]:
    """The exit code, standard output and standard error of a command with --json, as at the shell."""
    command = load_command_class(get_commands()[name], name)
    assert isinstance(command, AssayCommand), f"{name} is no AssayCommand"
    command.from_script = True
    out, err = StringIO(), StringIO()
    options = vars(command.create_parser("manage.py", name).parse_args([*args, "--json", "--skip-checks"]))
    try:
        command.execute(**options, stdout=out, stderr=err)
    except SystemExit as end:
        return int(str(end.code)), out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()


def test_each_command_stands_here() -> None:
    named = {line.split()[0] for line in LINES} | set(REFUSED) | SERVERS | {"load_demo"}
    assert named == set(OURS)


@pytest.mark.django_db
def test_each_prints_one_document(loaded: dict[str, str]) -> None:
    wrong = []
    for line in LINES:
        name, *args = line.split()
        code, out, err = run(name, *(each.format(**loaded) for each in args))
        if code:
            wrong.append(f"{line}: {err}")
            continue
        document = json.loads(out)
        # Facts beside the words.
        if not set(document) - {"text"}:
            wrong.append(f"{line}: words alone")
    assert not wrong, "\n".join(wrong)


@pytest.mark.django_db
@pytest.mark.parametrize("name", REFUSED)
def test_each_refusal_is_a_document(loaded: dict[str, str], name: str) -> None:
    code, out, err = run(name, *OF_REFUSED[name].format(**loaded).split())
    problem = json.loads(err.splitlines()[-1])
    assert (code, out) == (1, "")
    # Each reason by itself, and all of them in the error.
    assert problem["problems"]
    assert all(each in problem["error"] for each in problem["problems"])


def test_a_refusal_of_fields_names_them(db: None) -> None:
    class Refusing(AssayCommand):
        """Refuses after it has said something."""

        def perform(self, options: dict[str, Any]) -> dict[str, Any]:
            self.stdout.write("Looked.")
            try:
                raise FieldsRefused({"model": ["There is no such model."]})
            except FieldsRefused as refused:
                raise CommandError(str(refused), returncode=3) from None

    command, err = Refusing(), StringIO()
    command.from_script = True
    options = vars(command.create_parser("manage.py", "refusing").parse_args(["--json", "--skip-checks"]))
    with pytest.raises(SystemExit) as end:
        command.execute(**options, stdout=StringIO(), stderr=err)
    assert end.value.code == 3
    assert json.loads(err.getvalue()) == {
        "error": "There is no such model.",
        "problems": ["There is no such model."],
        "fields": [{"field": "model", "message": "There is no such model."}],
        "text": "Looked.",
    }


def test_each_reason_stands_by_itself(db: None) -> None:
    class Refusing(AssayCommand):
        """Refuses for two reasons, which are one line in words."""

        def perform(self, options: dict[str, Any]) -> dict[str, Any]:
            try:
                raise Refused("No model is named.", "No endpoint is.")
            except Refused as refused:
                raise CommandError(str(refused)) from None

    command, err = Refusing(), StringIO()
    command.from_script = True
    options = vars(command.create_parser("manage.py", "refusing").parse_args(["--json", "--skip-checks"]))
    with pytest.raises(SystemExit):
        command.execute(**options, stdout=StringIO(), stderr=err)
    problem = json.loads(err.getvalue())
    assert problem["error"] == "No model is named. No endpoint is."
    assert problem["problems"] == ["No model is named.", "No endpoint is."]


def test_a_report_s_format_is_honoured_or_refused(loaded: dict[str, str]) -> None:
    assert json.loads(run("report", S, "--format", "json")[1])["schema"].startswith("assay-report")
    code, out, err = run("report", S, "--format", "html")
    assert (code, out) == (1, "")
    assert "--json prints the report as JSON" in json.loads(err.splitlines()[-1])["error"]


def test_an_export_to_the_terminal_leaves_no_room_for_a_document(db: None) -> None:
    call_command("create_study", "--from", "contexteval-preferences", "--slug", DRAFT, stdout=StringIO())
    code, out, err = run("export", DRAFT, "--out", "-")
    assert (code, out) == (1, "")
    assert "name a file with --out" in json.loads(err)["error"]


def test_wrong_arguments_are_told_in_a_document() -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "status", S, "--json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert json.loads(done.stderr)["error"] == "the following arguments are required: move"
