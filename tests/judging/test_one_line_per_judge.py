"""Judges, their schedules, and files of products: whichever way they come in, page, API or command, the history has the
same line, once, and names who asked."""

import json
from io import StringIO
from types import SimpleNamespace

import pytest
from django.contrib.admin.models import LogEntry
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.urls import reverse
from rest_framework.test import APIClient

from evaluation import tasks
from evaluation.models import Query, Study
from evaluation.services.history import SERVER
from judging.models import Endpoint, Judge, Run
from judging.services.anchors import set_anchors
from judging.services.generation.product_files import product_lines
from judging.services.judges import edit_judge
from tests.judging import endpoint
from tests.judging.build import make_judge
from tests.judging.generating import generated, make_endpoint, study_of_queries

FORM = {
    "name": "shorter", "backend": "shorter", "orders": "random", "samples": 1, "self_preference": "none",
    "max_tokens": 100, "temperature": 0, "verdict": "text", "rationale": "none", "price_prompt": 0,
    "price_completion": 0, "extra": "{}", "questions": ["preference"],
}  # fmt: skip


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


@pytest.fixture
def world(study, served, owner, client, settings, tmp_path, monkeypatch, django_capture_on_commit_callbacks):
    """A member's browser and token, a judge by a model, and a worker that does each job once it is queued."""
    settings.ASSAY_JOB_FILES = str(tmp_path / "jobs")
    monkeypatch.setattr(tasks.work_on_job, "delay", tasks.work_on_job)
    study.members.get_or_create(user=owner, defaults={"role": "owner"})
    client.force_login(owner)
    api = APIClient()
    api.force_authenticate(owner)

    def post(name, data, *arguments):
        with django_capture_on_commit_callbacks(execute=True):
            answer = client.post(reverse(f"admin:{name}", args=arguments), data)
        assert answer.status_code == 302, answer.content.decode()

    Query.objects.filter(study=study).update(references=["Leek."])
    llm = make_judge(study, served, "coin", questions=["preference"])
    Endpoint.objects.update(open_to_all=True)
    return SimpleNamespace(
        study=study, llm=llm, owner=owner, post=post, api=api, folder=tmp_path, served=served
    )


def lines(study):
    entries = LogEntry.objects.filter(object_id=str(study.pk), content_type__model="study").order_by("pk")
    return [(entry.user.username, entry.change_message) for entry in entries]


def by_api(world, method, path, body=None, study=None):
    address = f"/api/v1/studies/{(study or world.study).slug}/{path}/"
    answer = getattr(world.api, method)(address, body or {}, format="json")
    assert answer.status_code in (200, 201), answer.content


def command(*arguments, **options):
    call_command(*arguments, stdout=StringIO(), **options)


def scheduled(world):
    set_anchors(world.llm, every_days=7)


def scoring(world):
    edit_judge(world.llm, backend="geval", questions=[])


PERSONAS = "a=0.2: Be kind.\nb=0.9"
# By act: what is done before, the ways, and the line.
ACTS = {
    "create": (
        None,
        {
            "page": lambda world: world.post("judging_judge_new", FORM, world.study.slug),
            "command": lambda world: command("add_judge", world.study.slug, "shorter", backend="shorter"),
        },
        "Created judge shorter v1.",
    ),
    "edit": (
        lambda world: command("add_judge", world.study.slug, "shorter", backend="shorter"),
        {
            "page": lambda world: world.post(
                "judging_judge_edit", {**FORM, "orders": "both"}, Judge.objects.get(name="shorter").pk
            ),
            "command": lambda world: command("add_judge", world.study.slug, "shorter", orders="both"),
        },
        "Edited judge shorter: now shorter v1.",
    ),
    "jury": (
        None,
        {
            "page": lambda world: world.post(
                "judging_judge_jury",
                {"name": "crowd", "like": world.llm.pk, "combination": "mean", "personas": PERSONAS},
                world.study.slug,
            ),
            "command": lambda world: command(
                "add_jury", world.study.slug, "crowd", endpoint="here", model="coin", combination="mean",
                personas=PERSONAS.splitlines(),
            ),
        },
        "Created jury crowd of 2 judges.",
    ),
    "judges of a paper": (
        None,
        {
            "page": lambda world: world.post(
                "judging_judge_preset",
                {"preset": "contexteval", "endpoint_1": world.llm.endpoint_id, "model_1": "coin"},
                world.study.slug,
            ),
            "command": lambda world: command(
                "add_judges", world.study.slug, preset="contexteval", models=["here:coin"]
            ),
        },
        "Created the judges of ContextEval: coin v1.",
    ),
    "prompt conditions": (
        None,
        {
            "page": lambda world: world.post("judging_judge_conditions", {"demonstrations": "1"}, world.llm.pk),
            "api": lambda world: by_api(
                world, "post", f"judges/{world.llm.pk}/conditions", {"demonstrations": 1}
            ),
            "command": lambda world: command("add_conditions", world.study.slug, "llm", demonstrations=1),
        },
        "Created the prompt conditions of llm v1: llm-basic v1, llm-examples v1, llm-guideline v1, "
        "llm-guideline-examples v1.",
    ),
    "schedule anchors": (
        None,
        {
            "page": lambda world: world.post("judging_judge_anchors", {"every_days": "7"}, world.llm.pk),
            "api": lambda world: by_api(world, "put", f"judges/{world.llm.pk}/anchors", {"every_days": 7}),
            "command": lambda world: command("anchors", world.study.slug, judge="llm", every=7),
        },
        "Anchor runs of llm v1: all items every 7 days.",
    ),
    "end anchors": (
        scheduled,
        {
            "page": lambda world: world.post("judging_judge_anchors", {"stop": "1"}, world.llm.pk),
            "api": lambda world: by_api(world, "delete", f"judges/{world.llm.pk}/anchors"),
            "command": lambda world: command("anchors", world.study.slug, judge="llm", stop=True),
        },
        "Ended the anchor runs of llm v1.",
    ),
    "write steps": (
        scoring,
        {
            "page": lambda world: world.post("judging_judge_steps", {}, world.llm.pk),
            "command": lambda world: command("write_steps", world.study.slug, "llm"),
        },
        "Edited judge llm: now llm v1.",
    ),
}  # fmt: skip
# What only says that a worker will do it.
ANNOUNCEMENTS = ("Asked for ", "Started ")


