"""Lists of one study's rows: they stay with the study, and never offer another one."""

from typing import Any

import pytest
from django.contrib import admin
from django.urls import reverse

from evaluation.admin.base import StudyFilter, StudyScopedAdmin
from evaluation.models import Study
from tests.evaluation.admin.conftest import signed_in, work_on

pytestmark = pytest.mark.django_db
LISTS = [
    model
    for model, of_model in admin.site._registry.items()
    if isinstance(of_model, StudyScopedAdmin) and model is not Study
]


def of_study(model: Any, study: Study) -> str:
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"
    return f"{reverse(name)}?study={study.pk}"


def filters(response: Any) -> list[Any]:
    return list(response.context["cl"].filter_specs)


def test_every_list_goes_by_its_study() -> None:
    assert len(LISTS) > 15
    for model in LISTS:
        offered = [each for each in admin.site._registry[model].list_filter if isinstance(each, type)]
        assert any(issubclass(each, StudyFilter) for each in offered), model


@pytest.mark.parametrize("model", LISTS, ids=lambda model: model.__name__)
def test_inside_a_study_no_list_offers_another(model: Any, mine: Any, owner: Any) -> None:
    work_on("another", owner)
    response = signed_in(owner).get(of_study(model, mine.study))
    page = response.content.decode()
    assert response.status_code == 200
    assert "By study" not in page
    # The other study's title stands nowhere on the page: neither as a choice nor in a row.
    assert "Another" not in page
    assert "study-bar" in page


def test_outside_a_study_a_list_offers_each(mine: Any, owner: Any) -> None:
    work_on("another", owner)
    page = signed_in(owner).get(reverse("admin:evaluation_item_changelist")).content.decode()
    assert "By study" in page
    assert "Another" in page
