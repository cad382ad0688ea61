"""The page of a study's recruitment platform: its settings, the completion codes and the eligibility."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from annotator.models import Panel, ParticipantOutcome
from annotator.panels.admin.codes import CodesForm
from annotator.panels.platforms import Platform, default_platform, get_platform, offered_platforms
from annotator.panels.platforms.addresses import split_origins
from annotator.panels.services.arrivals import code_for, study_address
from annotator.panels.services.linked_studies import linked_sentence
from annotator.panels.services.panel_settings import MAX_SETTING, panel_of, set_codes, set_panel
from annotator.panels.services.recruitment_filters import eligibility_of, filter_sentences
from annotator.panels.services.unread_arrivals import unread_cautions
from annotator.panels.visit_codes import code_label, further_keys, outcome_of
from annotator.visit import Visit
from evaluation.admin.pages import page
from evaluation.admin.rights import FORM, study_page
from evaluation.models import Study
from evaluation.refusals import Refused
from evaluation.services.history import log_action

# Stands for a visit's ids where the page shows what an address will look like.
SAMPLE: dict[str, Any] = {"external_id": "PARTICIPANT", "external_study_id": "STUDY", "session_id": "VISIT"}


def settings_form(platform: Platform) -> type[forms.Form]:
    """A field for each thing that can be set of the platform."""
    fields: dict[str, Any] = {
        each.name: forms.CharField(
            label=each.label, help_text=each.help, initial=each.default, required=each.required,
            max_length=MAX_SETTING, widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        )
        for each in platform.settings
    }  # fmt: skip
    if platform.api is not None:
        fields["returned"] = forms.ChoiceField(
            label="Work from visits that are returned or time out there",
            choices=Panel.Returned.choices,
            initial=Panel.Returned.KEEP,
            help_text="Slots reserved for that participant are freed at once in either case.",
        )
    return type("SettingsForm", (forms.Form,), fields)


@study_page("write", methods=FORM)
def platform(request: HttpRequest, study: Study) -> HttpResponse:
    """The platforms to choose from and what can be set of the chosen one; the codes; the eligibility; and the address
    to give to the platform. Each of the two forms is sent by itself."""
    panel = panel_of(study)
    current = get_platform(panel.platform if panel else "link")
    fixed = panel is not None and panel.drafted_at is not None
    wanted = "" if fixed else request.POST.get("platform") or request.GET.get("platform")
    chosen = next((each for each in offered_platforms() if each.key == wanted), current)
    stored = panel.settings | {"returned": panel.returned} if panel and panel.platform == chosen.key else {}
    sent = request.POST if request.method == "POST" else None
    of_codes = sent is not None and sent.get("form") == "codes"
    form = settings_form(chosen)(None if of_codes else sent, initial=stored)
    codes = CodesForm(sent if of_codes else None, study=study)
    is_saved = _save_codes(request, study, codes) if of_codes else _save(request, study, chosen, form)
    if is_saved:
        return HttpResponseRedirect(reverse("admin:evaluation_study_platform", args=[study.slug]))
    set_up = panel is not None and chosen.key == current.key
    context = {
        "title": "Platform, codes and eligibility",
        "choices": [
            (each, each.key == chosen.key, bool(panel) and each.key == current.key)
            for each in offered_platforms()
        ],
        "chosen": chosen,
        "default": default_platform(),
        "form": form,
        "codes": codes,
        "fixed": fixed,
        "linked": [linked_sentence(each) for each in panel.linked_studies.all()] if panel else [],
        "panel": panel,
        "eligibility": (filter_sentences(panel) or ["Open to everyone."])
        if panel and eligibility_of(current) is not None
        else [],
        "presets": bool(panel) and not fixed,
        "unread": list(unread_cautions(study)) if study.is_frozen else [],
        "address": chosen.entry_address(study_address(study), panel.settings) if panel and set_up else "",
        "ways": _ways_back(study, panel) if panel and set_up else [],
    }
    status = 422 if sent is not None else 200
    return page(
        request, "admin/annotator/platform.html", context, study=study, tab="participants", status=status
    )


def _save_codes(request: HttpRequest, study: Study, form: CodesForm) -> bool:
    """Set the codes; false if they are refused, and then the form says why."""
    if not form.is_valid():
        return False
    try:
        set_codes(study, form.codes(), by=request.user)
    except Refused as wrong:
        for problem in wrong.problems:
            form.add_error(None, problem)
        return False
    messages.success(request, "Completion codes saved.")
    return True


def _save(request: HttpRequest, study: Study, chosen: Platform, form: forms.Form) -> bool:
    """Set the platform; false if nothing was sent or it is refused, and then the form says why."""
    if not form.is_valid():
        return False
    settings = dict(form.cleaned_data)
    returned = settings.pop("returned", Panel.Returned.KEEP)
    try:
        set_panel(study, chosen.key, settings, returned)
    except Refused as wrong:
        for problem in wrong.problems:
            form.add_error(None, problem)
    else:
        said = f"Recruitment platform: {chosen.label}."
        log_action(study=study, by=request.user, message=said)
        messages.success(request, said)
        return True
    return False


def _ways_back(study: Study, panel: Panel) -> list[tuple[str, str, str]]:
    """Outcome, code, and where its participants go; of a visit whose ids stand for themselves."""
    platform = get_platform(panel.platform)
    submit_to = split_origins(panel.settings.get("submit_origins", ""))
    visit = Visit(platform.key, **SAMPLE, extra={"turkSubmitTo": submit_to[0]} if submit_to else {})
    rows = []
    for key in (*ParticipantOutcome.values, *further_keys(study)):
        outcome = outcome_of(key)
        code = str(study.completion_codes.get(key) or "") or code_for(study, outcome)
        leave = platform.leave(outcome, code, visit, panel.settings)
        rows.append((code_label(key), code, leave.link or leave.post_to))
    return rows
