"""Accounts, for who runs the installation."""

from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from django.urls import reverse

from evaluation.services.history import log_action
from tests import factories
from tests.evaluation.admin.conftest import make_user


def test_who_has_acted_is_not_deleted_with_their_lines_of_histories(db, client):
    chief, acted, idle = make_user("chief", is_superuser=True), make_user("acted"), make_user("idle")
    log_action(study=factories.make_study("s"), by=acted, message="Did something.")
    client.force_login(chief)
    address = reverse("admin:auth_user_delete", args=[acted.pk])
    assert client.post(address, {"post": "yes"}).status_code == 403
    assert "delete_selected" not in client.get(reverse("admin:auth_user_changelist")).content.decode()
    page = client.get(reverse("admin:auth_user_change", args=[acted.pk])).content.decode()
    assert "Unselect this instead of deleting accounts." in page
    assert "deletelink" not in page
    client.post(reverse("admin:auth_user_delete", args=[idle.pk]), {"post": "yes"})
    accounts = get_user_model().objects
    assert accounts.filter(pk=acted.pk).exists()
    assert not accounts.filter(pk=idle.pk).exists()
    assert LogEntry.objects.filter(user=acted).count() == 1
