"""Every number and sentence of the reports of many studies."""

import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from django.contrib.auth import get_user_model
from django.core.management import call_command

from analytics.reports.build import build_report
from analytics.reports.code_version import code_version
from analytics.reports.markdown import report_markdown
from analytics.reports.paper.latex import report_latex
from evaluation.demo.simulation import simulate
from evaluation.demo.studies import STUDIES
from evaluation.extension import extensions
from evaluation.filters import EVERYTHING, TOGETHER, Filters
from evaluation.models import Study
from evaluation.services.studies.launch import launch_study
from tests.analytics.reports import golden_studies, golden_text
from tests.analytics.reports.judging import judge, judged_study
from tests.analytics.reports.test_alpaca_eval import annotations
from tests.analytics.reports.test_answers_lfqa import lfqa_study
from tests.analytics.reports.test_one_interval import irregular
from tests.analytics.reports.test_one_interval_answers import ANSWERS, drawn
from tests.analytics.reports.validator import problems
from tests.published import published_data

FOLDER = Path(__file__).parent / "goldens"
# What a report says of the code and its libraries, and of the day on which the study was launched.
VERSION = "0123456789ab"
LAUNCHED = datetime(2026, 1, 2, 12, tzinfo=UTC)
TWO_ARMS = ({"key": "without", "label": "Without context"}, {"key": "with", "label": "With context"})


def demo_study(slug):
    (demo,) = (each for each in STUDIES if each.slug == slug)
    get_user_model().objects.get_or_create(username="demo", defaults={"is_staff": True})
    call_command("import_study", str(demo.items), slug=slug, owner="demo", verbosity=0)
    study = Study.objects.get(slug=slug)
    launch_study(study)
    simulate(study, demo.simulation)
    for each in extensions():
        each.fill_demo(study)
    return study


def pandalm_study():
    path = published_data("pandalm/testset-v1.json")
    call_command("import_published", "pandalm", str(path), slug="pandalm", verbosity=0)
    return Study.objects.get(slug="pandalm")


def continuous_study(tmp_path):
    rng = np.random.default_rng(5)
    preferences = [1.0, 2.0, 1.5, *(1 + rng.beta(0.4, 0.6, 400)).tolist()]
    path = tmp_path / "annotations.json"
    path.write_text(json.dumps(annotations("aspen", [*preferences, None, None])))
    call_command("import_published", "alpaca_eval", str(path), slug="alpaca", verbosity=0)
    return Study.objects.get(slug="alpaca")


def paired_study():
    """People and two judges, two arms, two pairs' worth of systems, more queries than can be counted out."""
    study = judged_study(queries=40, arms=TWO_ARMS, baseline="birch")
    judge(study, raters=3, choose=irregular)
    judge(study, raters=2, kind="judge", choose=lambda rater, at: irregular(5 + rater, at))
    return study


MAKERS = {
    **{f"demo {demo.slug}": lambda tmp_path, slug=demo.slug: demo_study(slug) for demo in STUDIES},
    "pandalm": lambda tmp_path: pandalm_study(),
    "lfqa": lambda tmp_path: lfqa_study(),
    "alpaca continuous": continuous_study,
    "paired": lambda tmp_path: paired_study(),
    **{f"drawn {protocol}": lambda tmp_path, protocol=protocol: drawn(protocol) for protocol in ANSWERS},
    **golden_studies.MAKERS,
}
# The view that the report is of, if not of everything.
FILTERS = {"judges": Filters(judges=TOGETHER)}


def made(name, tmp_path):
    """The study of that name and the filters of its report. Raters are numbered in place of their pseudonyms."""
    study = MAKERS[name](tmp_path)
    for number, rater in enumerate(study.raters.order_by("pk"), 1):
        study.raters.filter(pk=rater.pk).update(pseudonym=f"the {rater.kind} {number}")
    study.revisions.update(created_at=LAUNCHED)
    return study, FILTERS.get(name, EVERYTHING)


def golden(study, filters):
    """The values of the study's report, those where ties are wins, its Markdown; its LaTeX; and the report.

    The second is None where no ties are judged.
    """
    report = with_version(build_report(study, filters=filters))
    assert problems(report) == []
    win = None
    if study.protocol_object.compares_pairs:
        win = with_version(build_report(study, ties="win", filters=filters))
    found = (values(report), win and values(win), report_markdown(report).splitlines())
    return found, report_latex(report), report


def with_version(report):
    return json.loads(json.dumps(report).replace(code_version(), VERSION))


def values(report):
    """{path: value}; a path begins with a record's figure, question and group."""
    rest = {key: value for key, value in report.items() if key != "records"}
    # A sentence is a line.
    found = dict(
        golden_text.flat(rest | {"methods": [{"text": each} for each in rest["methods"]]}, "report: ")
    )
    for record in report["records"]:
        about = " ".join((record["figure"], record["question"], record["group"]))
        own = {key: value for key, value in record.items() if key not in ("figure", "question", "group")}
        found |= golden_text.flat(own, f"{about}: ")
    return found


def path_of(name):
    return FOLDER / f"{name.replace(' ', '-')}.txt"


def read(name):
    return golden_text.read(path_of(name).read_text("utf-8"))


def write(name, found):
    FOLDER.mkdir(exist_ok=True)
    path_of(name).write_text(golden_text.text_of(*found), "utf-8")
