"""Every kind of job, its worker killed at each of its steps, one after another: what it is for comes to be once."""

from datetime import timedelta
from itertools import count

import orjson
import pytest
from django.contrib.admin.models import DELETION, LogEntry
from django.utils import timezone

from analytics.figures.registry import FIGURES
from analytics.reports.build import build_report
from analytics.reports.bundle import members
from analytics.reports.bundle.jobs import begin_bundle
from analytics.reports.cache import cached_report, compute_report
from analytics.reports.comparison.sides import ComparisonSide, Sides
from analytics.reports.deferred.records import waiting_in
from analytics.reports.deferred.section_jobs import begin_section
from analytics.reports.paper import archive
from analytics.reports.paper.archive import plots_of, tables_of
from analytics.reports.paper.file_jobs import begin_archive
from analytics.reports.report_jobs import report_parameters, report_subject
from annotator.models import DraftRound, PanelRecord
from annotator.panels.services import recruiting, study_draft
from annotator.panels.services.reading_jobs import begin_reading
from annotator.services.admission.entry import enter
from annotator.services.work.draft_rounds import request_round
from annotator.visit import Visit
from evaluation import tasks
from evaluation.extension import Reviser
from evaluation.filters import EVERYTHING
from evaluation.forms.input.posted_fields import read_fields
from evaluation.job_kinds import job_kinds
from evaluation.models import CachedReport, Job, Rater, Study, StudyMember
from evaluation.services import jobs
from evaluation.services.jobs import begin_job, new_file_name, restart_job, store_upload
from evaluation.services.studies.launch import close_study
from evaluation.services.studies.verification import verify_study
from judging import validation_acts
from judging.models import LedgerEntry, Product, Run
from judging.retrieval.corpora import CORPORA
from judging.services.endpoints.access import create_endpoint
from judging.services.endpoints.connection_test import begin_test
from judging.services.evaluation_steps import begin_steps
from judging.services.generation.product_files import read_products
from judging.services.judges import create_judge
from judging.services.validation import validation_of
from tests import factories
from tests.analytics.reports.judging import judge, judged_study
from tests.annotator.panels import recruits
from tests.annotator.panels.conftest import prolific  # noqa: F401 - a fixture
from tests.calibrations import FERRY, NEW, OLD, calibration_study, form, kept
from tests.crowd import before
from tests.evaluation.dumps import build
from tests.evaluation.services.studies.test_items import record
from tests.extensions import extend
from tests.judging import endpoint
from tests.judging.build import make_judge
from tests.judging.generating import study_of_queries
from tests.judging.trusting import run_of, study_with_people

pytestmark = pytest.mark.django_db


class Killed(BaseException):
    """The end of a process, which tidies nothing up."""


@pytest.fixture(autouse=True)
def folders(settings, tmp_path):
    settings.ASSAY_JOB_FILES = str(tmp_path / "jobs")
    settings.ASSAY_CORPORA = str(tmp_path / "corpora")
    (tmp_path / "corpora").mkdir()


@pytest.fixture
def judged(owner):
    study = judged_study("judged", owner=owner, queries=6)
    judge(study, raters=3)
    return study


def uploaded(kind, owner, content, file_name, study=None, slug="", **parameters):
    return begin_job(
        kind=kind, slug=slug or study.slug, study=study, by=owner, file=store_upload([content]), file_name=file_name,
        parameters=parameters,
    )  # fmt: skip


def jsonl(*records):
    return b"\n".join(map(orjson.dumps, records))


def an_import(owner, request):
    job = uploaded(
        "import", owner, jsonl(build.header(), build.item(1), build.item(2)), "soups.jsonl", slug="soups"
    )
    yield job
    assert Study.objects.get().items.count() == 2


def an_export(owner, request):
    study = request.getfixturevalue("judged")
    yield begin_job(
        kind="export", slug=study.slug, study=study, by=owner, parameters={"format": "csv"},
        file=new_file_name("csv"),
    )  # fmt: skip
    path = Job.objects.get(kind="export").path
    assert path.read_text().count("\n") == study.judgments.count() + 1
    assert list(path.parent.iterdir()) == [path]


def a_launch(owner, request):
    draft = factories.make_study("draft", owner=owner, queries=3)
    yield begin_job(kind="launch", slug=draft.slug, study=draft, by=owner)
    assert Study.objects.get().status == "live"
    assert not list(verify_study(draft))


def scores(owner, request):
    study = request.getfixturevalue("judged")
    item = study.items.order_by("pk")[0]
    system = study.systems.order_by("pk")[0]
    table = f"item,system,name,score\n{item.key},{system.key},rouge,0.5\n".encode()
    yield uploaded("scores", owner, table, "scores.csv", study, judge="Script")
    assert Rater.objects.filter(label="Script").count() == 1


def a_rehearsal(owner, request):
    draft = factories.make_study("draft", owner=owner, queries=3)
    asked = {"participants": 2, "hurried": 0, "random": 0}
    yield begin_job(kind="rehearsal", slug=draft.slug, study=draft, by=owner, parameters=asked)
    assert Study.objects.exclude(pk=draft.pk).count() == 1
    assert Study.objects.exclude(pk=draft.pk).get().raters.count() == 2


