"""A copy of a study has its settings, its items or its judges, and nothing of its people."""

import io
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.http import Http404
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotator.models import EntryRule, Panel
from evaluation.dumps.exports.jsonl import jsonl_lines
from evaluation.dumps.exports.stored_study import StoredStudy
from evaluation.dumps.imports.dump_import import import_dump
from evaluation.dumps.lines import FileSource
from evaluation.models import Judgment, Rater, Status, Study
from evaluation.refusals import Refused
from evaluation.services.studies.compilation import compile_spec
from evaluation.services.studies.duplication import duplicate_study
from evaluation.services.studies.items import withdraw_item
from evaluation.services.studies.launch import launch_study
from evaluation.services.studies.verification import verify_study
from evaluation.services.tokens import make_token
from judging.models import Judge, Jury
from judging.services.judges import create_judge, edit_judge
from judging.services.runs.judge_runs import start_run
from tests import factories
from tests.evaluation.admin.conftest import signed_in


def spec_without_title(study):
    return {name: value for name, value in compile_spec(study).items() if name != "title"}


def hashes(study):
    return dict(study.items.values_list("key", "stimulus_hash"))


@pytest.fixture
def judged(study, owner):
    """A live study with a judge of two versions in a jury, a run, a panel, an entry rule and a rater."""
    study.completion_codes = {"completed": "SECRET"}
    study.save()
    judge = create_judge(study, name="longer", backend="longer")
    judge.jury = Jury.objects.create(study=study, name="lengths")
    judge.save()
    start_run(study, judge)
    edit_judge(judge, samples=2)
    Panel.objects.create(study=study, platform="prolific", external_id="64b", drafted_at=timezone.now())
    other = factories.make_study("other", queries=1)
    EntryRule.objects.create(study=study, other=other, kind="not")
    return study


def test_a_copy_with_everything_freezes_to_the_same_stimuli(judged, owner):
    withdrawn = judged.items.filter(role="main").first()
    withdraw_item(withdrawn)
    copy = duplicate_study(judged, by=owner, judges=True, slug="again", title="Once more")

    assert (copy.status, copy.title, copy.study_hash) == (Status.DRAFT, "Once more", "")
    assert spec_without_title(copy) == spec_without_title(judged)
    assert copy.redundancy == judged.redundancy
    assert list(copy.judges.values_list("name", "version", "samples", "jury__name")) == [
        ("longer", 1, 2, "lengths")
    ]
    assert list(copy.entry_rules.values_list("other__slug", "kind")) == [("other", "not")]

    launch_study(copy)
    expected = hashes(judged)
    expected.pop(withdrawn.key)
    assert hashes(copy) == expected
    assert list(verify_study(copy)) == []
    # The source is what it was.
    judged.refresh_from_db()
    assert list(verify_study(judged)) == []


def test_nothing_of_people_runs_or_the_panel_comes_along(judged, owner):
    rater = Rater.objects.create(study=judged, pseudonym="ANNE", kind="person")
    Judgment.objects.create(
        study=judged,
        rater=rater,
        item=judged.items.first(),
        revision=judged.revisions.get(),
        outcome="skipped",
    )
    copy = duplicate_study(judged, by=owner, judges=True)
    assert (copy.slug, copy.title) == ("contrast-copy", "Contrast (copy)")
    assert duplicate_study(judged, items=False).slug == "contrast-copy-2"
    assert copy.completion_codes == {}
    assert [(each.user, each.role) for each in copy.members.all()] == [(owner, "owner")]
    for name in ("judgments", "raters", "participants", "runs", "revisions", "slots"):
        assert not getattr(copy, name).exists(), name
    panel = Panel.objects.get(study=copy)
    assert (panel.platform, panel.external_id, panel.drafted_at) == ("prolific", "", None)


@pytest.mark.parametrize(
    ("along", "came", "settings", "whom"),
    [
        ((), [], None, None),
        (("platform",), ["platform"], {"site": "https://x.sona-systems.com"}, {}),
        (("platform", "eligibility"), ["platform", "eligibility"], {"site": "https://x.sona-systems.com"}, {"a": 1}),
        (
            ("platform", "codes"),
            ["platform", "codes"],
            {"site": "https://x.sona-systems.com", "experiment_id": "3", "credit_token": "t9"},
            {},
        ),
        (("eligibility", "codes"), ["eligibility", "codes"], None, None),
    ],
)  # fmt: skip
def test_of_the_recruitment_comes_what_is_asked_for(judged, owner, along, came, settings, whom):
    Panel.objects.filter(study=judged).update(
        platform="sona",
        settings={"site": "https://x.sona-systems.com", "experiment_id": "3", "credit_token": "t9"},
        whom={"a": 1},
        places=9,
    )
    copy = duplicate_study(judged, by=owner, items=False, along=along)
    panel = Panel.objects.filter(study=copy).first()
    assert (panel and panel.settings, panel and panel.whom) == (settings, whom)
    assert panel is None or (panel.external_id, panel.places) == ("", None)
    assert copy.entry_rules.exists() == ("eligibility" in along)
    assert copy.completion_codes == ({"completed": "SECRET"} if "codes" in along else {})
    copy.refresh_from_db()
    assert copy.origin["parts"] == came


