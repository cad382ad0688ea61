"""The site's bare address: members go on to their studies, everybody else reads what this is."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    if request.user.is_authenticated:
        return redirect("evaluation:study-list")
    # Parameters come with a panel's link, here with one that lost its path: nobody to be asked to sign in.
    if request.GET:
        raise Http404
    return render(request, "evaluation/home.html")
