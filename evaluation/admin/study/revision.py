"""Revision of a running study: other texts, questions, steps and skip rules for new participants."""

from collections.abc import Mapping
from difflib import unified_diff
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from evaluation.admin.pages import overview_url, page
from evaluation.admin.prose import Prose
from evaluation.admin.rights import FORM, study_page
from evaluation.admin.study.forms import TEXTS
from evaluation.admin.study.question_options import wording
from evaluation.admin.study.rules import StepsForm
from evaluation.canonical import canonical_hash
from evaluation.models import Status, Study
from evaluation.refusals import Refused
from evaluation.services.studies.revision import Change, plan_revision, revise_study


class RevisionForm(StepsForm):
    """Everything that a revision may change, filled with the latest revision."""

    title = forms.CharField(max_length=200)
    asker = forms.CharField(max_length=60, label="Who asked")
    reason = forms.CharField(
        max_length=300,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Recorded in the study's history with your name.",
    )

    def __init__(self, spec: Mapping[str, Any], data: Any = None) -> None:
        self.spec = spec
        initial = {"title": spec["title"], "asker": spec["asker"]}
        initial |= self.initial_steps(spec["steps"], spec["skips"])
        super().__init__(data, initial=initial)
        known = list(TEXTS)
        in_order = sorted(
            spec["texts"], key=lambda key: (key not in known, known.index(key) if key in known else 0, key)
        )
        for key in in_order:
            label, help_text = TEXTS.get(key, (key, ""))
            self.fields[f"text:{key}"] = Prose(
                label=label, help_text=help_text, initial=spec["texts"][key], required=False,
                widget=forms.Textarea(attrs={"rows": 8, "dir": "auto"}),
            )  # fmt: skip
        for question in spec["questions"]:
            self._add_question(question)

    def _add_question(self, question: Mapping[str, Any]) -> None:
        name = question["key"]
        self.fields[f"q:{name}:prompt"] = forms.CharField(
            label=f"{name}: question", max_length=300, initial=question["prompt"]
        )
        self.fields[f"q:{name}:help"] = forms.CharField(
            label=f"{name}: help text", max_length=500, required=False, initial=question["help"]
        )
        for key, called in wording(question).items():
            self.fields[f"q:{name}:option:{key}"] = forms.CharField(
                label=f"{name}: {called}", max_length=500, initial=question["options"][key]
            )

    def sections(self) -> list[tuple[str, list[Any]]]:
        """Heading and fields, for the page."""
        texts = [self[name] for name in self.fields if name.startswith("text:")]
        questions = [self[name] for name in self.fields if name.startswith("q:")]
        steps = [self[name] for name in StepsForm.base_fields]
        return [
            ("Texts", texts),
            ("Questions", questions),
            ("Steps and skips", steps),
            ("Names", [self["title"], self["asker"]]),
            ("Why", [self["reason"]]),
        ]

    def changes(self) -> dict[str, Any]:
        """The parts of the spec that the form makes different."""
        data, spec = self.cleaned_data, self.spec
        given = {
            "title": data["title"],
            "asker": data["asker"],
        }
        changes: dict[str, Any] = {name: value for name, value in given.items() if value != spec[name]}
        # Only what was touched: a spec may say the same in another way than the form would.
        touched = set(self.changed_data)
        if touched & {name for name in StepsForm.base_fields if not name.startswith("skips_")}:
            changes["steps"] = self.steps_of(data)
        if touched & {name for name in StepsForm.base_fields if name.startswith("skips_")}:
            changes["skips"] = self.skips_of(data)
        texts = {key: data[f"text:{key}"] for key in spec["texts"]}
        if changed := {key: body for key, body in texts.items() if body != spec["texts"][key]}:
            changes["texts"] = changed
        questions = [self._question(question) for question in spec["questions"]]
        if questions := [each for each in questions if len(each) > 1]:
            changes["questions"] = questions
        return changes

    def _question(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """The question's key and what of it differs."""
        data, name = self.cleaned_data, question["key"]
        options = {
            key: data.get(f"q:{name}:option:{key}", label) or label
            for key, label in question["options"].items()
        }
        given = {"prompt": data[f"q:{name}:prompt"], "help": data[f"q:{name}:help"], "options": options}
        return {"key": name} | {part: value for part, value in given.items() if value != question[part]}


@study_page("write", methods=FORM)
def revise(request: HttpRequest, study: Study) -> HttpResponse:
    """Preview the changes, then revise once that is confirmed."""
    if study.status not in (Status.LIVE, Status.PAUSED):
        raise PermissionDenied("Only a live or paused study can be revised; edit a draft instead.")
    latest = study.revisions.order_by("-number")[0]
    form = RevisionForm(latest.spec, request.POST or None)
    plan = None
    if request.method == "POST" and form.is_valid():
        try:
            changes = form.changes()
            plan = plan_revision(study, changes)
            if request.POST.get("confirmed") == canonical_hash(changes):
                return _revise(request, study, form, changes)
        except Refused as refused:
            for problem in refused.problems:
                form.add_error(None, problem)
            plan = None
    context = {
        "title": f"Create revision {latest.number + 1}",
        "form": form,
        "plan": plan,
        "differences": [(change.where, _difference(change)) for change in plan.changes] if plan else [],
        "confirm": canonical_hash(form.changes()) if plan else "",
        "cancel": overview_url(study),
    }
    status = 422 if form.errors else 200
    return page(
        request, "admin/evaluation/study/revise.html", context, study=study, tab="design", status=status
    )


def _revise(request: HttpRequest, study: Study, form: RevisionForm, changes: dict[str, Any]) -> HttpResponse:
    reason = form.cleaned_data["reason"]
    revision = revise_study(study=study, changes=changes, by=request.user, reason=reason)
    messages.success(
        request,
        f"Revision {revision.number} is what new participants get from now on. Participants at work finish with "
        "theirs.",
    )
    return HttpResponseRedirect(overview_url(study))


def _difference(change: Change) -> list[tuple[str, str]]:
    """Deleted ("del") and inserted ("ins") lines, with a line of context."""
    old, new = (_shown(value).splitlines() for value in (change.old, change.new))
    kinds = {"-": "del", "+": "ins", " ": "same"}
    return [
        (kinds[line[0]], line[1:])
        for line in list(unified_diff(old, new, n=1, lineterm=""))[2:]
        if line[0] in kinds
    ]


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    return value if isinstance(value, str) else str(value)
