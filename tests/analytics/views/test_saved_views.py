"""Views of a report under a name: saved by who may write, found by everybody in the study, the same by every door."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from analytics.reports.build import fingerprint
from evaluation.models import SavedView, StudyMember
from evaluation.refusals import Refused
from evaluation.services import saved_views
from evaluation.services.saved_views import save_view

VIEW = {"system": ["aspen"], "without_rater": ["person-1"]}
QUERY = "?system=aspen&without_rater=person-1"


def views_address(study, query=""):
    return reverse("analytics:study-report-views", args=[study.slug]) + query


def report_address(study, query=""):
    return reverse("analytics:study-report", args=[study.slug]) + query


def test_a_view_is_saved_found_and_deleted(client, study, owner):
    client.force_login(owner)
    before = fingerprint(study)
    saved = client.post(views_address(study, QUERY), {"name": "  Aspen,  careful "}, follow=True)
    assert saved.redirect_chain[-1][0] == report_address(study, QUERY)
    page = saved.content.decode()
    assert "Saved this view as &#x27;Aspen, careful&#x27;." in page
    assert 'aria-current="page">Aspen, careful</a>' in page
    # A name is for finding a view again: nothing that is computed changes by it.
    assert fingerprint(study) == before
    whole = client.get(report_address(study)).content.decode()
    assert f'href="{report_address(study, QUERY).replace("&", "&amp;")}">Aspen, careful</a>' in whole
    assert 'aria-current="page">Aspen' not in whole
    deleted = client.post(views_address(study), {"name": "Aspen, careful", "delete": "yes"}, follow=True)
    assert "Deleted the saved view" in deleted.content.decode()
    assert not SavedView.objects.exists()


def test_page_and_command_take_its_name(client, study, owner):
    save_view(study, name="careful", filters=VIEW, by=owner)
    client.force_login(owner)
    page = client.get(reverse("analytics:study-report-json", args=[study.slug]) + "?view=careful")
    assert page.json()["parameters"]["view"] == VIEW
    out = StringIO()
    call_command("report", study.slug, view="careful", format="json", stdout=out, stderr=StringIO())
    assert json.loads(out.getvalue()) == page.json()


def test_a_name_that_there_is_not_or_filters_beside_it_are_refused(client, study, owner):
    save_view(study, name="careful", filters=VIEW, by=owner)
    client.force_login(owner)
    unknown = client.get(report_address(study, "?view=hasty"))
    assert unknown.status_code == 400
    assert "no saved view 'hasty' (its saved views: careful)" in unknown.content.decode()
    both = client.get(report_address(study, "?view=careful&system=aspen"))
    assert "leave out system" in both.content.decode()
    with pytest.raises(CommandError, match="no saved view 'hasty'"):
        call_command("report", study.slug, view="hasty", stdout=StringIO())


@pytest.mark.parametrize(
    ("name", "filters", "why"),
    [
        (" ", VIEW, "needs a name"),
        ("n" * 81, VIEW, "too long: 80"),
        ("all", {}, "at least one filter"),
        ("careful", VIEW, "already"),
    ],
)
def test_what_can_not_be_saved_is_refused(study, owner, name, filters, why):
    save_view(study, name="careful", filters=VIEW, by=owner)
    with pytest.raises(Refused, match=why):
        save_view(study, name=name, filters=filters, by=owner)
    assert study.saved_views.count() == 1


def test_there_is_a_limit(study, owner, monkeypatch):
    monkeypatch.setattr(saved_views, "MOST_SAVED", 1)
    save_view(study, name="one", filters=VIEW, by=owner)
    with pytest.raises(Refused, match="the limit"):
        save_view(study, name="two", filters=VIEW, by=owner)


def test_a_refusal_is_shown_on_the_report(client, study, owner):
    client.force_login(owner)
    page = client.post(views_address(study), {"name": "everything"}, follow=True).content.decode()
    assert "Only a part of the study can be saved" in page
    gone = client.post(views_address(study), {"name": "gone", "delete": "yes"}, follow=True).content.decode()
    assert "There is no saved view named" in gone


def test_members_read_editors_write_outsiders_do_neither(client, study, owner, outsider, colleague):
    assert client.post(views_address(study, QUERY), {"name": "x"})["Location"].startswith("/admin/login/")
    client.force_login(outsider)
    assert client.post(views_address(study, QUERY), {"name": "x"}).status_code == 404
    save_view(study, name="careful", filters=VIEW, by=owner)
    StudyMember.objects.create(study=study, user=colleague, role=StudyMember.Role.VIEWER)
    client.force_login(colleague)
    assert client.post(views_address(study, QUERY), {"name": "x"}).status_code == 403
    page = client.get(report_address(study, QUERY)).content.decode()
    assert "careful</a>" in page
    assert "Save this view as" not in page
    assert "Delete the saved view" not in page
    assert client.get(views_address(study)).status_code == 405
