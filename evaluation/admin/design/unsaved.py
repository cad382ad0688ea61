"""A draft as its form has it at this moment: checked as if it were saved, and stored nowhere."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from evaluation.models import Arm, Study
from evaluation.protocols.base import Spec
from evaluation.services.studies.compilation import compile_rows


@dataclass(frozen=True)
class UnsavedDraft:
    """The study, its arms and its spec as they were sent; or the problems, by the name of the field."""

    study: Study
    arms: list[Arm] = field(default_factory=list)
    spec: Spec | None = None
    # Pairs of a field's name, '' for what belongs to none, and a sentence.
    problems: list[tuple[str, str]] = field(default_factory=list)


def stored_draft(study: Study) -> UnsavedDraft:
    """The draft as it is stored."""
    return _compiled(study, _stored_rows(study))


def read_draft(request: HttpRequest, study: Study) -> UnsavedDraft:
    """The draft with the page of its form that was sent, which is read into `study` and into rows that nobody saves."""
    study_admin: Any = admin.site.get_model_admin(Study)
    form = study_admin.get_form(request, study, change=True)(request.POST, instance=study)
    formsets = {}
    for formset_class, inline in study_admin.get_formsets_with_inlines(request, study):
        prefix = formset_class.get_default_prefix()
        formset = formset_class(**study_admin.get_formset_kwargs(request, study, inline, prefix))
        formsets[prefix] = formset
    # Every one of them, so that all problems are told at once.
    sound = [form.is_valid(), *(each.is_valid() for each in formsets.values())]
    if not all(sound):
        return UnsavedDraft(study, problems=list(_problems(form, formsets)))
    form.save(commit=False)
    sent = {name: _rows(formset) for name, formset in formsets.items()}
    return _compiled(study, _stored_rows(study) | sent)


ROWS = ("arms", "questions", "attributes", "texts")


def _stored_rows(study: Study) -> dict[str, list[Any]]:
    return {name: list(getattr(study, name).all()) for name in ROWS}


def _compiled(study: Study, rows: dict[str, list[Any]]) -> UnsavedDraft:
    spec = compile_rows(
        study,
        arms=rows["arms"],
        questions=rows["questions"],
        attributes=rows.get("attributes", ()) if study.protocol_object.has_attributes else (),
        texts={each.key: each.body for each in sorted(rows["texts"], key=lambda text: text.key)},
    )
    problems = [("", f"{problem}.") for problem in study.protocol_object.spec_problems(spec)]
    if not rows["arms"]:
        problems.append(("", "The study has no arm."))
    return UnsavedDraft(study, rows["arms"], spec, problems)


def _rows(formset: Any) -> list[Any]:
    """The rows that would be stored, in the order that they would then have."""
    gone = set(map(id, formset.deleted_forms))
    rows = [
        form.instance
        for form in formset.forms
        if id(form) not in gone and (form.instance.pk or form.has_changed())
    ]
    return sorted(rows, key=lambda row: (getattr(row, "position", 0), row.pk is None, row.pk or 0))


def _problems(form: Any, formsets: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for each in (form, *(each for formset in formsets.values() for each in formset.forms)):
        for name, sentences in each.errors.items():
            where = each[name].html_name if name in each.fields else ""
            yield from ((where, str(sentence)) for sentence in sentences)
    for formset in formsets.values():
        yield from (("", str(sentence)) for sentence in formset.non_form_errors())
