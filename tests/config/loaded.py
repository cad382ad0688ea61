"""What a web process has loaded: with all addresses known, and after participants were served. Run by test_start.py.

`python -m tests.config.loaded make` fills the database, `... serve` prints the two lists as JSON.
"""

import json
import re
import sys

import django
from django.urls import get_resolver

# Of each protocol one study, by what makes it; of `pairwise` one with every step.
PROTOCOLS = (
    "aspects",
    "question_quality",
    "relevance",
    "ranking",
    "context_validation",
    "answer_pairs",
    "justification_coding",
    "condition_calibration",
)
DOORS = ("pairs", *(f"the-{each.replace('_', '-')}" for each in PROTOCOLS))


def make() -> None:
    from tests import factories, protocol_factories

    steps = {
        "consent": True,
        "instructions": True,
        "training": True,
        "qualification": None,
        "attention": {"checks": 1, "allowed_failures": 3},
        "comments": True,
    }
    factories.launch(factories.make_study("pairs", steps=steps), contact="x@example.org")
    for each in PROTOCOLS:
        getattr(protocol_factories, f"make_{each}_study")(f"the-{each.replace('_', '-')}")


def serve() -> None:
    """Whoever asks whether the process is well, and a participant of each study from consent to the end."""
    from django.test import Client

    seen: dict[str, object] = {"start": names()}
    client = Client()
    for path in ("/healthz", "/readyz"):
        assert client.get(path).status_code == 200, path
    seen["ended"] = {door: visit(Client(), f"/s/{door}/") for door in DOORS}
    seen["served"] = names()
    sys.stdout.write(json.dumps(seen))


def visit(client, door: str) -> str:
    """How the participant's visit ended."""
    from annotator.models import Participant
    from tests.annotator.pages import Form

    page = client.get(door).content.decode()
    consent = re.search(r'name="consent" value="([^"]+)"', page)
    answer = client.post(door, {"choice": "agree", "consent": consent[1] if consent else ""})
    here = answer["Location"]
    for _ in range(40):
        html = client.get(here).content.decode()
        submit = re.search(r'id="judge"[^>]*action="([^"]+)"', html)
        if submit:
            client.post(submit[1], Form(html).filled_in())
            continue
        action = re.search(r'<form method="post" action="([^"]+)"', html)
        if action is None:
            break
        client.post(action[1], {"comments": ""})
    return Participant.objects.latest("pk").outcome


def names() -> list[str]:
    return sorted(name for name, module in sys.modules.items() if module is not None)


if __name__ == "__main__":
    django.setup()
    if sys.argv[1] == "make":
        make()
    else:
        assert get_resolver().url_patterns
        serve()
