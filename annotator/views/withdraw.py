"""Withdrawing: a page that asks, and the act."""

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from annotator.services.work.leave import withdraw as withdraw_service
from annotator.views.shared.access import home, participant_of, participant_view, render_for
from annotator.views.shared.parts import contact


@participant_view("GET", "HEAD", "POST")
def withdraw(request: HttpRequest, token: str) -> HttpResponse:
    if request.method == "POST":
        withdraw_service(
            token,
            leave_out_judgments=request.POST.get("leave_out") == "1",
            erase=request.POST.get("erase") == "1",
        )
        return home(token)
    participant = participant_of(token)
    if participant.outcome:
        return home(token)
    context = {
        "bar": {"title": participant.revision.spec["title"]},
        "help": {"contact": contact(participant.study.contact)},
        "erases": participant.study.erases_withdrawn,
        "withdraw": reverse("annotator:withdraw", args=[token]),
        "home": reverse("annotator:page", args=[token]),
    }
    return render_for(participant.study, "annotator/withdraw.html", context)
