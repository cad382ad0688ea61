"""From the instructions, a training's feedback or a wait to what follows, and from one visit to the next."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from annotator.models import Participant
from annotator.panels.services.arrivals import LinkRevoked
from annotator.selectors.admission import latest_revision
from annotator.selectors.visits import is_named_by_panel, may_come_again
from annotator.services.admission.entry import ConsentChanged, StudyFull, StudyNotOpen, come_again
from annotator.services.work.leave import finish_now as finish_now_service
from annotator.services.work.submit import advance_participant
from annotator.views.shared.access import (
    SeeOther,
    address_of,
    home,
    participant_of,
    participant_view,
    render_for,
)
from annotator.views.shared.parts import about_study, closed_context, contact
from annotator.views.shared.texts import CONSENT_CHANGED, LINK_REVOKED, LINK_TODO


@participant_view("POST")
def advance(request: HttpRequest, token: str) -> HttpResponse:
    advance_participant(token)
    return home(token)


@participant_view("POST")
def finish_now(request: HttpRequest, token: str) -> HttpResponse:
    """Finish with what was judged, in place of waiting for items that others hold."""
    finish_now_service(token)
    return home(token)


@participant_view("GET", "HEAD", "POST")
def visit(request: HttpRequest, token: str) -> HttpResponse:
    """Begin the next visit of somebody who completed one, where no panel names their visits."""
    participant = participant_of(token)
    if request.method != "POST":
        return _consent(participant)
    if request.POST.get("choice") != "agree":
        return home(token)
    number = request.POST.get("number", "")
    # No study has as many visits as three digits can name.
    wanted = int(number) if number.isdecimal() and len(number) <= 3 else 0
    try:
        come_again(token, wanted, agreed_to=request.POST.get("consent"))
    except ConsentChanged:
        return SeeOther(address_of("visit", token))
    except LinkRevoked:
        return _page(participant, "annotator/entry_closed.html", closed_context(LINK_REVOKED, todo=LINK_TODO))
    except (StudyFull, StudyNotOpen):
        pass  # their page says so
    return home(token)


def _consent(participant: Participant) -> HttpResponse:
    """The consent where its text is another one than they agreed to; otherwise their page, which has the button."""
    about = about_study(participant.study, latest_revision(participant.study).spec, participant.quota)
    may_begin = may_come_again(participant) and not is_named_by_panel(participant)
    if not may_begin or about["version"] == participant.consent_version:
        return home(participant.token)
    fields = {"number": str(participant.visit_number + 1)}
    context = {"about": about, "visit": fields, "notice": CONSENT_CHANGED}
    return _page(participant, "annotator/entry.html", context)


def _page(participant: Participant, template: str, context: dict[str, Any]) -> HttpResponse:
    study = participant.study
    around = {"bar": {"title": study.title}, "help": {"contact": contact(study.contact)}, "slug": study.slug}
    return render_for(study, template, around | context)
