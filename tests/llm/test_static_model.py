"""Real embeddings without an endpoint: the recipe in docs/judges.md, and what its model says of PandaLM's pairs."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
from django.core.management import call_command

from analytics.statistics.agreement.leave_one_out import item_outer
from evaluation.models import Study
from judging.services.judges import create_judge
from tests.judging.build import judged
from tests.llm.answers import LABELS, answers_of
from tests.published import published_data

PAGE = Path(__file__).resolve().parents[2] / "docs/judges.md"
PACKAGES = "import sysconfig; print(sysconfig.get_path('purelib'))"


def test_the_recipe_gives_a_static_model_that_judges(db, settings, tmp_path, monkeypatch, capsys):
    python = os.environ["ASSAY_LLM_PYTHON"]
    packages = subprocess.run(
        [python, "-c", PACKAGES], check=True, capture_output=True, text=True
    ).stdout.strip()
    monkeypatch.syspath_prepend(packages)
    # After our own packages: what is taken from there is files.
    sys.path.append(sys.path.pop(0))
    monkeypatch.setattr(sys, "argv", ["recipe", str(tmp_path)])
    [recipe] = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    exec(compile(recipe, str(PAGE), "exec"), {})  # noqa: S102 - the documentation's own lines
    settings.ASSAY_STATIC_MODELS = str(tmp_path)
    call_command(
        "import_published",
        "pandalm",
        str(published_data("pandalm/testset-v1.json")),
        slug="pandalm",
        verbosity=0,
    )
    study = Study.objects.get(slug="pandalm")
    judge = create_judge(
        study, name="near", backend="static_embedding", options={"folder": "wordllama-256"},
        reference_from="llama-7b",
    )  # fmt: skip
    run, _ = judged(study, judge)
    assert run.state == "complete", run.reason
    people, said = answers_of(study, run.judging.rater_id)
    assert len(said) > 500
    labels = np.array([LABELS.index(label) for each in said.values() for label, _ in each.values()])
    found = item_outer(np.array([people[item] for item in said]), labels).mean()
    with capsys.disabled():
        sys.stdout.write(
            f"\nstatic embeddings: {len(said)} pairs, leave-one-out agreement with people {found:.4f}\n"
        )
