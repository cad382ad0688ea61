"""The command that lists participants tells what list_participants and list_quality tell."""

import json
from io import StringIO

import pytest
from django.core.management import call_command

from evaluation.services.exclusions import exclude
from evaluation.services.tokens import make_token
from tests.annotator.services.people import ONE_ARM
from tests.crowd import come, hand_in, make_crowd_study
from tests.evaluation.api.conftest import Caller

pytestmark = pytest.mark.django_db


def command(*args):
    out = StringIO()
    call_command("participants", "live", *args, stdout=out)
    return out.getvalue()


def test_people_and_their_quality(owner):
    study = make_crowd_study("live", owner=owner, queries=4, arms=ONE_ARM)
    assert command() == "Nobody has taken part yet.\n"
    ann, bob = (come(study, name) for name in ("5f1d2ann", "5f1d2bob"))
    hand_in(ann.token)
    exclude(study=study, rater=bob.rater, reason="Guessed.")
    lines = command().splitlines()
    assert lines[0].startswith(f"{ann.rater.pseudonym}  1 of {ann.quota} judged")
    assert lines[1].endswith("excluded: Guessed.")
    found = json.loads(command("--json"))["participants"]
    caller = Caller(make_token(owner, name="script")[1])
    assert found == caller.all("studies/live/participants/", expand="signs")
    quality = json.loads(command("--quality", "--json"))["quality"]
    assert quality == caller.all("studies/live/quality/")
    assert [each["judged"] for each in quality] == [1, 0]
