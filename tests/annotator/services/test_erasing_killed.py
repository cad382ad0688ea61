"""An erasure whose process is killed, on the embedded default: what is left in its files, and who finishes it."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytestmark = pytest.mark.embedded

ROOT = Path(__file__).resolve().parents[3]
WORDS = "Xylophones quarrel beneath the marmalade"
PERSON = "5f1d2ann"
START = f"""
    import os, signal
    import django
    django.setup()
    from annotator.models import Participant
    from annotator.services import erasing
    from evaluation.models import Erasure, Judgment, Study
    from evaluation.services.studies.verification import verify_study

    WORDS, PERSON = {WORDS!r}, {PERSON!r}

    def kill(*given, **named):
        os.kill(os.getpid(), signal.SIGKILL)

    def erase():
        person = Participant.objects.get(external_id=PERSON)
        erasing.erase_participant(person, reason="Asked.", typed=person.rater.pseudonym, deal_again=True)
"""
MADE = """
    from annotator.services.work.drafts import save_draft
    from django.core.management import call_command
    from evaluation.services.studies.creation import PAPER_ARMS
    from tests.crowd import before, come, hand_in, make_crowd_study

    call_command("migrate", verbosity=0)
    study = make_crowd_study("raw", queries=6, arms=PAPER_ARMS[:1])
    token = come(study, PERSON).token
    for n in range(2):
        for k in range(3):
            save_draft(token, before(token).pk, {"justification": f"{WORDS}, draft {k} " * (k + 1)})
        hand_in(token, justification=f"{WORDS} {n}")
    hand_in(come(study, "somebody-else").token)
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Runs code in a process of its own; returns how that ended."""
    folder = tmp_path_factory.mktemp("var")
    environment = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    environment |= {"ASSAY_VAR_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "config.settings"}

    def run(code):
        program = textwrap.dedent(START) + textwrap.dedent(code)
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )  # fmt: skip
        assert done.returncode in (0, -signal.SIGKILL), done.stderr
        return done.returncode

    run.folder = folder
    assert run(MADE) == 0
    return run


def files_with(run, *needles):
    return {
        path.name
        for path in run.folder.rglob("*")
        if path.is_file() and any(needle.encode() in path.read_bytes() for needle in needles)
    }


def test_killed_in_the_middle_nothing_is_done_and_after_it_a_sweep_clears_up(run):
    for step in ("_erase_way", "record_erasure"):
        assert run(f"erasing.{step} = kill\nerase()") == -signal.SIGKILL
        assert run(
            """
            study = Study.objects.get()
            assert (Judgment.objects.count(), Participant.objects.count(), Erasure.objects.count()) == (3, 2, 0)
            assert list(verify_study(study)) == []
            """
        ) == 0  # fmt: skip
    assert run("erasing.clear_erasures = kill\nerase()") == -signal.SIGKILL
    # It is done, and what was written before still stands in the log beside the database.
    assert files_with(run, WORDS)
    assert run(
        """
        assert (Judgment.objects.count(), Participant.objects.count()) == (1, 1)
        assert list(Erasure.objects.values_list("is_cleared", flat=True)) == [False]
        erasing.sweep_erasures()
        assert list(Erasure.objects.values_list("is_cleared", flat=True)) == [True]
        assert list(verify_study(Study.objects.get())) == []
        """
    ) == 0  # fmt: skip
    assert files_with(run, WORDS, PERSON) == set()
