"""The door of a study: what it is about, and the consent; who is known goes straight on. A GET stores nobody."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext

from annotator.models import Participant, ParticipantOutcome
from annotator.panels.platforms import Departure, get_platform
from annotator.panels.services.arrivals import (
    Arrival,
    IdIsPlaceholder,
    LinkRevoked,
    LinkUnknown,
    departure_at_entry,
    read_arrival,
)
from annotator.panels.services.unread_arrivals import note_placeholder, note_unread
from annotator.selectors.admission import latest_revision, study_for_entry
from annotator.selectors.quota import items_to_do
from annotator.selectors.slots import has_places
from annotator.selectors.visits import (
    begins_visit,
    find_participant,
    gets_same_code,
    has_items_left,
    is_late_visit,
    knows_session,
    may_resume,
)
from annotator.services.admission.entry import (
    ConsentChanged,
    NotAdmitted,
    StudyFull,
    StudyNotOpen,
    enter,
)
from annotator.services.admission.entry_rules import is_admitted
from annotator.views.shared.access import SeeOther, home, participant_view, render_for
from annotator.views.shared.parts import about_study, closed_context, contact, done_context, visit_of
from annotator.views.shared.screens import example_screen
from annotator.views.shared.texts import (
    AWAY,
    CONSENT_CHANGED,
    KEPT_FROM_EARLIER,
    LINK_REVOKED,
    LINK_TODO,
    NO_ID,
    NO_ID_TODO,
    NO_VISIT_LEFT,
    PLACEHOLDER,
    Words,
)
from evaluation.forms.language import speak
from evaluation.models import Status, Study
from evaluation.storable import storable

# Of the door's address after an agreement to a text that has changed meanwhile: what `choice` says there.
CHANGED = "changed"


@participant_view("GET", "HEAD", "POST")
def entry(request: HttpRequest, slug: str) -> HttpResponse:
    study = study_for_entry(slug)
    if study is None:
        raise Http404
    speak(study.language, study.texts_language)
    params = request.POST if request.method == "POST" else request.GET
    try:
        arrival = read_arrival(study, {name: storable(value) for name, value in params.dict().items()})
    except LinkUnknown:
        raise Http404 from None
    except LinkRevoked:
        return _revoked(study)
    except IdIsPlaceholder as unfilled:
        # The one thing that a GET leaves, a count: whoever is refused here sends no form.
        note_placeholder(study, str(unfilled))
        return _closed(study, PLACEHOLDER, todo=NO_ID_TODO)
    if arrival.visit.preview:
        return _preview(study, arrival)
    if arrival.lacks_id:
        return _closed(study, NO_ID, todo=NO_ID_TODO)
    if request.method == "POST":
        choice = params.get("choice", "")
        if choice == "agree":
            # What the study does not read is not among the form's fields, but still in the address that it is sent to.
            note_unread(study, {**request.GET.dict(), **params.dict()})
        return _decide(study, arrival, choice, params.get("consent"))
    changed = gettext("This page has changed since you opened it. Please read it again.")
    notice = changed if params.get("choice") == CHANGED else ""
    participant = find_participant(study, arrival.visit)
    if participant is not None:
        return _welcome_back(participant, study, arrival, notice=notice)
    return _show(study, arrival, notice=notice)


def _welcome_back(
    participant: Participant, study: Any, arrival: Arrival, *, notice: str = ""
) -> HttpResponse:
    """A new visit is recorded, and that takes a POST, also of who is done; otherwise straight on."""
    visit = arrival.visit
    if begins_visit(participant, visit):
        return _show_next_visit(participant, study, arrival, notice=notice)
    resumes = may_resume(participant, visit)
    is_over = not resumes and is_late_visit(participant, visit)
    has_new_answers = visit.session_id and not knows_session(participant, visit)
    if not (resumes or is_over or has_new_answers):
        return home(participant.token)
    outcome = participant.outcome if is_over and gets_same_code(participant) else ""
    code = bool(outcome) and bool(departure_at_entry(study, arrival, outcome).code)
    context = {"visit": arrival.params, "again": {"done": is_over, "code": code}}
    return _page(study, "annotator/entry_repeat.html", context)


def _show_next_visit(
    participant: Participant, study: Any, arrival: Arrival, *, notice: Words
) -> HttpResponse:
    """The door for somebody who comes again: consent only where its text is another one."""
    if study.status != Status.LIVE:
        return _turn_away(study, arrival, study.status)
    if not has_items_left(participant, timezone.now()):
        return _leave(study, arrival, ParticipantOutcome.FULL)
    about = _about(study)
    if about["version"] == participant.consent_version:
        again = {"visit": visit_of(participant.visit_number + 1, study.visits)}
        return _page(study, "annotator/entry_repeat.html", {"visit": arrival.params, "again": again})
    notice = notice or CONSENT_CHANGED
    return _page(study, "annotator/entry.html", {"about": about, "visit": arrival.params, "notice": notice})


def _show(study: Any, arrival: Arrival, *, notice: str = "") -> HttpResponse:
    if study.status != Status.LIVE:
        return _turn_away(study, arrival, study.status)
    if study.has_lists and not is_admitted(study, arrival.visit):
        return _turn_away(study, arrival, "not_admitted")
    if not has_places(study):
        return _leave(study, arrival, ParticipantOutcome.FULL)
    context = {
        "about": _about(study),
        "visit": arrival.params,
        "group": arrival.visit.group,
        "notice": notice,
    }
    return _page(study, "annotator/entry.html", context)


def _preview(study: Study, arrival: Arrival) -> HttpResponse:
    """The door and what an item looks like, for who has not taken the task on: nothing on it can be sent."""
    if study.status != Status.LIVE:
        return _turn_away(study, arrival, study.status)
    screen = example_screen(study)
    return _page(study, "annotator/entry_preview.html", {"about": _about(study), "screen": screen})


def _decide(study: Study, arrival: Arrival, choice: str, agreed_to: str | None) -> HttpResponse:
    if choice != "agree" and (known := find_participant(study, arrival.visit)) is not None:
        if choice == "decline" and begins_visit(known, arrival.visit):
            return _leave(study, arrival, ParticipantOutcome.NO_CONSENT, text=KEPT_FROM_EARLIER)
        # They have agreed before, perhaps in another window; to go, they withdraw.
        return _welcome_back(known, study, arrival)
    if choice == "decline":
        return _leave(study, arrival, ParticipantOutcome.NO_CONSENT)
    if choice != "agree":
        return _back_to_door(study, arrival.address_params)
    try:
        participant = enter(study, arrival.visit, agreed_to=agreed_to)
    except ConsentChanged:
        return _back_to_door(study, arrival.address_params | {"choice": CHANGED})
    except StudyFull:
        return _leave(study, arrival, ParticipantOutcome.FULL)
    except LinkRevoked:
        return _revoked(study)
    except (StudyNotOpen, NotAdmitted):
        study.refresh_from_db()
        return _show(study, arrival)
    if is_late_visit(participant, arrival.visit):
        if participant.outcome != ParticipantOutcome.COMPLETED:
            return _turn_away(study, arrival, "over_before")
        words = AWAY["done_before"] if study.visits == 1 else NO_VISIT_LEFT
        return _turn_away(study, arrival, "done_before", words)
    return home(participant.token)


def _back_to_door(study: Study, params: Mapping[str, str]) -> HttpResponse:
    """By a GET, so that loading the page again sends no answer once more."""
    address = reverse("annotator:entry", args=[study.slug])
    return SeeOther(f"{address}?{urlencode(params)}" if params else address)


def _turn_away(
    study: Study, arrival: Arrival, reason: str, words: tuple[Words, Words] | None = None
) -> HttpResponse:
    """Why they are not taken in, what it means for their pay, and what to do where they came from."""
    ending, platform = arrival.platform.away[reason], arrival.platform
    return _closed(study, words or AWAY[reason], reward=platform.reward, pay=ending.pay, todo=ending.stay)


def _revoked(study: Study) -> HttpResponse:
    platform = get_platform("personal")
    pay = platform.away["closed"].pay
    return _closed(study, LINK_REVOKED, reward=platform.reward, pay=pay, todo=LINK_TODO)


def _closed(study: Study, words: tuple[Words, Words], **more: Words) -> HttpResponse:
    return _page(study, "annotator/entry_closed.html", closed_context(words, **more))


def _leave(study: Study, arrival: Arrival, outcome: ParticipantOutcome, *, text: Words = "") -> HttpResponse:
    leave = departure_at_entry(study, arrival, outcome)
    done = done_context(outcome, leave, arrival.platform)
    done["text"] = text or done["text"]
    return _page(study, "annotator/page_done.html", {"done": done}, leave=leave)


def _page(
    study: Study, template: str, context: dict[str, Any], *, leave: Departure | None = None
) -> HttpResponse:
    return render_for(study, template, _around(study) | context, leave=leave)


def _around(study: Study) -> dict[str, Any]:
    return {"bar": {"title": study.title}, "help": {"contact": contact(study.contact)}, "slug": study.slug}


def _about(study: Study) -> dict[str, Any]:
    """The texts of the study's latest revision for its door."""
    return about_study(study, latest_revision(study).spec, items_to_do(study))
