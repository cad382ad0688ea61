"""Replication bundles: from a judged study to an archive, and from that to the same figures."""

import hashlib
import json
import struct
import tracemalloc
import zipfile
import zlib
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from analytics.reports.bundle.comparison import Sameness, compare_reports
from analytics.reports.bundle.reading import is_bundle
from analytics.reports.bundle.replication import replicate
from analytics.reports.bundle.writing import export_bundle
from evaluation.demo.studies import STUDIES
from evaluation.models import Item, Judgment, Rater, Study
from evaluation.refusals import Refused
from evaluation.services.exclusions import exclude
from tests.analytics.reports.goldens import demo_study
from tests.analytics.reports.judging import judge, judged_study
from tests.four_way import four_way_study

pytestmark = pytest.mark.django_db
DEMOS = (
    "context-contrast", "plain-comparison", "aspects", "ranking", "context-validation", "relevance", "answer-pairs",
    "question-quality", "justification-coding", "condition-calibration", "custom",
)  # fmt: skip


@pytest.fixture
def study():
    study = judged_study("contrast", redundancy=2)
    judge(study, raters=3)
    Study.objects.filter(pk=study.pk).update(
        completion_codes={"complete": "C0DE-FOR-PAY"}, contact="team@example.org"
    )
    study.refresh_from_db()
    return study


@pytest.fixture
def path(tmp_path):
    return tmp_path / "bundle.zip"


def replicated(path, **options):
    out = StringIO()
    code = 0
    try:
        call_command("replicate", str(path), stdout=out, **options)
    except SystemExit as end:
        code = end.code
    return code, out.getvalue()


def rewritten(path, change, *, manifest=False):
    """The archive with other contents, and with a manifest of these if asked for."""
    with zipfile.ZipFile(path) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    change(found)
    if manifest:
        record = json.loads(found["MANIFEST.json"])
        record["sha256"] = {
            name: hashlib.sha256(content).hexdigest()
            for name, content in found.items()
            if name != "MANIFEST.json"
        }
        found["MANIFEST.json"] = json.dumps(record).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in found.items():
            archive.writestr(name, content)


@pytest.mark.parametrize("slug", DEMOS)
def test_every_figure_of_a_demo_is_the_same_to_the_last_digit(slug, path):
    study = demo_study(slug)
    export_bundle(study, path)
    done = replicate(path)
    assert {each.name: each.differences for each in done.figures if each.differences} == {}
    assert done.tables
    assert [key for key, same in done.tables if not same] == []
    assert Study.objects.count() == 1