def one_line(world, study, way):
    found = [(who, line) for who, line in lines(study) if not line.startswith(ANNOUNCEMENTS)]
    assert [who for who, _ in found] == [SERVER if way == "command" else world.owner.username], found
    return found[0][1]


@pytest.mark.parametrize(("act", "way"), [(act, way) for act, (_, ways, _) in ACTS.items() for way in ways])
def test_an_act_leaves_one_line_whichever_way_it_comes_in(world, act, way):
    before, ways, said = ACTS[act]
    if before is not None:
        before(world)
    LogEntry.objects.all().delete()
    ways[way](world)
    assert one_line(world, world.study, way) == said


@pytest.mark.parametrize("way", ["page", "api", "command"])
def test_a_study_of_products_is_in_both_histories(world, way):
    make_endpoint(world.served)
    soups = study_of_queries(world.folder, [{"key": "q1", "text": "Which soup?"}], slug="soups")
    soups.members.create(user=world.owner, role="owner")
    run = generated(soups, "responses", models=("aspen", "birch"), options={"settings": "without"})
    LogEntry.objects.all().delete()
    if way == "page":
        form = {"option-arms": "without", "option-baseline": "", "title": "Pairs", "slug": "pairs"}
        world.post("evaluation_study_generation_make", form, soups.slug, run.pk)
    elif way == "api":
        body = {"options": {"arms": "without"}, "title": "Pairs", "slug": "pairs"}
        by_api(world, "post", f"generation/runs/{run.pk}/studies", body, soups)
    else:
        command(
            "generate", "soups", run=run.pk, make=True, set=["arms=without"], title="Pairs", new_slug="pairs"
        )
    assert one_line(world, soups, way) == f"Made Pairs of {run}."
    assert one_line(world, Study.objects.get(slug="pairs"), way) == f"Made of {run} of {soups.title}."


@pytest.mark.parametrize("way", ["page", "api", "command"])
def test_imported_products_are_in_the_history(world, way):
    make_endpoint(world.served)
    soups = study_of_queries(world.folder, [{"key": "q1", "text": "Which soup?"}], slug="soups")
    soups.members.create(user=world.owner, role="owner")
    run = generated(soups, "responses", options={"settings": "without"})
    file = world.folder / "products.jsonl"
    file.write_text("".join(f"{line}\n" for line in product_lines(run)))
    LogEntry.objects.all().delete()
    if way == "page":
        data = {"file": SimpleUploadedFile(file.name, file.read_bytes())}
        world.post("evaluation_study_generation_import", data, soups.slug)
    elif way == "api":
        body = {"lines": [json.loads(line) for line in file.read_text().splitlines()]}
        by_api(world, "post", "generation/import", body, soups)
    else:
        command("generate", "soups", **{"import": file})
    new = Run.objects.exclude(pk=run.pk).get(study=soups)
    source = "" if way == "api" else " from products.jsonl"
    assert one_line(world, soups, way) == f"Imported 1 product{source} as {new}."
