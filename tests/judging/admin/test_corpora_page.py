"""Corpora on the Generation pages: listed, uploaded, refused line by line, and never replaced."""

import json
import os

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from evaluation import tasks
from evaluation.models import Job
from evaluation.refusals import Refused
from judging.retrieval.corpora import open_corpus
from judging.services.generation.corpus_uploads import add_corpus, corpus_name
from tests.judging.generating import study_of_queries

DOCUMENTS = [{"id": f"d{n}", "text": f"A soup of day {n}.", "title": "Soup"} for n in range(3)]


@pytest.fixture
def folder(settings, tmp_path):
    place = tmp_path / "corpora"
    place.mkdir()
    settings.ASSAY_CORPORA = str(place)
    settings.ASSAY_JOB_FILES = str(tmp_path / "jobs")
    return place


@pytest.fixture
def study(db, tmp_path, owner):
    made = study_of_queries(tmp_path, [{"key": "q", "text": "Which soup?"}])
    made.members.create(user=owner, role="owner")
    return made


@pytest.fixture
def address(study):
    return reverse("admin:evaluation_study_generation_corpora", args=[study.slug])


@pytest.fixture
def researcher(client, owner):
    owner.is_staff = True
    owner.save()
    client.force_login(owner)
    return client


@pytest.fixture
def post(researcher, address, monkeypatch, django_capture_on_commit_callbacks):
    """An upload, and the page of its job once a worker did it; or the page that refuses it."""
    monkeypatch.setattr(tasks.work_on_job, "delay", tasks.work_on_job)

    def send(documents, file_name="soups.jsonl", **others):
        content = documents if isinstance(documents, bytes) else written(documents)
        with django_capture_on_commit_callbacks(execute=True):
            answer = researcher.post(address, {"file": SimpleUploadedFile(file_name, content), **others})
        if answer.status_code == 302:
            answer = researcher.get(answer.url)
        return " ".join(answer.content.decode().split())

    return send


def written(documents):
    return "".join(f"{json.dumps(each)}\n" for each in documents).encode()


def quiet(phase, done, total):
    return


def test_a_corpus_is_uploaded_listed_and_searched(researcher, address, post, folder):
    assert "There is none yet." in researcher.get(address).content.decode()
    assert "soups.jsonl is a corpus of 3 documents." in post(DOCUMENTS)
    assert [each.name for each in folder.iterdir()] == ["soups.jsonl"]
    page = " ".join(researcher.get(address).content.decode().split())
    assert '<th scope="row">soups.jsonl</th> <td class="n">3</td>' in page
    assert [each.id for each in open_corpus("soups.jsonl").search("day 2", 1)] == ["d2"]
    assert not Job.objects.get().path.exists()
    start = address.replace("corpora/", "start/retrieval/")
    assert "It has: soups.jsonl." in researcher.get(start).content.decode()


def test_a_name_that_is_taken_is_refused_and_the_file_stays(post, folder):
    post(DOCUMENTS)
    before = (folder / "soups.jsonl").read_bytes()
    assert "There is a corpus soups.jsonl already." in post(DOCUMENTS[:1])
    assert "There is a corpus soups.jsonl already." in post(DOCUMENTS[:1], "x.jsonl", name="soups")
    assert (folder / "soups.jsonl").read_bytes() == before
    assert "is a corpus of 1 document" in post(DOCUMENTS[:1], name="more soups")
    assert (folder / "more-soups.jsonl").exists()


def test_faults_are_named_by_their_lines_and_nothing_is_placed(post, folder):
    lines = [*DOCUMENTS[:1], {"id": "d0", "text": "Again."}, {"id": "x"}, ["y"]]
    page = post(written(lines) + b"{\n")
    for where, what in (
        ("line 2", "the id d0 appears twice"),
        ("line 3", "text is no text"),
        ("line 4", "it is no JSON object"),
        ("line 5", "it is no JSON"),
    ):
        assert what in page[page.index(f'<th scope="row">{where}</th>') :].split("</tr>")[0]
    assert list(folder.iterdir()) == []
    assert "The file has no documents." in post(b"\n\n")
    assert "it has more than 1,000,000 bytes" in post(b'{"id": "' + b"x" * 1_000_001)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("Soups of 2024.jsonl", "Soups-of-2024.jsonl"),
        ("../../etc/passwd", "passwd.jsonl"),
        ("C:\\data\\soups.jsonl", "soups.jsonl"),
        (".hidden", "hidden.jsonl"),
        ("süß", "s.jsonl"),
        ("a" * 300, f"{'a' * 100}.jsonl"),
    ],
)
def test_names_are_plain_and_stay_inside(folder, given, name):
    assert corpus_name(given) == name


def test_a_name_of_nothing(folder):
    with pytest.raises(Refused, match="letters or digits"):
        corpus_name("../..")


def test_whoever_comes_second_replaces_nothing(folder, tmp_path):
    """Both found the name free when they were asked."""
    source = tmp_path / "mine.jsonl"
    source.write_bytes(written(DOCUMENTS))

    def meanwhile(phase, done, total):
        if phase == "placing":
            (folder / "soups.jsonl").write_text("theirs")

    with pytest.raises(Refused, match="already"):
        add_corpus(source, "soups.jsonl", watch=meanwhile)
    assert (folder / "soups.jsonl").read_text() == "theirs"
    assert [each.name for each in folder.iterdir()] == ["soups.jsonl"]


def test_what_a_killed_worker_left_goes_with_the_next_upload(folder, tmp_path):
    source = tmp_path / "mine.jsonl"
    source.write_bytes(written(DOCUMENTS))
    left, fresh = folder / ".old.jsonl.abc.part", folder / ".new.jsonl.abc.part"
    left.touch()
    fresh.touch()
    os.utime(left, (1, 1))
    assert add_corpus(source, "soups.jsonl", watch=quiet) == 3
    assert {each.name for each in folder.iterdir()} == {fresh.name, "soups.jsonl"}


def test_without_a_folder_there_is_no_form(researcher, address, settings):
    settings.ASSAY_CORPORA = ""
    page = researcher.get(address).content.decode()
    assert "its operator sets ASSAY_CORPORA" in page
    assert 'type="file"' not in page


def test_viewers_look_and_outsiders_see_nothing(client, study, address, folder, colleague, outsider):
    for user in (colleague, outsider):
        user.is_staff = True
        user.save()
    study.members.create(user=colleague, role="viewer")
    client.force_login(colleague)
    assert 'type="file"' not in client.get(address).content.decode()
    assert client.post(address, {"file": SimpleUploadedFile("x.jsonl", b"{}")}).status_code == 403
    client.force_login(outsider)
    assert client.get(address).status_code == 404
    assert list(folder.iterdir()) == []