def test_settings_alone_and_whence_they_came(judged):
    copy = duplicate_study(judged, items=False, slug="bare")
    assert [copy.items.count(), copy.systems.count(), copy.judges.count()] == [0, 0, 0]
    origin = Study.objects.get(slug="bare").origin
    assert origin.pop("day")
    assert origin == {
        "how": "duplicate", "study": "contrast", "title": "Contrast", "revision": 1,
        "study_hash": judged.study_hash, "parts": ["platform", "eligibility"],
    }  # fmt: skip


def test_what_can_not_be_copied_leaves_nothing_behind(judged, owner, outsider):
    with pytest.raises(Refused, match="with the items"):
        duplicate_study(judged, items=False, judges=True)
    with pytest.raises(Refused, match="already exists"):
        duplicate_study(judged, slug="contrast")
    Judge.objects.filter(study=judged, version=2).update(samples=500)
    with pytest.raises(Refused, match=r"Judge longer: .*100"):
        duplicate_study(judged, by=owner, judges=True)
    with pytest.raises(Http404):
        duplicate_study(judged, by=outsider)
    assert set(Study.objects.values_list("slug", flat=True)) == {"contrast", "other"}


def test_by_page_command_and_api(judged, owner):
    client = signed_in(owner)
    address = reverse("admin:evaluation_study_duplicate", args=[judged.slug])
    page = client.get(address)
    assert page.context["form"].initial["slug"] == "contrast-copy"
    assert "12 main items" in page.content.decode()
    assert client.get(f"{address}?extent=settings").context["form"].initial["extent"] == "settings"
    ticked = {each: page.context["form"][each].initial for each in ("platform", "eligibility", "codes")}
    assert ticked == {"platform": True, "eligibility": True, "codes": False}
    named = {"extent": "judges", "title": "By page", "slug": "by-page"}
    done = client.post(address, named | {"eligibility": "on"})
    made = Study.objects.get(slug="by-page")
    assert done["Location"] == reverse("admin:evaluation_study_overview", args=[made.slug])
    bench = client.get(done["Location"]).content.decode()
    assert "Copied from" in bench
    assert "Came along: eligibility. Not set: recruitment platform, completion codes." in bench
    assert "revision 1" in bench
    taken = client.post(address, {"extent": "items", "title": "By page", "slug": "by-page"})
    assert (taken.status_code, "already exists" in taken.content.decode()) == (422, True)

    out = StringIO()
    call_command(
        "duplicate_study", "contrast", "--copy", "settings", "--slug", "shell", "--by", "owner", stdout=out
    )
    assert "shell is a draft with 0 items" in out.getvalue()
    assert "Came along: recruitment platform, eligibility. Not set: completion codes." in out.getvalue()
    with pytest.raises(CommandError, match="Nothing was copied"):
        call_command("duplicate_study", "contrast", "--slug", "shell")

    headers = {"Authorization": f"Bearer {make_token(owner, name='t')[1]}"}
    answer = Client().post(
        "/api/v1/studies/contrast/duplicates/", {"slug": "script"}, "application/json", headers=headers
    )
    assert (answer.status_code, answer.json()["slug"], answer.json()["role"]) == (201, "script", "owner")
    assert Study.objects.get(slug="script").items.count() == judged.items.count()
    data = {"slug": "coded", "along": ["codes"]}
    Client().post("/api/v1/studies/contrast/duplicates/", data, "application/json", headers=headers)
    assert Study.objects.get(slug="coded").completion_codes == {"completed": "SECRET"}
    again = Client().post(
        "/api/v1/studies/contrast/duplicates/", {"slug": "script"}, "application/json", headers=headers
    )
    assert (again.status_code, again.json()["code"]) == (409, "refused")


def test_an_export_tells_the_origin_and_reads_back(study, owner, tmp_path):
    copy = duplicate_study(study, by=owner, slug="told")
    copy.items.update(origin={"item": "before"})
    out = io.BytesIO()
    for line, _ in jsonl_lines(StoredStudy(copy)):
        out.write(line)
    path = tmp_path / "told.jsonl"
    path.write_bytes(out.getvalue())
    back = import_dump(FileSource(path), slug="back")
    assert back.origin == copy.origin
    assert set(map(str, back.items.values_list("origin", flat=True))) == {"{'item': 'before'}"}
