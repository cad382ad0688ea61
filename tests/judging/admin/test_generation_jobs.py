"""Files and studies of the Generation pages: a worker reads and makes them, whole or not at all."""

import json
from types import SimpleNamespace

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from config.bodies import largest_body
from evaluation import tasks
from evaluation.models import Job, Study
from evaluation.services.jobs import JobProgress, JobTaken, begin_job, claim_job, restart_job, store_upload
from judging.models import Product, Run
from judging.services.generation import background
from tests.judging import endpoint
from tests.judging.generating import generated, make_endpoint, study_of_queries

QUERIES = [{"key": f"q{n}", "text": f"Which soup can I make on day {n}?"} for n in range(4)]
RESPONSES = {"assay_products": 1, "pipeline": "responses"}


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


@pytest.fixture
def study(db, tmp_path, served, owner, settings):
    settings.ASSAY_JOB_FILES = str(tmp_path / "jobs")
    make_endpoint(served)
    made = study_of_queries(tmp_path, QUERIES)
    made.members.create(user=owner, role="owner")
    return made


@pytest.fixture
def queued(monkeypatch):
    """The jobs that were queued; a test works on them when it wants to."""
    sent = []
    monkeypatch.setattr(tasks.work_on_job, "delay", sent.append)
    return sent


@pytest.fixture
def desk(client, owner, study, queued, django_capture_on_commit_callbacks):
    """A researcher's browser, which posts forms and has a worker do what they began."""
    owner.is_staff = True
    owner.save()
    client.force_login(owner)

    def post(name, data, *arguments):
        with django_capture_on_commit_callbacks(execute=True):
            return client.post(address(name, study, *arguments), data)

    def done(answer):
        """The page of the job that this began, once it was worked on."""
        assert answer.status_code == 302, answer.content.decode()
        tasks.work_on_job(queued[-1])
        return read(answer.url)

    def read(url):
        return " ".join(client.get(url).content.decode().split())

    return SimpleNamespace(client=client, post=post, done=done, read=read)


def address(name, study, *arguments):
    return reverse(f"admin:evaluation_study_{name}", args=[study.slug, *arguments])


def upload(text, name="file.csv"):
    return {"file": SimpleUploadedFile(name, text.encode())}


def lines(*records):
    return "".join(f"{each if isinstance(each, str) else json.dumps(each)}\n" for each in records)


def response(query, text="Leek.", **others):
    record = {
        "query": query,
        "step": "responses",
        "unit": "aspen:without",
        "content": {"system": "aspen", "text": text},
    }
    return record | others


def test_queries_come_into_a_draft(desk, study, queued):
    answer = desk.post("generation_queries", upload("prompt,topic\nIs rain wet?,science\n"))
    assert study.queries.count() == 4
    waiting = desk.read(address("generation", study))
    assert "Import of queries</a>: waiting for the worker" in waiting
    page = desk.done(answer)
    assert "1 query added." in page
    assert address("generation", study) in page
    assert study.queries.filter(text="Is rain wet?", category="science").exists()
    assert "Import of queries" not in desk.read(address("generation", study))


def test_many_queries_say_how_far_they_are(desk, study, monkeypatch):
    told = []
    monkeypatch.setattr(JobProgress, "__call__", lambda self, *at: told.append(at))
    rows = "".join(f"Is day {n} wet?,weather\n" for n in range(3_000))
    page = desk.done(desk.post("generation_queries", upload(f"prompt,topic\n{rows}")))
    assert "3,000 queries added" in page
    assert told[1_500] == ("reading", 1_500, 3_000)


def test_a_table_without_prompts_is_refused_with_the_reason(desk, study):
    page = desk.done(desk.post("generation_queries", upload("a,b\n1,2\n")))
    assert "Nothing was imported. 1 error found." in page
    assert "no column is the prompt" in page
    assert address("generation_queries", study) in page
    assert study.queries.count() == 4


def test_one_upload_at_a_time(desk, study):
    desk.post("generation_queries", upload("prompt\nIs rain wet?\n"))
    refused = desk.post("generation_queries", upload("prompt\nIs snow wet?\n"))
    assert refused.status_code == 422
    assert "Another import of queries of queries is running." in refused.content.decode()
    assert Job.objects.count() == 1


def test_products_are_exported_and_come_into_another_study(desk, study, tmp_path, owner, queued):
    run = generated(study, "responses", models=("aspen", "birch"), options={"settings": "without"})
    product = Product.objects.first()
    desk.post("generation_product", {"c-text": "Leek soup."}, product.pk)
    file = desk.client.get(address("generation_export", study, run.pk))
    assert file["Content-Disposition"] == f'attachment; filename="queries-run-{run.pk}.jsonl"'
    text = b"".join(file.streaming_content).decode()
    assert text.count("\n") == 9
    other = study_of_queries(tmp_path, QUERIES, slug="other")
    other.members.create(user=owner, role="owner")
    answer = desk.client.post(address("generation_import", other), upload(text, "products.jsonl"))
    tasks.work_on_job(Job.objects.get().pk)
    assert "8 products are in run" in desk.read(answer.url)
    copy = Run.objects.get(study=other)
    assert copy.state == "complete"
    assert Product.objects.filter(unit__run=copy).count() == 8
    assert Product.objects.get(unit__run=copy, edited__isnull=False).edited["text"] == "Leek soup."
    assert "Make a study of the products" in desk.read(address("generation_run", other, copy.pk))


