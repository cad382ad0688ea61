"""Every entry of the library becomes a draft that lacks nothing but what its researcher alone can give."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from evaluation.library.entries import COLLECTIONS, ENTRIES, begin_from_entry, library
from evaluation.models import Role, Status, Study
from evaluation.services.studies.compilation import compile_spec
from evaluation.services.studies.launch import launch_advice, launch_cautions, launch_problems, launch_study
from tests.evaluation.admin.conftest import signed_in

pytestmark = pytest.mark.django_db

ADD = "admin:evaluation_study_add"
ENTRY, ITEM = "admin:evaluation_study_library_entry", "admin:evaluation_study_library_item"


def test_every_file_is_an_entry_and_every_paper_is_there():
    files = [path.stem for folder in COLLECTIONS for path in (ENTRIES / folder).iterdir()]
    assert sorted(files) == sorted(library())
    for paper in ("contexteval", "lfqa", "condambigqa", "href", "agentcq", "lmarena", "mtbench", "wmt"):
        assert any(key.startswith(f"{paper}-") for key in library()), paper


@pytest.mark.parametrize("key", list(library()))
def test_an_entry_is_a_draft_that_can_be_launched(key, owner):
    entry = library()[key]
    study = begin_from_entry(entry, slug="begun", title="", owner=owner)
    assert (study.title, study.status, study.items.count()) == (entry.title, Status.DRAFT, len(entry.items))
    assert launch_problems(study) == []
    # Contact, pay, platform and its codes are the researcher's to give.
    assert not [each for each in launch_cautions(study) if "consent text" in each]
    assert [each.text for each in launch_advice(study, owner) if "text" in each.text.lower()] == []
    assert compile_spec(study) == entry.spec
    assert study.completion_codes == {}
    assert "judgment" not in str(entry.items[0])
    page = signed_in(owner).get(reverse(ITEM, args=[key]))
    assert page.status_code == 200
    launch_study(study)
    study.refresh_from_db()
    first = study.items.filter(role=Role.MAIN).order_by("pk").first()
    assert (study.status, first.stimulus) == (Status.LIVE, entry.first_stimulus())


@pytest.mark.parametrize("key", list(library()))
def test_without_its_items_only_these_are_missing(key):
    study = begin_from_entry(library()[key], slug="bare", title="Bare", items=False)
    assert launch_problems(study) == ["The study has no items."]


def test_a_new_study_has_three_ways_and_one_s_own_studies(study, owner, outsider):
    page = signed_in(owner).get(reverse(ADD)).content.decode()
    assert reverse("admin:evaluation_study_from_file") in page
    assert all(reverse(ENTRY, args=[key]) in page for key in library())
    assert f"{reverse('admin:evaluation_study_duplicate', args=[study.slug])}?extent=settings" in page
    assert "Begin the study" in page
    assert study.title not in signed_in(outsider).get(reverse(ADD)).content.decode()


def test_a_draft_is_begun_on_the_entry_s_page(owner, client):
    address = reverse(ENTRY, args=["lmarena-battle"])
    signed = signed_in(owner)
    shown = signed.get(address)
    assert shown.context["form"].initial["slug"] == "lmarena-battle"
    assert "Which assistant is better?" in shown.content.decode()
    names = {"title": "My arena", "slug": "arena"}
    done = signed.post(address, names | {"items": "on"})
    made = Study.objects.get()
    assert done["Location"] == reverse("admin:evaluation_study_overview", args=[made.slug])
    assert (made.title, made.items.count(), made.members.get().user) == ("My arena", 6, owner)
    bench = signed.get(done["Location"]).content.decode()
    assert "begun from LMArena" in bench
    taken = signed.post(address, names)
    assert (taken.status_code, Study.objects.count()) == (422, 1)
    assert signed.post(address, names | {"slug": "bare"}).status_code == 302
    assert not Study.objects.get(slug="bare").items.exists()
    assert signed.get(reverse(ENTRY, args=["nonsense"])).status_code == 404
    assert client.get(address).status_code == 302  # to the login


def test_by_command(owner):
    out = StringIO()
    call_command("create_study", "--list", stdout=out)
    assert "wmt-direct-assessment" in out.getvalue()
    call_command("create_study", "--from", "mtbench-pairs", "--owner", "owner", stdout=out)
    assert "mtbench-pairs is a draft with 4 items" in out.getvalue()
    with pytest.raises(CommandError, match=r"already\.\nNothing was made"):
        call_command("create_study", "--from", "mtbench-pairs")
    with pytest.raises(CommandError, match=r"no entry 'x'\. There are: agentcq"):
        call_command("create_study", "--from", "x")
    call_command(
        "create_study", "--from", "mtbench-pairs", "--slug", "bare", "--title", "Bare", "--without-items"
    )
    assert Study.objects.get(slug="bare").title == "Bare"
