"""News of a study, by e-mail for members who want it and to its webhook: it is full, its stopping rule is met, a budget
is spent, a run has stopped or some of its calls failed."""

import logging
from smtplib import SMTPException
from typing import Any

from django.conf import settings
from django.core.mail import send_mail
from django.db.models import QuerySet
from django.template.loader import render_to_string

from evaluation.extension import Concern, extensions
from evaluation.models import Progress, Study, StudyMember, StudyWebhook
from evaluation.refusals import Refused
from evaluation.services.invitations import can_mail
from evaluation.services.progress import progress_of
from evaluation.services.webhooks import send_to_webhook, webhook_of

logger = logging.getLogger(__name__)


def ask_for_news(study: Study, *, user: Any, wanted: bool) -> str:
    """Note whether a member wants news from now on; return a sentence about it. What is so already is none."""
    if wanted and not user.email:
        raise Refused("Your account has no e-mail address.")
    told = current_news(study) if wanted else []
    study.members.filter(user=user).update(wants_news=wanted, told=told)
    return f"You get news of this study at {user.email}." if wanted else "You get no news of this study."


def current_news(study: Study) -> list[str]:
    """The keys of what is so at present."""
    return [each.news for each in _news(study, progress_of(study))]


def has_listeners(study: Study) -> bool:
    """True where somebody wants its news."""
    return StudyWebhook.objects.filter(study=study).exists() or (can_mail() and _members(study).exists())


def tell_news(study: Study) -> None:
    """Send to each member who wants it, and to the webhook, what has come since the last time; what could not be sent
    is tried again."""
    news = _news(study, progress_of(study))
    if can_mail():
        _tell_members(study, news)
    if webhook := webhook_of(study):
        send_to_webhook(webhook, news)


def _members(study: Study) -> QuerySet[StudyMember]:
    return study.members.filter(wants_news=True).exclude(user__email="").select_related("user")


def _tell_members(study: Study, news: list[Concern]) -> None:
    keys = [each.news for each in news]
    members = _members(study)
    for member in members:
        new = [each for each in news if each.news not in member.told]
        if member.told != keys and (not new or _send(study, member, new)):
            StudyMember.objects.filter(pk=member.pk).update(told=keys)


def _news(study: Study, progress: Progress) -> list[Concern]:
    return [each for own in extensions() for each in own.needs(study, progress) if each.news]


def _send(study: Study, member: StudyMember, news: list[Concern]) -> bool:
    # On one line: a header ends where the line does.
    title = " ".join(study.title.split())
    context = {"title": title, "news": news, "server": settings.ASSAY_PUBLIC_URL, "study": study}
    text = render_to_string("evaluation/news_mail.txt", context)
    try:
        send_mail(f"News of the study “{title}”", text, None, [member.user.email])
    except (SMTPException, OSError, ValueError) as error:
        logger.warning("News could not be sent: %s", type(error).__name__)
        return False
    return True