def a_deletion(owner, request):
    study = request.getfixturevalue("judged")
    close_study(study)
    asked = {"title": study.title, "reason": ""}
    yield begin_job(kind="deletion", slug=study.slug, study=study, by=owner, parameters=asked)
    assert not Study.objects.exists()
    assert LogEntry.objects.filter(action_flag=DELETION).count() == 1


def an_addition(owner, request):
    study = factories.launch(factories.make_study("running", owner=owner, queries=3))
    before = study.items.count()
    added = jsonl(record("late"), record("later"))
    yield uploaded("addition", owner, added, "late.jsonl", study, confirmed=True)
    assert study.items.count() == before + 2
    assert not list(verify_study(Study.objects.get(pk=study.pk)))


def a_pooling(owner, request):
    first, second = request.getfixturevalue("judged"), judged_study("again", owner=owner, queries=6)
    judge(second, raters=2)
    yield begin_job(
        kind="pooling", slug="both", study=first, by=owner, parameters={"other": second.pk, "title": "Both"}
    )
    made = Study.objects.get(slug="both")
    assert (made.status, made.judgments.count()) == (
        "closed",
        first.judgments.count() + second.judgments.count(),
    )
    assert Study.objects.count() == 3


def queries(owner, request):
    study = study_of_queries(request.getfixturevalue("tmp_path"), [{"key": "q0", "text": "Which soup?"}])
    yield uploaded("queries", owner, b"prompt,topic\nIs rain wet?,science\n", "queries.csv", study)
    assert study.queries.count() == 2


PIPELINE = jsonl({"assay_products": 1, "pipeline": "responses"})
PRODUCT = {
    "query": "q0",
    "step": "responses",
    "unit": "aspen:without",
    "content": {"system": "aspen", "text": "Leek."},
}


def products(owner, request):
    study = study_of_queries(request.getfixturevalue("tmp_path"), [{"key": "q0", "text": "Which soup?"}])
    yield uploaded("products", owner, PIPELINE + b"\n" + jsonl(PRODUCT), "products.jsonl", study)
    assert Run.objects.count() == Product.objects.count() == 1


def a_study_of_products(owner, request):
    study = study_of_queries(request.getfixturevalue("tmp_path"), [{"key": "q0", "text": "Which soup?"}])
    StudyMember.objects.create(study=study, user=owner, role=StudyMember.Role.OWNER)
    other = {**PRODUCT, "unit": "birch:without", "content": {"system": "birch", "text": "Pea."}}
    run = read_products(study, [PIPELINE + b"\n", jsonl(PRODUCT) + b"\n", jsonl(other) + b"\n"]).save()
    options = {"arms": "without", "baseline": ""}
    yield begin_job(
        kind="making", slug="made", study=study, by=owner,
        parameters={"run": run.pk, "options": options, "title": "Made"},
    )  # fmt: skip
    assert Study.objects.get(slug="made").items.count() == 1


def a_corpus(owner, request):
    study = study_of_queries(request.getfixturevalue("tmp_path"), [{"key": "q0", "text": "Which soup?"}])
    yield uploaded(
        "corpus", owner, jsonl({"id": "d1", "text": "Leek."}), "soups.jsonl", study, name="soups.jsonl"
    )
    assert [file.name for file in CORPORA.files()] == ["soups.jsonl"]


def figures(owner, request):
    study = request.getfixturevalue("judged")
    yield begin_job(
        kind="figures", slug=study.slug, study=study, by=owner,
        subject=report_subject(study, "half", EVERYTHING), parameters=report_parameters(study, "half", EVERYTHING),
    )  # fmt: skip
    assert CachedReport.objects.get().payload["records"] == build_report(study)["records"]


def a_comparison(owner, request):
    study = request.getfixturevalue("judged")
    other = judged_study("other", owner=owner, queries=6)
    judge(other, raters=3)
    sides = Sides(ComparisonSide(study), ComparisonSide(other))
    yield begin_job(
        kind="comparison", slug=study.slug, study=study, by=owner, subject=sides.digest,
        parameters={"sides": sides.message},
    )  # fmt: skip
    assert CachedReport.objects.get().view == sides.digest


def a_section(owner, request):
    study = request.getfixturevalue("judged")
    request.getfixturevalue("settings").ASSAY_REPORT_DEFER_JUDGMENTS = 1
    heading = FIGURES[waiting_in(compute_report(study))[0]].heading
    yield begin_section(study, heading, by=owner)
    assert not waiting_in(cached_report(study).report, heading)


def files(owner, request):
    study = request.getfixturevalue("judged")
    # Of its plots two are drawn: what is done between them is the same between all.
    request.getfixturevalue("monkeypatch").setattr(archive, "plots_of", lambda report: plots_of(report)[:2])
    yield begin_archive(study, by=owner)
    path = Job.objects.get(kind="report").path
    assert list(path.parent.iterdir()) == [path]