def test_votes_that_both_are_bad_replicate(path):
    """Among groups of people, too."""
    study = four_way_study(queries=6)
    votes = ("r1", "both_bad", "tie", "r2", "both_bad")
    people = judge(study, raters=4, choose=lambda rater, at: votes[(at + rater // 2) % len(votes)])
    judge(study, raters=1, kind="judge", choose=lambda rater, at: votes[(at * 2) % len(votes)])
    for number, rater in enumerate(people):
        Rater.objects.filter(pk=rater.pk).update(group="experts" if number % 2 else "students")
    export_bundle(study, path)
    done = replicate(path)
    assert {each.name: each.differences for each in done.figures if each.differences} == {}
    assert any("preferences/both_bad" in each.name for each in done.figures)
    assert any("raters/groups_of_people" in each.name for each in done.figures)


def test_no_demo_is_forgotten():
    assert sorted(DEMOS) == sorted(demo.slug for demo in STUDIES)


def test_what_is_left_out_stays_left_out(study, path):
    first, second, third = Rater.objects.filter(study=study).order_by("pk")
    exclude(study=study, rater=third, by=None, reason="was not there")
    exclude(study=study, judgment=second.judgments.order_by("pk")[1], by=None, reason="slipped")
    Rater.objects.filter(pk=first.pk).update(group="experts")
    Item.objects.filter(pk=first.judgments.order_by("pk")[2].item_id).update(withdrawn_at="2024-05-06T10:00Z")
    Judgment.objects.filter(study=study).update(duration_ms=48_200, judged_at="2024-05-06T10:00Z")
    study.refresh_from_db()
    export_bundle(study, path)
    code, said = replicated(path, keep="again")
    assert code == 0, said
    assert "0 different." in said
    assert "kept as again" in said
    kept = Study.objects.get(slug="again")
    assert kept.study_hash == study.study_hash
    assert sorted(kept.exclusions.values_list("reason", flat=True)) == ["slipped", "was not there"]
    with zipfile.ZipFile(path) as archive:
        record = json.loads(archive.read("exclusions.json"))
    assert [each["scope"] for each in record["exclusions"]] == ["rater", "judgment"]
    assert len(record["withdrawn"]) == 1


def test_the_same_study_gives_the_same_bytes(study, path, tmp_path):
    export_bundle(study, path)
    call_command("export_bundle", "contrast", str(tmp_path / "second.zip"), stderr=StringIO())
    assert path.read_bytes() == (tmp_path / "second.zip").read_bytes()


def test_nothing_that_is_not_to_be_passed_on_is_inside(study, path):
    export_bundle(study, path)
    with zipfile.ZipFile(path) as archive:
        everything = b"\n".join(archive.read(name) for name in archive.namelist())
    for secret in (b"C0DE-FOR-PAY", b"team@example.org"):
        assert secret not in everything


def test_a_member_that_was_changed_is_named(study, path):
    export_bundle(study, path)

    def change(found):
        found["study.jsonl"] = found["study.jsonl"].replace(b'"r1"', b'"r2"', 1)
        found["more.txt"] = b"?"
        del found["versions.json"]

    rewritten(path, change)
    with pytest.raises(Refused) as refused:
        replicate(path)
    assert refused.value.problems == [
        "versions.json is missing.",
        "more.txt is not in the manifest.",
        "study.jsonl was changed: its sha256 is not the one in the manifest.",
    ]
    with pytest.raises(CommandError, match="was changed"):
        call_command("replicate", str(path))


def test_a_figure_that_differs_is_shown_and_the_exit_code_is_1(study, path):
    export_bundle(study, path)

    def change(found):
        report = json.loads(found["report/report.json"])
        report["counts"]["judgments"] += 1
        report["parameters"]["version"] = "another"
        found["report/report.json"] = json.dumps(report).encode()
        record = json.loads(found["MANIFEST.json"])
        found["MANIFEST.json"] = json.dumps(record | {"figures": "another"}).encode()

    rewritten(path, change, manifest=True)
    code, said = replicated(path)
    assert code == 1
    assert "made by another version of the code (figures another" in said
    assert "DIFFERENT         counts\n  judgments: " in said
    assert "1 different." in said
    assert not Study.objects.exclude(pk=study.pk).exists()


@pytest.mark.parametrize("name", ["../outside.txt", "/etc/outside", "a/../../b", "C:/x"])
def test_a_path_outside_is_refused(study, path, name):
    export_bundle(study, path)
    rewritten(path, lambda found: found.update({name: b"x"}), manifest=True)
    with pytest.raises(Refused, match="leads outside"):
        replicate(path)


def test_a_bomb_is_refused_before_it_is_unpacked(study, path):
    export_bundle(study, path)
    rewritten(path, lambda found: found.update({"zeros": b"\0" * 5_000_000}), manifest=True)
    with pytest.raises(Refused, match="times its size"):
        replicate(path)


def lying(path, name, size):
    """The archive says that the file is so long, with the checksum of that much of it."""
    with zipfile.ZipFile(path) as archive:
        checksum = zlib.crc32(archive.open(name).read(size))
    content = bytearray(path.read_bytes())
    at = content.rindex(name.encode()) - 46
    struct.pack_into("<I", content, at + 16, checksum)
    struct.pack_into("<I", content, at + 24, size)
    path.write_bytes(content)


def test_no_more_is_unpacked_than_the_archive_says(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("MANIFEST.json", b"{}" + b" " * 100_000_000)
    lying(path, "MANIFEST.json", 2)
    tracemalloc.start()
    try:
        assert not is_bundle(path)
        with pytest.raises(Refused, match="the format is None"):
            replicate(path)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_a_directory_of_too_many_files_is_not_read(path):
    """Of a hundred thousand it takes seconds, and an upload waits for it."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("MANIFEST.json", json.dumps({"format": "assay-bundle/1"}))
        for number in range(2_000):
            archive.writestr(f"{number:01000}", b"")
    assert not is_bundle(path)
    with pytest.raises(Refused, match="lists more files than the 10,000 that a bundle may have"):
        replicate(path)


@pytest.mark.parametrize(
    ("at", "value"), [(-6, b"\xff\xff\xff\x7f"), (-10, b"\xff\xff\x00\x00"), (-6, b"\x00\x00\x00\x00")]
)
def test_a_damaged_directory_is_refused(study, path, at, value):
    export_bundle(study, path)
    content = bytearray(path.read_bytes())
    content[len(content) + at : len(content) + at + 4] = value
    path.write_bytes(content)
    assert not is_bundle(path)
    with pytest.raises(Refused):
        replicate(path)


def test_a_name_in_no_encoding_is_refused(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("é", b"")
    path.write_bytes(path.read_bytes().replace("é".encode(), b"\xff\xff"))
    assert not is_bundle(path)
    with pytest.raises(Refused, match="is damaged"):
        replicate(path)


def test_names_are_shown_without_what_a_terminal_obeys(study, path):
    export_bundle(study, path)
    rewritten(path, lambda found: found.update({"x\x1b[2J": b"x"}), manifest=True)
    with pytest.raises(Refused) as refused:
        replicate(path)
    assert str(refused.value).isprintable()


def test_another_way_of_packing_is_refused(study, path):
    """Of LZMA the archive says how much memory reading it takes."""
    export_bundle(study, path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("more.txt", "?", zipfile.ZIP_LZMA)
    with pytest.raises(Refused) as refused:
        replicate(path)
    assert refused.value.problems == ["more.txt is packed in a way that bundles are not; they use Deflate."]


def test_a_report_without_the_names_of_its_figures_is_refused(study, path):
    export_bundle(study, path)

    def change(found):
        report = json.loads(found["report/report.json"])
        found["report/report.json"] = json.dumps(report | {"records": [{"figure": "f"}]}).encode()

    rewritten(path, change, manifest=True)
    with pytest.raises(Refused, match="do not all name a figure, a question and a group"):
        replicate(path)


def test_figures_that_wait_are_computed_for_a_bundle(study, path, settings):
    settings.ASSAY_REPORT_DEFER_JUDGMENTS = 1
    export_bundle(study, path)
    with zipfile.ZipFile(path) as archive:
        assert "deferred" not in json.loads(archive.read("report/report.json"))
    done = replicate(path)
    assert done.succeeded


def test_what_is_no_bundle_is_refused(path, tmp_path):
    with pytest.raises(Refused, match="can't be read"):
        replicate(tmp_path / "none.zip")
    path.write_bytes(b"no zip")
    with pytest.raises(Refused, match="no zip archive"):
        replicate(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("README.md", "?")
    with pytest.raises(Refused, match="no replication bundle"):
        replicate(path)


def test_an_import_of_tables_points_to_the_command_for_bundles(study, path):
    export_bundle(study, path)
    with pytest.raises(
        CommandError, match=r"is a replication bundle\. Open it with: manage.py replicate FILE"
    ):
        call_command("import_study", str(path), slug="again")
    assert not Study.objects.filter(slug="again").exists()


def test_a_study_without_judgments_has_no_bundle(path):
    study = judged_study("empty")
    with pytest.raises(Refused):
        export_bundle(study, path)
    assert not path.exists()


def test_rounding_is_told_from_difference():
    of = {"figure": "f", "question": "q", "group": "g"}
    compared = {
        value: compare_reports({"records": [{**of, "v": 0.3}]}, {"records": [{**of, "v": value}]})[
            -1
        ].sameness
        for value in (0.3, 0.1 + 0.2, 0.31)
    }
    assert list(compared.values()) == [Sameness.EXACT, Sameness.ROUNDED, Sameness.DIFFERENT]
