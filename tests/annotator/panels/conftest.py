"""The panel that the tests of recruiting, acts and events share."""

import pytest

from annotator.panels.prolific import api
from annotator.panels.services import recruiting, study_draft
from tests.annotator.panels import prolific_server
from tests.annotator.panels.recruits import make


@pytest.fixture
def prolific(settings, monkeypatch):
    """An account on a server of the tests' own, which this installation has the token and the secret of."""
    # The client waits after failures; the tests don't.
    monkeypatch.setattr(api, "FIRST_WAIT", 0.01)
    with prolific_server.serve() as account:
        settings.ASSAY_PROLIFIC_URL = account.url
        settings.ASSAY_PROLIFIC_TOKEN = account.token
        settings.ASSAY_PROLIFIC_WEBHOOK_SECRET = account.secret
        settings.ASSAY_PUBLIC_URL = "https://assay.example.org"
        yield account


@pytest.fixture
def study(prolific):
    """Live, and ready to be drafted there."""
    return make()


@pytest.fixture
def open_panel(study):
    """Published there."""
    return recruiting.publish(study_draft.draft_on_panel(study))