def a_bundle(owner, request):
    study = request.getfixturevalue("judged")
    # Of the report's fifty tables it has four, beside all that a bundle has of other kinds.
    request.getfixturevalue("monkeypatch").setattr(members, "tables_of", lambda report: tables_of(report)[:4])
    yield begin_bundle(study, by=owner)
    path = Job.objects.get(kind="bundle").path
    assert list(path.parent.iterdir()) == [path]


def a_reading(owner, request):
    account = request.getfixturevalue("prolific")
    panel = recruiting.publish(study_draft.draft_on_panel(recruits.make()))
    visit = account.arrive(panel.external_id, "person-1")
    yield begin_reading(panel, owner)
    assert PanelRecord.objects.get().external_id == visit


def a_connection_test(owner, request):
    request.getfixturevalue("settings").ASSAY_ENDPOINTS_ALLOWED = ["http://127.0.0.1:*"]
    with endpoint.serve() as server:
        tested = create_endpoint(user=owner, name="here", base_url=server.url)
        yield begin_test(tested, "longer", by=owner)
        tested.refresh_from_db()
        assert tested.tested["able"]["json_schema"]
        assert sum(entry.calls for entry in LedgerEntry.objects.all()) <= server.total


def evaluation_steps(owner, request):
    with endpoint.serve() as server:
        asked = make_judge(request.getfixturevalue("judged"), server, "coin", backend="geval")
        yield begin_steps(asked, owner)
        asked.refresh_from_db()
        assert asked.options["steps"] == [endpoint.SENTENCE] * 2
        assert sum(entry.calls for entry in LedgerEntry.objects.all()) == server.total


def a_judge_s_test(owner, request):
    study = study_with_people(owner=owner, queries=12)
    judge = create_judge(study, name="longer", backend="longer")
    validation_acts.begin_validation(study, "preference", by=owner)
    run_of(validation_acts.try_variant, study, judge)
    validation_acts.choose_variant(study, judge, by=owner)
    run_of(validation_acts.begin_test, study)
    yield validation_acts.open_test(study, by=owner, queue=False)
    validation = validation_of(study)
    assert validation.opened_at is not None
    assert validation.result["claim"] is None
    assert (
        LogEntry.objects.filter(
            change_message__startswith="Opened the test half", content_type__model="study"
        ).count()
        == 1
    )


def a_draft_round(owner, request):
    asked = []

    def revise(item, entries, instruction):
        asked.append(instruction)
        return [*entries, FERRY]

    reviser = Reviser(lambda item: "a-model", revise)
    extend(request.getfixturevalue("monkeypatch"), reviser=lambda: reviser)
    token = enter(calibration_study({"q1": [[OLD, NEW]]}), Visit("link")).token
    data = read_fields(form(kept(OLD, "r1.e1")))
    yield request_round(token, before(token).pk, "Add the ferry.", data).job
    round_ = DraftRound.objects.get()
    assert (round_.state, len(round_.after)) == ("done", 2)
    # Its worker was killed before the model was asked, and after: whoever starts it again pays again.
    assert len(asked) <= 2


CASES = {
    "import": an_import, "export": an_export, "launch": a_launch, "scores": scores, "rehearsal": a_rehearsal,
    "addition": an_addition, "deletion": a_deletion, "pooling": a_pooling, "queries": queries, "products": products,
    "making": a_study_of_products,
    "corpus": a_corpus, "figures": figures, "comparison": a_comparison, "section": a_section, "report": files,
    "bundle": a_bundle, "reading": a_reading, "connection_test": a_connection_test, "steps": evaluation_steps,
    "validation": a_judge_s_test, "draft_round": a_draft_round,
}  # fmt: skip


def killed_at(step, job, monkeypatch):
    """Works on the job; True if it was killed at this step, its first being the claim."""
    steps = count()

    def dying(function):
        def call(*given, **named):
            if next(steps) == step:
                raise Killed
            return function(*given, **named)

        return call

    with monkeypatch.context() as patch:
        patch.setattr(tasks, "claim_job", dying(tasks.claim_job))
        patch.setattr(jobs.JobProgress, "__call__", dying(jobs.JobProgress.__call__))
        patch.setattr(jobs, "_end", dying(jobs._end))
        try:
            tasks.work_on_job(job.pk)
        except Killed:
            return True
    return False


@pytest.mark.parametrize("kind", CASES)
def test_killed_at_each_step_it_is_done_once(kind, owner, request, monkeypatch):
    case = CASES[kind](owner, request)
    job = next(case)
    for step in count():
        if not killed_at(step, job, monkeypatch):
            break
        assert step < 200
        long_ago = timezone.now() - timedelta(hours=1)
        Job.objects.filter(pk=job.pk).update(heartbeat_at=long_ago, sent_at=long_ago)
        Study.objects.filter(launching_since__isnull=False).update(launching_since=long_ago)
        job = Job.objects.get(pk=job.pk)
        restart_job(job)
    assert step > 1, "it was killed in the middle"
    job.refresh_from_db()
    assert job.state == Job.State.DONE, (job.message, job.problems)
    with pytest.raises(StopIteration):
        next(case)


def test_every_kind_is_killed():
    assert set(CASES) == set(job_kinds())
