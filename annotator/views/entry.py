"""The door of a study: what it is about and the consent; who is known goes straight on. A GET stores nothing."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext, ngettext

from annotator.models import Participant, ParticipantOutcome
from annotator.platforms import Visit, read_visit, visit_params
from annotator.selectors import find_participant, has_places, knows_session
from annotator.services.admission import is_admitted
from annotator.services.entry import (
    ConsentChanged,
    NotAdmitted,
    StudyFull,
    StudyNotOpen,
    consent_version,
    enter,
)
from annotator.views.access import clean_text, home, participant_view, render
from annotator.views.screens import contact, done_context, rendered
from annotator.views.texts import NOT_ADMITTED, NOT_OPEN, Words
from evaluation.models import Status, Study


@participant_view("GET", "HEAD", "POST")
def entry(request: HttpRequest, slug: str) -> HttpResponse:
    study = Study.objects.visible().filter(slug=slug).exclude(status=Status.DRAFT).first()
    if study is None:
        raise Http404
    params = request.POST if request.method == "POST" else request.GET
    visit = read_visit({name: clean_text(value) for name, value in params.dict().items()})
    if request.method == "POST":
        return _decide(study, visit, params.get("choice", ""), params.get("consent"))
    participant = find_participant(study, visit)
    return _show(study, visit) if participant is None else _welcome_back(participant, visit)


def _welcome_back(participant: Participant, visit: Visit) -> HttpResponse:
    """A new visit is recorded, and that takes a POST, also of who is done; otherwise straight on."""
    if not visit.session_id or knows_session(participant, visit):
        return home(participant.token)
    study, outcome = participant.study, participant.outcome
    again = {"done": bool(outcome), "code": bool(study.completion_codes.get(outcome))}
    context = _around(study) | {"visit": visit_params(visit), "again": again}
    return render("annotator/entry_again.html", context)


def _show(study: Study, visit: Visit, *, notice: str = "", status: int = 200) -> HttpResponse:
    if study.status != Status.LIVE:
        return _closed(study, NOT_OPEN[study.status])
    if not is_admitted(study, visit):
        return _closed(study, NOT_ADMITTED)
    if not has_places(study):
        return _leave(study, visit, ParticipantOutcome.FULL)
    context = _around(study) | {"about": _about(study), "visit": visit_params(visit), "notice": notice}
    return render("annotator/entry.html", context, status=status)


def _decide(study: Study, visit: Visit, choice: str, agreed_to: str | None) -> HttpResponse:
    if choice == "decline":
        return _leave(study, visit, ParticipantOutcome.NO_CONSENT)
    if choice != "agree":
        return _show(study, visit, status=422)
    try:
        return home(enter(study, visit, agreed_to=agreed_to).token)
    except ConsentChanged:
        notice = gettext("This page has changed since you opened it. Please read it again.")
        return _show(study, visit, notice=notice, status=422)
    except StudyFull:
        return _leave(study, visit, ParticipantOutcome.FULL)
    except (StudyNotOpen, NotAdmitted):
        study.refresh_from_db()
        return _show(study, visit)


def _closed(study: Study, words: tuple[Words, Words]) -> HttpResponse:
    title, text = words
    return render("annotator/entry_closed.html", _around(study) | {"closed": {"title": title, "text": text}})


def _leave(study: Study, visit: Visit, outcome: ParticipantOutcome) -> HttpResponse:
    done = done_context(study, outcome, visit.platform)
    return render("annotator/entry_done.html", _around(study) | {"done": done})


def _around(study: Study) -> dict[str, Any]:
    return {"bar": {"title": study.title}, "help": {"contact": contact(study.contact)}, "slug": study.slug}


def _about(study: Study) -> dict[str, Any]:
    """What the study's latest revision says at the door."""
    spec = study.revisions.order_by("-number")[0].spec
    texts = spec["texts"]
    minutes, items = study.paid_minutes, study.items_per_participant
    facts = [
        (gettext("Time"), ngettext("about %(n)s minute", "about %(n)s minutes", minutes) % {"n": minutes}),
        (gettext("Items"), ngettext("up to %(n)s", "up to %(n)s", items) % {"n": items}),
    ]
    if study.pay is not None:
        facts.append((gettext("Pay"), f"{study.pay} {study.currency}"))
    return {
        "html": rendered(texts.get("about", "")),
        "facts": [{"label": label, "value": value} for label, value in facts],
        "consent": rendered(texts.get("consent", "")) if spec["steps"].get("consent") else "",
        "version": consent_version(spec),
    }
