"""Acts on a study with more than one way in: the history has the same line, once, whichever way was taken."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotator.services.slots.replacements import replace_excluded
from evaluation.models import Study
from evaluation.services.exclusions import exclude, restore
from evaluation.services.history import SERVER
from evaluation.services.studies.launch import pause_study
from tests import factories
from tests.config.source_tree import ROOT, trees
from tests.evaluation.admin.conftest import signed_in

REASON = {"reason": "Lunch."}


def lines(study: Study) -> list[tuple[str, str]]:
    entries = LogEntry.objects.filter(object_id=str(study.pk), content_type__model="study").order_by("pk")
    return [(entry.user.username, entry.change_message) for entry in entries]


def study_page(name: str, data: dict[str, Any] = REASON) -> Callable[[Any, SimpleNamespace], Any]:
    def post(client: Any, world: SimpleNamespace) -> Any:
        return client.post(reverse(f"admin:evaluation_study_{name}", args=[world.study.slug]), data)

    return post


def rater_page(name: str) -> Callable[[Any, SimpleNamespace], Any]:
    def post(client: Any, world: SimpleNamespace) -> Any:
        address = reverse(f"admin:evaluation_rater_{name}")
        return client.post(f"{address}?ids={world.rater.pk}", REASON)

    return post


def judgment_page(name: str) -> Callable[[Any, SimpleNamespace], Any]:
    def post(client: Any, world: SimpleNamespace) -> Any:
        return client.post(reverse(f"admin:evaluation_judgment_{name}", args=[world.judgment.pk]), REASON)

    return post


def of_rater(*undo: str) -> Callable[[SimpleNamespace], list[str]]:
    return lambda world: [
        "exclude",
        world.study.slug,
        "--rater",
        world.rater.pseudonym,
        "--reason",
        "Lunch.",
        *undo,
    ]


def of_judgment(*undo: str) -> Callable[[SimpleNamespace], list[str]]:
    return lambda world: [
        "exclude", world.study.slug, "--judgment", str(world.judgment.pk), "--reason", "Lunch.", *undo,
    ]  # fmt: skip


def moved(move: str) -> Callable[[SimpleNamespace], list[str]]:
    return lambda world: ["status", world.study.slug, move]


def restored(world: SimpleNamespace) -> None:
    restore(world.study.exclusions.get(judgment=world.judgment, undone_at=None))


# What is done before, the page, the command, and the line that either leaves; the page alone asks for a reason where
# the command takes none.
ACTS: dict[str, tuple[Any, Any, Any, str]] = {
    "pause": (None, study_page("pause"), moved("pause"), "Paused."),
    "resume": (lambda world: pause_study(world.study), study_page("resume"), moved("resume"), "Resumed."),
    "close": (None, study_page("close"), moved("close"), "Closed."),
    "exclude a rater": (None, rater_page("exclude"), of_rater(), "Excluded {rater}. Reason: Lunch."),
    "restore a rater": (
        lambda world: exclude(study=world.study, rater=world.rater, reason="Guessed."),
        rater_page("restore"),
        of_rater("--undo"),
        "Restored {rater}. Reason: Lunch.",
    ),
    "exclude a judgment": (
        restored,
        judgment_page("exclude"),
        of_judgment(),
        "Excluded {judgment.rater}'s judgment of {judgment.item}. Reason: Lunch.",
    ),
    "restore a judgment": (
        None,
        judgment_page("restore"),
        of_judgment("--undo"),
        "Restored {judgment.rater}'s judgment of {judgment.item}. Reason: Lunch.",
    ),
    "redundancy": (
        None,
        study_page("redundancy", {"redundancy": 5, **REASON}),
        lambda world: ["places", world.study.slug, "--redundancy", "5"],
        "Judgments per item: 5 instead of 3.",
    ),
    "re-collect": (
        None,
        study_page("replace"),
        lambda world: ["places", world.study.slug, "--replace-excluded"],
        "Opened 1 slot for excluded judgments.",
    ),
}


@pytest.mark.parametrize("way", ["page", "command"])
@pytest.mark.parametrize("act", ACTS)
def test_an_act_leaves_one_line_whichever_way_it_comes_in(
    mine: SimpleNamespace, colleague: Any, act: str, way: str
) -> None:
    before, page, command, line = ACTS[act]
    if before is not None:
        before(mine)
    LogEntry.objects.all().delete()
    said = line.format(rater=mine.rater, judgment=mine.judgment)
    if way == "page":
        assert page(signed_in(colleague), mine).status_code == 302
        assert lines(mine.study) == [
            (colleague.username, f"{said.removesuffix(' Reason: Lunch.')} Reason: Lunch.")
        ]
    else:
        call_command(*command(mine))
        assert lines(mine.study) == [(SERVER, said)]


@pytest.mark.parametrize("way", ["page", "command"])
def test_a_launch_leaves_one_line_whichever_way_it_comes_in(
    editors_draft: Study, colleague: Any, way: str
) -> None:
    if way == "page":
        address = reverse("admin:evaluation_study_launch", args=[editors_draft.slug])
        assert signed_in(colleague).post(address, {"confirmed": "1"}).status_code == 302
    else:
        call_command("launch", editors_draft.slug, confirm=True)
    who = colleague.username if way == "page" else SERVER
    assert lines(editors_draft) == [(who, f"Launched with {editors_draft.items.count():,} items.")]


@pytest.mark.parametrize("by", ["", "colleague"])
def test_a_revision_by_command_leaves_its_line(
    mine: SimpleNamespace, colleague: Any, tmp_path: Path, by: str
) -> None:
    LogEntry.objects.all().delete()
    changes = tmp_path / "changes.json"
    changes.write_text(json.dumps({"spec": {"title": "Other words"}}))
    call_command("revise", mine.study.slug, str(changes), by=by)
    assert lines(mine.study) == [(by or SERVER, "Revision 2 is what new participants get from now on.")]


def test_what_nobody_asked_for_leaves_no_line(owner: Any) -> None:
    """What a participant's leaving or a panel brings about stands where it happened, not in the history of members."""
    study = factories.launched(owner=owner)
    rater = study.raters.create(kind="person", pseudonym="p1")
    restore(exclude(study=study, rater=rater, reason="The participant withdrew."))
    replace_excluded(study)
    assert lines(study) == []


def test_no_api_and_no_command_writes_the_history() -> None:
    """The service does, or another way in would leave another line, or none."""
    ways = [path for path in trees() if {"api", "management", "tasks.py"} & set(path.relative_to(ROOT).parts)]
    assert len(ways) > 100
    own = {path.relative_to(ROOT).as_posix() for path in ways if "log_action(" in path.read_text()}
    # A job that fails has no service to say so.
    assert own == {"evaluation/tasks.py"}


def test_the_command_refuses_an_exclusion_without_a_reason(mine: SimpleNamespace) -> None:
    with pytest.raises(CommandError, match="An exclusion needs a reason"):
        call_command("exclude", mine.study.slug, "--rater", mine.rater.pseudonym, "--reason", " ")
    assert not mine.study.exclusions.filter(rater=mine.rater).exists()
