"""The three pages of a draft's form, with their sections; on each, what is rare is folded into further settings."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.forms import model_to_dict
from django.http import HttpRequest
from django.urls import reverse

from evaluation.admin.study.forms import StudyForm
from evaluation.admin.study.needs import NeedsForm
from evaluation.admin.study.stopping import StoppingForm
from evaluation.models import Context, Study
from evaluation.protocols import Kind
from evaluation.services.studies.creation import first_asker

# A line of the form: a field, or several beside each other.
Line = str | tuple[str, ...]
REVISIONS = ("revisions_in_all", "revisions_per_day", "revisions_anonymous")


@dataclass(frozen=True)
class FormSection:
    """A part of a page: its lines of fields, and the models of its rows."""

    key: str
    heading: str
    lines: tuple[Line, ...] = ()
    rows: tuple[str, ...] = ()


@dataclass(frozen=True)
class DesignPage:
    """A page of a draft's form. `preview`: the page of the study's that its preview begins with."""

    key: str
    label: str
    preview: str
    sections: tuple[FormSection, ...]
    further: FormSection


MATERIAL = DesignPage(
    "material",
    "Material",
    "item",
    (
        FormSection("judged", "What is judged", NeedsForm.NEEDS_FIELDS, ("attribute",)),
        FormSection("compared", "What is compared", ("baseline",), ("arm",)),
    ),
    FormSection("further", "Further settings", ("human_sample", ("once_per", "arm_per")), ("arm",)),
)
QUESTIONS = DesignPage(
    "questions",
    "Questions and participants' pages",
    "item",
    (
        FormSection("questions", "Questions", rows=("question",)),
        FormSection("title", "Title and language", ("title", ("language", "texts_language"))),
        FormSection("texts", "Texts", rows=("text",)),
        FormSection(
            "pages",
            "Participants' pages",
            (("step_consent", "step_instructions"), ("step_training", "step_comments")),
        ),
    ),
    FormSection(
        "further",
        "Further settings",
        (
            "shares",
            "asker",
            ("render_as", "going_back"),
            "show_references",
            ("single_dollars", "written_formulas"),
            "show_images",
        ),
    ),
)
PEOPLE = DesignPage(
    "people",
    "People and pay",
    "entry",
    (
        FormSection("people", "Judgments and participants", (("redundancy", "items_per_participant"),)),
        FormSection(
            "time",
            "Time and pay",
            (("paid_minutes", "lease_minutes"), ("pay", "currency"), "people_budget", "contact"),
        ),
        FormSection("recruitment", "Where people come from"),
        FormSection(
            "checks",
            "Qualification and checks",
            (
                ("qualification_pass_mark", "qualification_attempts"),
                ("attention_checks", "attention_allowed_failures"),
                "attention_warn",
            ),
        ),
    ),
    FormSection(
        "further",
        "Further settings",
        (
            ("skips_per_participant", "skips_flag_after"),
            ("visits", "practice_each_visit"),
            "groups",
            StoppingForm.STOPPING_FIELDS,
            ("seed", "epsilon"),
            "erases_withdrawn",
            ("exact_times", "retention_days"),
            REVISIONS,
        ),
    ),
)
PAGES = {page.key: page for page in (MATERIAL, QUESTIONS, PEOPLE)}
LIVE_FIELDSETS: tuple[tuple[str, dict[str, tuple[Line, ...]]], ...] = (
    (
        "Can be changed at any time",
        {
            "fields": (
                ("items_per_participant",),
                ("paid_minutes", "lease_minutes"),
                ("pay", "currency"),
                "people_budget",
                "going_back",
                ("visits", "practice_each_visit"),
                "groups",
                "contact",
                "erases_withdrawn",
                ("exact_times", "retention_days"),
                REVISIONS,
            )
        },
    ),
)


def is_plain(study: Study) -> bool:
    """True of a draft with one arm at most and no context, so that its pages need not speak of them; read once for each
    study that was loaded."""
    found: bool | None = getattr(study, "design_is_plain", None)
    if found is None:
        arms = list(study.arms.all()[:2])
        found = (
            len(arms) < 2
            and not any(arm.context_at_generation or arm.context_at_judging for arm in arms)
            and not Context.objects.filter(query__study=study).exists()
        )
        study.design_is_plain = found  # type: ignore[attr-defined]
    return found


def page_of(request: HttpRequest) -> DesignPage:
    """The page of the form that the address names, by default the first."""
    return PAGES.get(request.GET.get("page", ""), MATERIAL)


def sections_of(study: Study, page: DesignPage) -> list[FormSection]:
    """The page's sections with what this draft needs of them; the last one is folded."""
    plain = is_plain(study)
    left_out = set(_absent_fields(study))
    if plain:
        left_out.add("arm_per")
    found = []
    for section in (*page.sections, page.further):
        lines = tuple(_without(section.lines, left_out))
        rows = tuple(row for row in section.rows if row != "arm" or (section is page.further) == plain)
        found.append(FormSection(section.key, section.heading, lines, rows))
    return found


