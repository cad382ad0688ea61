"""One study: where it stands, its link for participants, its report, and the sections of other apps."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from evaluation.extension import extensions
from evaluation.facts import Fact
from evaluation.models import Role, Study
from evaluation.permissions import get_study_for
from evaluation.selectors import (
    count_items_of_people,
    counting_judgments,
    left_out_by_kind,
    left_out_in_words,
)


@login_required
@require_safe
def study_detail(request: HttpRequest, slug: str) -> HttpResponse:
    study = get_study_for(request.user, slug)
    judged = counting_judgments(study).count()
    context = {
        "study": study,
        "judged": judged,
        "facts": _facts(study, judged),
        "participant_url": request.build_absolute_uri(f"/s/{study.slug}/"),
        "cautions": [each.text for extension in extensions() for each in extension.running_cautions(study)],
        "sections": [
            (section.label, reverse(section.url_name, args=[study.slug]))
            for each in extensions()
            for section in each.sections()
        ],
    }
    return render(request, "evaluation/study_detail.html", context)


def _facts(study: Study, judged: int) -> list[Fact]:
    items = study.items.filter(role=Role.MAIN, withdrawn_at=None).count()
    left_out = left_out_by_kind(study)
    theirs = count_items_of_people(study)
    wanted = theirs * study.redundancy
    each = f"{study.redundancy} judgments each"
    if study.human_sample is not None:
        each = f"{each} of the {theirs:,} that people judge"
    n_left_out = sum(sum(each.values()) for each in left_out.values())
    return [
        Fact("Items", f"{items:,}", f"{each}, {wanted:,} in total"),
        Fact("Judgments", f"{judged:,}", "counted, from all raters"),
        Fact("Excluded", f"{n_left_out:,}", left_out_in_words(left_out) or "all judgments are counted"),
    ]
