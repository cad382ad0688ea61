"""People and judges read the same guideline, of every protocol, with contexts and without."""

import html
import re

import pytest

from annotator.views.shared.parts import guideline, instruction_texts, rendered
from evaluation.models import Arm
from evaluation.protocols import PROTOCOLS
from evaluation.services.studies.launch import launch_study
from judging.prompting.item_call import ItemCall
from judging.prompting.request import build_request
from judging.prompting.settings import Settings
from tests.analytics.reports.answering import answered_study, items_of

pytestmark = pytest.mark.django_db
JUDGE = Settings(model="m")


def words(page):
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def told_to_judge(protocol, spec, stimulus, order):
    """The guideline in the first message of a judge's prompt; empty where it has none."""
    system = build_request(ItemCall(protocol, spec, stimulus, JUDGE, order=order, capabilities={})).messages[
        0
    ]["content"]
    _, found, rest = system.partition("# Guideline\n\n")
    return rest.partition("\n\n# Questions\n\n")[0] if found else ""


@pytest.mark.parametrize("shown", [True, False])
@pytest.mark.parametrize("name", sorted(PROTOCOLS))
def test_people_and_judges_read_the_same(name, shown):
    chosen = [{"question": "How far along?", "options": ["a", "b"], "answer": "a"}]
    pair = {"kinds": dict.fromkeys(("aspen", "birch"), "model"), "follow_ups": chosen}
    study = answered_study(name, queries=2, launched=False, **(pair if name == "pairwise" else {}))
    Arm.objects.filter(study=study).update(context_at_judging=shown)
    launch_study(study)
    spec, protocol = study.revisions.get().spec, PROTOCOLS[name]
    on_instructions = [words(each["html"]) for each in instruction_texts(study, spec)["guidelines"]]
    read = set()
    for item in items_of(study):
        parts = ",".join(f"r{place}" for place, _ in enumerate(item.stimulus["responses"], 1))
        told = told_to_judge(protocol, spec, item.stimulus, parts)
        person = words(guideline(protocol, spec, item.stimulus))
        assert person == words(rendered(told))
        read.add(person)
    (told_to_people,) = read
    assert told_to_people or name == "custom"
    if spec["texts"].get("guideline"):
        # The page of instructions has it in parts, each under its heading.
        assert " ".join(on_instructions) == told_to_people
    if not shown and spec["texts"].get("guideline_context"):
        assert words(rendered(spec["texts"]["guideline_context"])) not in told_to_people