def _absent_fields(study: Study) -> Iterator[str]:
    """The fields of what this study can't have."""
    if not study.protocol_object.has_needs:
        yield from NeedsForm.base_fields
    if not study.systems.exists():
        yield "baseline"
    if not study.compares_pairs:
        yield from StoppingForm.base_fields
    if not study.questions.filter(kind=Kind.ENTRIES).exists():
        yield from REVISIONS


def _without(lines: Iterable[Line], left_out: set[str]) -> Iterator[Line]:
    for line in lines:
        names = (line,) if isinstance(line, str) else line
        left = tuple(name for name in names if name not in left_out)
        if left:
            yield left if len(left) > 1 else left[0]


def draft_fieldsets(study: Study, page: DesignPage) -> tuple[tuple[str, dict[str, Any]], ...]:
    """The page's fields as Django takes them, a set for each section that has any."""
    return tuple(
        (section.key, {"fields": section.lines}) for section in sections_of(study, page) if section.lines
    )


def live_fieldsets(study: Study) -> tuple[tuple[str, dict[str, Any]], ...]:
    left_out = set(_absent_fields(study))
    return tuple(
        (name, {"fields": tuple(_without(each["fields"], left_out))}) for name, each in LIVE_FIELDSETS
    )


def rows_of(study: Study, page: DesignPage) -> set[str]:
    """The models whose rows stand on the page."""
    return {row for section in sections_of(study, page) for row in section.rows}


@dataclass(frozen=True)
class FilledSection:
    """A section for the page: Django's set of its fields, or none, and its formsets of rows."""

    key: str
    heading: str
    fieldset: Any
    rows: list[Any]

    @property
    def has_errors(self) -> bool:
        in_fields = self.fieldset is not None and any(
            field.field.errors for line in self.fieldset for field in line
        )
        return in_fields or any(not each.formset.is_valid() for each in self.rows if each.formset.is_bound)


def fill_sections(
    study: Study, page: DesignPage, fieldsets: Iterable[Any], inlines: Iterable[Any]
) -> list[FilledSection]:
    """The page's sections, of which the last is folded; one that has nothing to fill in is left out, but where people
    come from."""
    named: Mapping[str, Any] = {each.name: each for each in fieldsets}
    for each in named.values():
        each.name = None  # the section's heading stands above it
    of_model = {each.opts.model._meta.model_name: each for each in inlines}
    found = [
        FilledSection(
            section.key,
            section.heading,
            named.get(section.key),
            [of_model[row] for row in section.rows if row in of_model],
        )
        for section in sections_of(study, page)
    ]
    *shown, further = found
    return [each for each in shown if each.fieldset or each.rows or each.key in ("judged", "recruitment")] + [
        further
    ]


@dataclass(frozen=True)
class FurtherSettings:
    """The number of the folded settings, and of those that differ from a new study's."""

    n: int
    n_different: int


def count_different(study: Study, section: FilledSection, initial: Mapping[str, Any]) -> FurtherSettings:
    new = Study(protocol=study.protocol, language=study.language, asker=first_asker(study.language))
    usual = {**model_to_dict(new), **StudyForm.initial_rules(new)}
    names = [field.field.name for line in section.fieldset or () for field in line]
    different = [name for name in names if (initial.get(name) or None) != (usual.get(name) or None)]
    return FurtherSettings(len(names), len(different))


# --- addresses --------------------------------------------------------------------------------------------------------


def _places() -> Iterator[tuple[str, tuple[str, str]]]:
    """Each field, and each kind of rows in the plural, with its page and the anchor there."""
    for page in PAGES.values():
        for section in (*page.sections, page.further):
            for line in section.lines:
                for name in (line,) if isinstance(line, str) else line:
                    yield name, (page.key, f"id_{name}")
            for row in section.rows:
                yield f"{row}s", (page.key, "texts" if row == "text" else f"{row}s-group")


PLACES = dict(_places())


def design_url(study: Study, field: str = "") -> str:
    """The address of a draft's form, at its first page or where this field or these rows stand."""
    address = reverse("admin:evaluation_study_change", args=[study.slug])
    if not field:
        return address
    page, anchor = PLACES[field]
    return f"{address}?page={page}#{anchor}"
