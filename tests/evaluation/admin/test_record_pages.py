"""Slots and submissions have a page each below their study, on which nothing is changed."""

from typing import Any

import pytest
from django.urls import reverse

from annotator.models import Slot
from tests import factories
from tests.crowd import come
from tests.evaluation.admin.conftest import make_user, signed_in

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("model", ["slot", "submission"])
def test_a_row_has_a_page_below_its_study(model: str) -> None:
    steps = {"training": False, "checks": 0, "steps": factories.NO_STEPS}
    study = factories.launched(owner=make_user("ada"), **steps)
    participant = come(study, "p-1")
    rows: dict[str, Any] = {
        "slot": Slot.objects.filter(study=study).first(),
        "submission": participant.submissions.get(),
    }
    row = rows[model]
    address = reverse(f"admin:annotator_{model}_page", args=[study.slug, row.pk])
    assert address == f"/studies/{study.slug}/{model}s/{row.pk}/"
    client = signed_in(study.members.get().user)
    page = client.get(address).content.decode()
    assert "<form" not in page.partition('id="content-main"')[2].partition("</main>")[0]
    said = {"slot": "Leased until", "submission": "Entered at"}[model]
    assert said in page
    leads_to = f"/studies/{study.slug}/{'items' if model == 'slot' else 'participants'}/"
    assert f'<a href="{leads_to}' in page
    # Lists lead there, and so does the address that Django has for it.
    assert address in client.get(f"/studies/{study.slug}/{model}s/").content.decode()
    old = client.get(reverse(f"admin:annotator_{model}_change", args=[row.pk]))
    assert old["Location"] == address
    assert signed_in(make_user("bob")).get(address).status_code == 404
    other = factories.launched("other", owner=make_user("cy"))
    wrong = reverse(f"admin:annotator_{model}_page", args=[other.slug, row.pk])
    assert signed_in(other.members.get().user).get(wrong).status_code == 404
