"""What goes over the line compressed: pages, styles and scripts, and nothing that is downloaded."""

import gzip

import pytest

from annotator.services.admission.entry import enter
from annotator.visit import Visit
from tests import factories
from tests.annotator.conftest import home
from tests.annotator.services.people import ONE_ARM
from tests.crowd import make_crowd_study

pytestmark = pytest.mark.django_db
ACCEPTS = {"Accept-Encoding": "gzip, br"}
# Of a first paint over a slow line, without the texts of the item; at 400 kbit a second these take 0.6 s.
MOST_BYTES = 30_000


def test_what_an_item_s_page_needs_to_be_painted_is_small(client):
    participant = enter(make_crowd_study("small", queries=1, arms=ONE_ARM), Visit("link"))
    page = client.get(home(participant), headers=ACCEPTS)
    assert page["Content-Encoding"] == "gzip"
    html = gzip.decompress(page.content).decode()
    styles = [link.split('"')[0] for link in html.split('<link rel="stylesheet" href="')[1:]]
    assert any("participant" in each for each in styles)
    sizes = [len(page.content)]
    for address in styles:
        answer = client.get(address, headers=ACCEPTS)
        assert answer["Content-Encoding"] == "gzip", address
        sizes.append(len(b"".join(answer.streaming_content)))
    assert sum(sizes) < MOST_BYTES, sizes


def test_a_file_that_is_downloaded_stays_as_it_is(client, owner):
    study = factories.launch(factories.make_study("files", owner=owner, queries=2))
    client.force_login(owner)
    page = client.get(f"/studies/{study.slug}/", headers=ACCEPTS)
    assert page["Content-Encoding"] == "gzip"
    table = client.get(f"/studies/{study.slug}/template/", headers=ACCEPTS)
    assert table["Content-Disposition"].startswith("attachment")
    assert "Content-Encoding" not in table


def test_who_takes_nothing_compressed_gets_it_plain(client):
    assert "Content-Encoding" not in client.get("/admin/login/", headers={"Accept-Encoding": "identity"})