def test_a_file_of_products_is_refused_line_by_line(desk, study):
    text = lines(
        RESPONSES, response("q1"), response("q9"), response("q2", text=" "), response("q3", step="soup")
    )
    page = desk.done(desk.post("generation_import", upload(text, "products.jsonl")))
    for where, what in (
        ("line 3", "the study has no query &#x27;q9&#x27;"),
        ("line 4", "content: &quot;text&quot; must be a text."),
        ("line 5", "responses has no step &#x27;soup&#x27;"),
    ):
        row = page[page.index(f'<th scope="row">{where}</th>') :].split("</tr>")[0]
        assert what in row
    assert address("generation_import", study) in page
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"key": 1}\n', "this is no file of products"),
        (lines(RESPONSES, "{").encode(), "not JSON"),
        (lines(RESPONSES).encode() + b"\xff\xfe\n", "this is no text in UTF-8."),
        (lines(RESPONSES).encode(), "The file has no products."),
        (lines({**RESPONSES, "pipeline": "soups"}).encode(), "there is no pipeline &#x27;soups&#x27;"),
    ],
)
def test_what_is_no_file_of_products(desk, study, content, said):
    answer = desk.post("generation_import", {"file": SimpleUploadedFile("x.jsonl", content)})
    assert said in desk.done(answer)
    assert not Run.objects.exists()


def test_products_that_a_job_no_longer_owns_are_not_there(desk, study, owner):
    name = store_upload([lines(RESPONSES, response("q1")).encode()])
    begin_job(kind="products", slug=study.slug, study=study, by=owner, file=name, file_name="x.jsonl")
    job = claim_job(Job.objects.get().pk)
    Job.objects.update(state="queued", lease=None)  # given up meanwhile, and queued again
    with pytest.raises(JobTaken):
        background.import_products_of(job)
    assert not Run.objects.exists()
    tasks.work_on_job(job.pk)
    assert Run.objects.count() == 1


def test_a_study_is_made_by_a_worker(desk, study, queued):
    run = generated(study, "responses", models=("aspen", "birch"), options={"settings": "without"})
    form = {"option-arms": "without", "option-baseline": "", "title": "Soups", "slug": "soups"}
    answer = desk.post("generation_make", form, run.pk)
    assert not Study.objects.filter(slug="soups").exists()
    page = desk.done(answer)
    made = Study.objects.get(slug="soups")
    assert "Soups is a draft of 4 items." in page
    assert reverse("admin:evaluation_study_overview", args=[made.slug]) in page
    assert (made.status, made.items.count(), made.members.get().role) == ("draft", 4, "owner")
    taken = desk.post("generation_make", form, run.pk)
    assert taken.status_code == 422
    assert "A study with this slug already exists." in taken.content.decode()


def test_a_study_of_nothing_is_refused_and_made_once_there_is_something(desk, study):
    run = generated(study, "responses", models=("aspen",), options={"settings": "without"})
    form = {"option-arms": "without", "option-baseline": "", "title": "Soups", "slug": "soups"}
    page = desk.done(desk.post("generation_make", form, run.pk))
    assert "Nothing was made. 1 error found." in page
    assert "make no item; left out were 4 queries without two responses in NoCtxGen-NoCtxEval." in page
    assert "Start it again" not in page
    assert not Study.objects.filter(slug="soups").exists()


def test_what_a_killed_worker_left_of_a_study_is_made_anew(desk, study, queued, monkeypatch):
    run = generated(study, "responses", models=("aspen", "birch"), options={"settings": "without"})
    form = {"option-arms": "without", "option-baseline": "", "title": "Soups", "slug": "soups"}
    desk.post("generation_make", form, run.pk)

    class Killed(BaseException):
        """The end of a process, which discards nothing."""

    def killed(*arguments, **named):
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr("evaluation.dumps.imports.dump_import.finish_import", killed)
        patched.setattr("evaluation.dumps.imports.dump_import._discard", lambda *arguments: None)
        with pytest.raises(Killed):
            tasks.work_on_job(queued[-1])
    assert not Study.objects.visible().filter(slug="soups").exists()
    job = Job.objects.get()
    Job.objects.update(heartbeat_at="2020-01-01T00:00Z")
    restart_job(job)
    tasks.work_on_job(job.pk)
    assert Study.objects.visible().get(slug="soups").items.count() == 4


def test_uploads_are_for_those_who_write(client, study, colleague):
    colleague.is_staff = True
    colleague.save()
    study.members.create(user=colleague, role="viewer")
    client.force_login(colleague)
    for name in ("generation_queries", "generation_import"):
        assert client.get(address(name, study)).status_code == 403
        assert client.post(address(name, study), upload("prompt\nWet?\n")).status_code == 403
    run = generated(study, "responses")
    assert client.get(address("generation_export", study, run.pk)).status_code == 200
    assert "Import products" not in client.get(address("generation", study)).content.decode()


@pytest.mark.parametrize("name", ["generation_queries", "generation_import", "generation_corpora"])
def test_uploads_may_be_larger_than_a_form(study, settings, name):
    settings.ASSAY_UPLOAD_MB = 40
    assert largest_body(address(name, study)) > 40_000_000
    assert largest_body(address("generation", study)) < 40_000_000
