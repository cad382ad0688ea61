"""A study that is to be recruited for on the tests' own Prolific, and what the tests of that share."""

from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import call_command

from evaluation.refusals import Refused
from evaluation.services.studies.creation import PAPER_ARMS
from tests import factories

CODES = {"completed": "C-DONE", "no_consent": "C-NO", "full": "C-FULL", "withdrawn": "C-OUT"}
RULES = {
    "arms": PAPER_ARMS[:1],
    "queries": 4,
    "training": False,
    "checks": 0,
    "steps": factories.NO_STEPS,
    "redundancy": 3,
    "items_per_participant": 3,
    "paid_minutes": 21,
    "pay": Decimal("5.25"),
    "currency": "USD",
    "contact": "research@example.org",
    "completion_codes": CODES,
}


def make(slug="pairs", **rules):
    title = "Pairs of answers" if slug == "pairs" else f"Study {slug}"
    return factories.launch(factories.make_study(slug, **RULES | rules), title=title)


def drafted_as(prolific):
    [asked] = prolific.sent("POST", "^/studies/$")
    return asked.body


def problems_of(call, *args, **named):
    with pytest.raises(Refused) as caught:
        call(*args, **named)
    return caught.value.problems


def run(*words):
    """What a command writes."""
    out, err = StringIO(), StringIO()
    call_command(*words, stdout=out, stderr=err)
    return out.getvalue() + err.getvalue()
