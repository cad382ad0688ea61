"""Participants at different places of a small study."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from annotator.models import Participant
from annotator.services.admission.entry import enter
from annotator.visit import Visit
from evaluation.models import Study
from evaluation.services.studies.creation import PAPER_ARMS
from tests import factories

WITHOUT, WITH = PAPER_ARMS[:1], PAPER_ARMS[1:2]
CODES = {"completed": "DONE-1", "no_consent": "NO-1", "full": "FULL-1", "withdrawn": "OUT-1"}
VISIT = {"PROLIFIC_PID": "person-1", "STUDY_ID": "panel-study", "SESSION_ID": "visit-1"}


@pytest.fixture
def make() -> Callable[..., Study]:
    """Makes a live study; by default it asks for consent and goes straight to items without context."""

    def make(slug: str = "pairs", **fields: Any) -> Study:
        fields = {
            "arms": WITHOUT,
            "training": False,
            "checks": 0,
            "steps": factories.NO_STEPS,
            "completion_codes": CODES,
            "contact": "research@example.org",
            **fields,
        }
        title = fields.pop("title", "Pairs")
        return factories.launch(factories.make_study(slug, **fields), title=title)

    return make


@pytest.fixture
def pairs(db: None, make: Callable[..., Study]) -> Study:
    return make()


@pytest.fixture
def participant(pairs: Study) -> Participant:
    return enter(pairs, Visit("prolific", *VISIT.values()))


@pytest.fixture
def other_participant(pairs: Study) -> Participant:
    return enter(pairs, Visit("prolific", "person-2", "panel-study", "visit-2"))


def home(participant: Participant) -> str:
    return f"/p/{participant.token}/"


def address(client: Client, participant: Participant, action: str = "submit") -> str:
    """Where the item that is before the participant is submitted, skipped, kept or reported."""
    page = client.get(home(participant)).content.decode()
    found = re.search(rf'action="({home(participant)}a/[0-9a-f-]+/)submit/"', page)
    assert found, page
    return f"{found[1]}{action}/"


def fields(client: Client, participant: Participant, **values: str) -> dict[str, str]:
    """A complete form for the item that is before the participant."""
    page = client.get(home(participant)).content.decode()
    cells = dict.fromkeys(re.findall(r'name="(satisfied\.[^"]+)"', page), "1")
    return cells | {"preference": "r1", "justification": "It says more about it.", "visible_ms": "5"} | values


def text(response: Any) -> str:
    """What a page says, without its markup and with single spaces."""
    import html

    body = re.sub(r"<(style|noscript)[^>]*>.*?</\1>", " ", response.content.decode(), flags=re.S)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())
