"""The door of a study: what it is about and the consent; who is known goes straight on. A GET stores nothing."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext, ngettext

from annotator.models import Participant, ParticipantOutcome
from annotator.platforms import Leave
from annotator.selectors import (
    came_afterwards,
    ends_likewise,
    find_participant,
    has_places,
    items_to_do,
    knows_session,
    may_resume,
    with_checks,
)
from annotator.services.admission import is_admitted
from annotator.services.entry import (
    ConsentChanged,
    NotAdmitted,
    StudyFull,
    StudyNotOpen,
    consent_version,
    enter,
)
from annotator.services.panels import Arrival, LinkRevoked, LinkUnknown, leave_at_door, read_arrival
from annotator.views.access import clean_text, home, participant_view, render_for
from annotator.views.screens import contact, done_context, example_screen, rendered
from annotator.views.texts import DONE_BEFORE, LINK_REVOKED, NO_ID, NOT_ADMITTED, NOT_OPEN, OVER_BEFORE, Words
from evaluation.models import Status, Study


@participant_view("GET", "HEAD", "POST")
def entry(request: HttpRequest, slug: str) -> HttpResponse:
    studies = Study.objects.visible().select_related("panel")
    study = studies.filter(slug=slug).exclude(status=Status.DRAFT).first()
    if study is None:
        raise Http404
    params = request.POST if request.method == "POST" else request.GET
    try:
        arrival = read_arrival(study, {name: clean_text(value) for name, value in params.dict().items()})
    except LinkUnknown:
        raise Http404 from None
    except LinkRevoked:
        return _closed(study, LINK_REVOKED)
    if arrival.visit.preview:
        return _preview(study)
    if arrival.lacks_id:
        return _closed(study, NO_ID)
    if request.method == "POST":
        return _decide(study, arrival, params.get("choice", ""), params.get("consent"))
    participant = find_participant(study, arrival.visit)
    return _show(study, arrival) if participant is None else _welcome_back(participant, study, arrival)


def _welcome_back(participant: Participant, study: Study, arrival: Arrival) -> HttpResponse:
    """A new visit is recorded, and that takes a POST, also of who is done; otherwise straight on."""
    visit = arrival.visit
    resumes = may_resume(participant, visit)
    is_over = not resumes and came_afterwards(participant, visit)
    is_news = visit.session_id and not knows_session(participant, visit)
    if not (resumes or is_over or is_news):
        return home(participant.token)
    outcome = participant.outcome if is_over and ends_likewise(participant) else ""
    code = bool(outcome) and bool(leave_at_door(study, arrival, outcome).code)
    context = {"visit": arrival.params, "again": {"done": is_over, "code": code}}
    return _page(study, "annotator/entry_again.html", context)


def _show(study: Study, arrival: Arrival, *, notice: str = "", status: int = 200) -> HttpResponse:
    if study.status != Status.LIVE:
        return _closed(study, NOT_OPEN[study.status])
    if not is_admitted(study, arrival.visit):
        return _closed(study, NOT_ADMITTED)
    if not has_places(study):
        return _leave(study, arrival, ParticipantOutcome.FULL)
    context = {"about": _about(study), "visit": arrival.params, "notice": notice}
    return _page(study, "annotator/entry.html", context, status=status)


def _preview(study: Study) -> HttpResponse:
    """The door and what an item looks like, for who has not taken the task on: nothing on it can be sent."""
    if study.status != Status.LIVE:
        return _closed(study, NOT_OPEN[study.status])
    screen = example_screen(study)
    return _page(study, "annotator/entry_preview.html", {"about": _about(study), "screen": screen})


def _decide(study: Study, arrival: Arrival, choice: str, agreed_to: str | None) -> HttpResponse:
    if choice != "agree" and (known := find_participant(study, arrival.visit)) is not None:
        # They have agreed before, perhaps in another window; to go, they withdraw.
        return _welcome_back(known, study, arrival)
    if choice == "decline":
        return _leave(study, arrival, ParticipantOutcome.NO_CONSENT)
    if choice != "agree":
        return _show(study, arrival, status=422)
    try:
        participant = enter(study, arrival.visit, agreed_to=agreed_to)
    except ConsentChanged:
        notice = gettext("This page has changed since you opened it. Please read it again.")
        return _show(study, arrival, notice=notice, status=422)
    except StudyFull:
        return _leave(study, arrival, ParticipantOutcome.FULL)
    except LinkRevoked:
        return _closed(study, LINK_REVOKED)
    except (StudyNotOpen, NotAdmitted):
        study.refresh_from_db()
        return _show(study, arrival)
    if came_afterwards(participant, arrival.visit):
        completed = participant.outcome == ParticipantOutcome.COMPLETED
        return _closed(study, DONE_BEFORE if completed else OVER_BEFORE)
    return home(participant.token)


def _closed(study: Study, words: tuple[Words, Words]) -> HttpResponse:
    title, text = words
    return _page(study, "annotator/entry_closed.html", {"closed": {"title": title, "text": text}})


def _leave(study: Study, arrival: Arrival, outcome: ParticipantOutcome) -> HttpResponse:
    leave = leave_at_door(study, arrival, outcome)
    done = done_context(outcome, leave, arrival.platform)
    return _page(study, "annotator/entry_done.html", {"done": done}, leave=leave)


def _page(
    study: Study, template: str, context: dict[str, Any], *, status: int = 200, leave: Leave | None = None
) -> HttpResponse:
    return render_for(study, template, _around(study) | context, status=status, leave=leave)


def _around(study: Study) -> dict[str, Any]:
    return {"bar": {"title": study.title}, "help": {"contact": contact(study.contact)}, "slug": study.slug}


def _about(study: Study) -> dict[str, Any]:
    """What the study's latest revision says at the door."""
    spec = study.revisions.order_by("-number")[0].spec
    texts = spec["texts"]
    minutes, items = study.paid_minutes, with_checks(items_to_do(study), spec)
    facts = [
        (gettext("Time"), ngettext("about %(n)s minute", "about %(n)s minutes", minutes) % {"n": minutes}),
        (gettext("Items"), ngettext("up to %(n)s", "up to %(n)s", items) % {"n": items}),
    ]
    if study.pay is not None:
        facts.append((gettext("Pay"), f"{study.pay} {study.currency}"))
    return {
        "html": rendered(texts.get("about", "")),
        "checks": list(_checks(spec["steps"])),
        "facts": [{"label": label, "value": value} for label, value in facts],
        "consent": rendered(texts.get("consent", "")) if spec["steps"].get("consent") else "",
        "version": consent_version(spec),
    }


def _checks(steps: Mapping[str, Any]) -> Iterator[str]:
    """What is tested on the way, so that nobody is surprised by an early end."""
    if qualification := steps.get("qualification"):
        mark: int = qualification["pass_mark"]
        yield gettext("The study begins with a qualification.")
        yield ngettext(
            "You go on if at least %(n)s answer in it is right; otherwise the study ends there.",
            "You go on if at least %(n)s answers in it are right; otherwise the study ends there.",
            mark,
        ) % {"n": mark}
    if attention := steps.get("attention"):
        yield gettext("Some items check that they are read carefully.")
        allowed = attention.get("allowed_failures")
        if allowed == 0:
            yield gettext("If you fail one of them, the study ends early.")
        elif allowed is not None:
            yield ngettext(
                "If you fail more than %(n)s of them, the study ends early.",
                "If you fail more than %(n)s of them, the study ends early.",
                allowed,
            ) % {"n": allowed}
