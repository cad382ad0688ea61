"""Files get through where a page asks for one: past the application's limits and those of the documented proxy."""

import re
from typing import Any

import pytest

from config.bodies import UPLOADS, largest_body
from tests.config.addresses import ROUTES, world_of
from tests.config.site import documented
from tests.evaluation.admin.conftest import make_user, signed_in
from tests.evaluation.admin.test_questions import draft_of

UNITS = {"k": 1024, "m": 1024**2}
OF_STUDY = [route for route in ROUTES if route.startswith("studies/<slug:slug>/")]
OF_MEMBERS = [
    *(route for route in ROUTES if route.startswith(("admin/", "new/")) and route != "admin/logout/"),
    *OF_STUDY,
]


@pytest.mark.django_db
def test_every_page_that_asks_for_a_file_may_be_sent_a_large_one(settings: Any, tmp_path: Any) -> None:
    """Of a live study and of a draft, whose pages differ. (A table's map is smaller than a form may be.)"""
    settings.ASSAY_CORPORA = str(tmp_path)
    chief = make_user("chief", is_superuser=True)
    client, world = signed_in(chief), world_of("mine", chief)
    asking, taken = set(), set()
    for study, routes in ((world.study, OF_MEMBERS), (draft_of("pairwise", chief), OF_STUDY)):
        world.find.rows["study"], world.find.named["slug"] = study.pk, study.slug
        for route in routes:
            path = world.find(route)
            if UPLOADS.fullmatch(path):
                taken.add(route)
            page = client.get(path)
            if not page.streaming and b'type="file"' in page.content:
                asking.add(route)
    assert asking == taken


def limits(name: str) -> list[int]:
    found = re.findall(rf"{name} (\d+)([km]);", documented("nginx"))
    return [int(number) * UNITS[unit] for number, unit in found]


def test_the_documented_proxy_takes_files_at_the_same_addresses() -> None:
    assert f"location ~ ^{UPLOADS.pattern}$ {{\n" in documented("nginx")


def test_the_documented_proxy_takes_bodies_as_large_as_the_application_does(settings: Any) -> None:
    forms, files = limits("client_max_body_size")
    assert forms == limits("client_body_buffer_size")[0] == largest_body("/admin/login/")
    upload = largest_body("/new/from-file/")
    assert upload > settings.ASSAY_UPLOAD_MB * 1_000_000
    assert upload <= files < 1.1 * upload
