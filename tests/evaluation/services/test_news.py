"""News by e-mail: each is told once to who asked, again only after it was over, and later where no server took it."""

from smtplib import SMTPServerDisconnected
from typing import Any

import pytest
from django.core import mail

from evaluation.extension import Concern
from evaluation.models import Study, StudyMember
from evaluation.services import news
from evaluation.tasks import count_progress
from tests import factories
from tests.evaluation.admin.conftest import make_user, signed_in
from tests.evaluation.admin.test_confirmations import text
from tests.extensions import extend

pytestmark = pytest.mark.django_db
FULL = Concern("All 12 judgments needed are in.", "Close the study", "/studies/s/close/", news="full")
STOPPED = Concern("Judge A: stopped.", "Look at the run", "/admin/judging/run/1/change/", news="stopped 1")


@pytest.fixture
def now(monkeypatch: Any, settings: Any) -> list[Concern]:
    """All that is so, to be changed; with a mail server, and every study counted whenever it is asked for."""
    settings.EMAIL_HOST, settings.DEFAULT_FROM_EMAIL = "mail.example.org", "assay@example.org"
    settings.ASSAY_PUBLIC_URL = "https://assay.example.org"
    concerns: list[Concern] = [Concern("A caution, which is no news.")]
    extend(monkeypatch, alone=True, needs=lambda study, progress: concerns)
    monkeypatch.setattr("evaluation.tasks.studies_to_count", lambda: list(Study.objects.all()))
    monkeypatch.setattr("evaluation.tasks.send_message", lambda task, *arguments: task(*arguments))
    return concerns


@pytest.fixture
def study(now: list[Concern]) -> Study:
    ada = make_user("ada")
    ada.email = "ada@example.org"
    ada.save()
    return factories.make_study("contrast", owner=ada)


def wanted(study: Study) -> None:
    page = signed_in(study.members.get().user)
    address = f"/studies/{study.slug}/members/"
    assert "Be told when all judgments are in" in text(page.get(address))
    answer = page.post(f"{address}news/", {"wanted": "1"}, follow=True)
    assert "You get news of this study at ada@example.org." in text(answer)


def test_each_is_told_once_and_again_once_it_was_over(study: Study, now: list[Concern]) -> None:
    wanted(study)
    count_progress()
    assert mail.outbox == []
    now += [FULL, STOPPED]
    count_progress()
    count_progress()
    (sent,) = mail.outbox
    assert sent.to == ["ada@example.org"]
    assert sent.subject == f"News of the study “{study.title}”"
    assert FULL.text in sent.body
    assert "https://assay.example.org/studies/s/close/" in sent.body
    assert f"https://assay.example.org/studies/{study.slug}/members/" in sent.body
    assert "A caution" not in sent.body
    now.remove(FULL)
    count_progress()
    now.append(FULL)
    count_progress()
    assert len(mail.outbox) == 2
    assert STOPPED.text not in mail.outbox[1].body


def test_nobody_is_told_unasked_or_of_what_was_so_before(study: Study, now: list[Concern]) -> None:
    now.append(FULL)
    count_progress()
    wanted(study)
    count_progress()
    assert mail.outbox == []
    page = signed_in(study.members.get().user)
    assert "You get no news" in text(page.post(f"/studies/{study.slug}/members/news/", follow=True))
    now.append(STOPPED)
    count_progress()
    assert mail.outbox == []


def test_what_no_server_took_is_sent_later(study: Study, now: list[Concern], monkeypatch: Any) -> None:
    wanted(study)
    now.append(FULL)

    def gone(*args: Any) -> None:
        raise SMTPServerDisconnected

    with monkeypatch.context() as patched:
        patched.setattr(news, "send_mail", gone)
        count_progress()
    count_progress()
    assert len(mail.outbox) == 1


def test_an_account_without_an_address_is_refused(study: Study, outsider: Any) -> None:
    StudyMember.objects.create(study=study, user=outsider, role="viewer")
    address = f"/studies/{study.slug}/members/news/"
    answer = signed_in(outsider).post(address, {"wanted": "1"}, follow=True)
    assert "Your account has no e-mail address." in text(answer)
    assert signed_in(make_user("eve")).post(address, {"wanted": "1"}).status_code == 404
    assert signed_in(outsider).get(address).status_code == 405
