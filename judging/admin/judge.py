"""Judges: made and edited by the service, with the study's own questions to tick, and their prompt for any item."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import orjson
from django import forms
from django.contrib import admin, messages
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.urls import reverse
from django.utils.text import Truncator, capfirst

from evaluation.admin.base import PresentChoices, StudyScopedAdmin, parse_id, study_of_list
from evaluation.admin.pages import EmptyNote, Tab, list_url, page, tabs
from evaluation.admin.rights import FORM, View, has_right, study_for, study_page
from evaluation.models import Item, Role, Study
from evaluation.protocols.base import asked_questions
from evaluation.refusals import FieldsRefused
from judging.admin.anchors import set_schedule
from judging.admin.conditions import prompt_conditions
from judging.admin.judge_options import option_field, option_name, read_option
from judging.admin.judge_runs import start
from judging.admin.jury import new_jury
from judging.admin.preset import judges_of_preset
from judging.admin.provider import judges_of_provider
from judging.admin.run_groups import MOST_JUDGES, start_together, together_url
from judging.admin.spending import set_budget, spending_context
from judging.admin.steps import write_steps_page
from judging.asking import asking_of
from judging.backends import BACKENDS
from judging.backends.base import Unmeasurable
from judging.models import Endpoint, Judge
from judging.prompting.settings import CannotAsk
from judging.prompting.template import PLACEHOLDERS
from judging.selectors import runs_of
from judging.services.conditions import has_conditions
from judging.services.derived.composite import latest_map
from judging.services.endpoints.access import offered_endpoints
from judging.services.evaluation_steps import takes_steps
from judging.services.judges import (
    FIELDS,
    create_judge,
    current_spec,
    edit_judge,
    judge_settings,
    preview_request,
    preview_stimulus,
)

tabs["judges"] = Tab("Judges", "admin:judging_judge_list", 36, "People and judges", "judges")


class JudgeForm(forms.ModelForm):
    """A judge's settings, with the questions of its study as boxes to tick."""

    questions = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Questions to ask. If none is ticked, all but text questions.",
    )
    own_system = forms.ChoiceField(
        required=False, help_text="The study's system that is this judge's own model."
    )

    reference_from = forms.ChoiceField(
        required=False,
        label="Source of the reference",
        help_text="The responses of a system may stand in for human-written references; "
        "items that compare that system itself are not judged.",
    )

    def __init__(self, study: Study, user: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        spec = current_spec(study)
        self.fields["questions"].choices = [  # type: ignore[attr-defined]
            (each["key"], f"{each['prompt']} ({each['kind']})") for each in asked_questions(spec)
        ]
        self.fields["own_system"].choices = [  # type: ignore[attr-defined]
            ("", "none"), *((each.key, str(each)) for each in study.systems.all())
        ]  # fmt: skip
        self.fields["reference_from"].choices = [  # type: ignore[attr-defined]
            ("", "people: the human-written references"), *((each.key, str(each)) for each in study.systems.all())
        ]  # fmt: skip
        offered = [endpoint.pk for endpoint in offered_endpoints(study, user)]
        self.fields["endpoint"].queryset = Endpoint.objects.filter(pk__in=offered)  # type: ignore[attr-defined]
        for backend in BACKENDS.values():
            given = self.instance.options if self.instance.backend == backend.key else {}
            for option in backend.options:
                self.fields[option_name(backend.key, option.key)] = option_field(option, given)

    def sections(self) -> list[tuple[str, list[Any]]]:
        return [(heading, [self[name] for name in names]) for heading, names in BASIC]

    def advanced_sections(self) -> list[tuple[str, list[Any]]]:
        return [(heading, [self[name] for name in names]) for heading, names in ADVANCED]

    def opens_advanced(self) -> bool:
        """True where a folded field is wrong, or is not as every judge begins."""
        names = [name for _, names in ADVANCED for name in names]
        return any(self[name].errors or self._differs(name) for name in names)

    def _differs(self, name: str) -> bool:
        bound = self[name]
        field: Any = Judge._meta.get_field(name)
        usual = field.get_default()
        return bool(self.fields[name].has_changed(usual, bound.data if self.is_bound else bound.value()))

    def option_sections(self) -> list[dict[str, Any]]:
        """Of each backend that has options: its key and label, whether it is the chosen one, and its fields."""
        chosen = self["backend"].value()
        return [
            {
                "key": each.key,
                "label": each.label,
                "chosen": each.key == chosen,
                "fields": [self[option_name(each.key, option.key)] for option in each.options],
            }
            for each in BACKENDS.values()
            if each.options
        ]

    def given(self) -> dict[str, Any]:
        """The settings, as the service takes them."""
        data = {name: self.cleaned_data[name] for name in FIELDS if name != "options"}
        backend = BACKENDS[data["backend"]]
        options = {
            option.key: read_option(option, self.cleaned_data[option_name(backend.key, option.key)])
            for option in backend.options
        }
        return {**data, "extra": data["extra"] or {}, "options": options}

    def show(self, refused: FieldsRefused) -> None:
        """Put each sentence to its field."""
        for field, sentences in refused.by_field.items():
            name = option_name(self.cleaned_data["backend"], field.removeprefix("options."))
            field = name if field.startswith("options.") else field
            for sentence in sentences:
                self.add_error(field if field in self.fields else None, sentence)

    def _post_clean(self) -> None:
        """The service validates; the form only reads."""

    class Meta:
        model = Judge
        fields = tuple(name for name in FIELDS if name != "options")
        widgets = {
            "template": forms.Textarea(attrs={"rows": 8, "class": "code"}),
            "extra": forms.Textarea(attrs={"rows": 2}),
        }
        labels = {
            "backend": "How it judges",
            "with_reference": "Show the human-written reference",
            "one_call_per_question": "One call per question",
            "template": "Prompt of your own",
            "extra": "Further parameters",
            "orders": "Presented order",
            "self_preference": "Against self-preference",
            "price_prompt": "Price per million prompt tokens",
            "price_completion": "Price per million completion tokens",
        }
        help_texts = {
            "name": "Letters, digits and hyphens. Editing a judge that has run creates a new version.",
            "backend": "Heuristics and judges that are derived from others need no endpoint and cost nothing.",
            "endpoint": "Only for judges that ask a model. Endpoints open to this study, and your own.",
            "verdict": "For preferences: label probabilities make it continuous where the endpoint returns them.",
            "rationale": "Stored with the judgment.",
            "one_call_per_question": "Send each question as a separate request.",
            "orders": "Both ways asks twice; a judge that flips is recorded as a tie and counted as inconsistent.",
            "samples": "How many times each order is asked.",
            "own_family": "Family of its own model, such as the vendor's.",
            "extra": 'JSON, with the names that the endpoint uses, such as {"top_p": 0.9}.',
            "template": "Leave empty for the prompt derived from the protocol's guideline and questions. Placeholders: "
            + ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
            + ".",
        }


# Settings that say which judge it is, and so are no difference from the usual.
IDENTITY = ("name", "backend", "endpoint", "model", "options", "template", "questions")
RUNS_SHOWN = 5
LONGEST_VALUE = 200


def unusual_settings(judge: Judge) -> list[tuple[str, str]]:
    """Label and value of each setting that is not as a judge begins, its prompt and its options with them."""
    found = [
        (_label(name), _value(judge, name))
        for name in FIELDS
        if name not in IDENTITY and _changed(judge, name)
    ]
    if judge.questions:
        found.append(("Questions", ", ".join(judge.questions)))
    if judge.template:
        found.append((_label("template"), f"{len(judge.template):,} characters"))
    for option in BACKENDS[judge.backend].options:
        value = judge.options.get(option.key, option.default)
        if value != option.default:
            found.append((option.label, _text(value)))
    if judge.jury:
        found.append(("Jury", str(judge.jury)))
    return found


def _changed(judge: Judge, name: str) -> bool:
    field: Any = Judge._meta.get_field(name)
    return bool(getattr(judge, name) != field.get_default())


def _label(name: str) -> str:
    field: Any = Judge._meta.get_field(name)
    return JudgeForm.Meta.labels.get(name) or str(capfirst(field.verbose_name))


def _value(judge: Judge, name: str) -> str:
    shown = getattr(judge, f"get_{name}_display", None)
    value = getattr(judge, name)
    if name == "temperature" and value is None:
        return "not sent"
    return str(shown()) if shown else _text(value)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{key}: {each}" for key, each in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    return Truncator(str(value)).chars(LONGEST_VALUE)


BASIC = (
    ("Who judges", ("name", "backend", "endpoint", "model")),
    ("What it is asked", ("questions", "orders")),
)
ADVANCED = (
    ("Reply", ("rationale", "verdict", "one_call_per_question")),
    ("Reference", ("with_reference", "reference_from")),
    ("Samples and self-preference", ("samples", "self_preference", "own_system", "own_family")),
    ("Parameters", ("temperature", "max_tokens", "extra", "price_prompt", "price_completion")),
    ("Prompt", ("template",)),
)


def _judge(request: HttpRequest, pk: int, need: str = "view") -> Judge:
    judge = Judge.objects.select_related("study", "endpoint__trusted_by").filter(pk=pk).first()
    if judge is None:
        raise Http404
    study_for(request, judge.study_id, need)
    return judge


@study_page("write", methods=FORM)
def new_judge(request: HttpRequest, study: Study) -> HttpResponse:
    form = JudgeForm(study, request.user, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            judge = create_judge(study, user=request.user, **form.given())
        except FieldsRefused as refused:
            form.show(refused)
        else:
            return _saved(request, study, judge, f"Created judge {judge}.")
    return _form_page(request, study, form, "New judge")


def edit(request: HttpRequest, pk: int) -> HttpResponse:
    if request.method not in FORM:
        return HttpResponseNotAllowed(FORM)
    judge = _judge(request, pk, "write")
    study, has_run = judge.study, judge.judge_runs.exists()
    form = JudgeForm(study, request.user, request.POST or None, instance=judge)
    if request.method == "POST" and form.is_valid():
        try:
            saved = edit_judge(Judge.objects.get(pk=pk), user=request.user, **form.given())
        except FieldsRefused as refused:
            form.show(refused)
        else:
            return _saved(request, study, saved, f"Edited judge {judge.name}: now {saved}.")
    return _form_page(request, study, form, f"Edit {judge.name} v{judge.version}", has_run=has_run)


def _saved(request: HttpRequest, study: Study, judge: Judge, said: str) -> HttpResponse:
    messages.success(request, said)
    return HttpResponseRedirect(reverse("admin:judging_judge_change", args=[judge.pk]))


def _form_page(
    request: HttpRequest, study: Study, form: JudgeForm, title: str, *, has_run: bool = False
) -> HttpResponse:
    context = {"title": title, "form": form, "has_run": has_run, "cancel": tabs["judges"].url(study)}
    status = 422 if form.is_bound else 200
    return page(request, "admin/judging/judge_form.html", context, study=study, tab="judges", status=status)


def prompt(request: HttpRequest, pk: int) -> HttpResponse:
    """The exact messages that this judge is sent for an item."""
    if request.method not in ("GET", "HEAD"):
        return HttpResponseNotAllowed(["GET", "HEAD"])
    judge = _judge(request, pk)
    study = judge.study
    item, problem = _item(request, study), ""
    context: dict[str, Any] = {"title": f"Prompt of {judge}", "judge": judge, "item": item}
    if not judge.asks_model:
        problem = "This judge asks no model: it computes or draws its answers, and gets no prompt."
    elif item is None:
        problem = "The study has no such item."
    else:
        try:
            context.update(_prompt(request, judge, item))
        except (CannotAsk, Unmeasurable) as cannot:
            problem = str(cannot)
    context["problem"] = problem
    return page(request, "admin/judging/prompt.html", context, study=study, tab="judges")


def _item(request: HttpRequest, study: Study) -> Item | None:
    """The item that is named by its key, or by its id in a link; by default the study's first."""
    items = Item.objects.filter(study=study, role=Role.MAIN).select_related("query", "context", "arm")
    if key := request.GET.get("key", "").strip():
        return items.filter(key=key).first()
    pk = parse_id(request.GET.get("item", ""))
    return items.filter(pk=pk).first() if pk is not None else items.first()


def _prompt(request: HttpRequest, judge: Judge, item: Item) -> dict[str, Any]:
    study = judge.study
    n = item.item_responses.count()
    canonical = [f"r{number}" for number in range(1, n + 1)]
    orders = [",".join(parts) for parts in ((canonical, canonical[::-1]) if n > 1 else (canonical,))]
    order = request.GET.get("order", "")
    if sorted(order.split(",")) != sorted(canonical):
        order = orders[0]
    elif order not in orders:
        # That of a judgment of more than two responses.
        orders.append(order)
    first = preview_request(judge, item, order=order, step=_step(request, judge, item))
    shown = {"model": first.model, **dict(first.parameters)}
    if first.schema is not None:
        shown["schema"] = dict(first.schema)
    if first.labels:
        shown["labels"] = list(first.labels)
    return {
        "orders": orders,
        "order": order,
        "steps": _steps(judge, item),
        "step": _step(request, judge, item),
        "prompt": [(message["role"], message["content"]) for message in first.messages],
        "parameters": orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode(),
        "keys": list(study.items.filter(role=Role.MAIN).values_list("key", flat=True)[:50]),
    }


def _steps(judge: Judge, item: Item) -> list[str]:
    spec, stimulus = current_spec(judge.study), preview_stimulus(judge, item)
    asked = asking_of(judge.backend).steps(judge.study.protocol_object, spec, stimulus, judge_settings(judge))
    return [step for step in asked if step]


def _step(request: HttpRequest, judge: Judge, item: Item) -> str:
    steps = _steps(judge, item)
    wanted = request.GET.get("step", "")
    return wanted if wanted in steps else (steps[0] if steps else "")


def download_map(request: HttpRequest, pk: int) -> HttpResponse:
    """The map of a composite judge, by which another study's composite can judge."""
    if request.method not in ("GET", "HEAD"):
        return HttpResponseNotAllowed(["GET", "HEAD"])
    judge = _judge(request, pk)
    found = latest_map(judge)
    if found is None:
        raise Http404
    content = orjson.dumps(found, option=orjson.OPT_INDENT_2)
    name = f"{judge.study.slug}-{judge.name}-map.json"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(content, content_type="application/json", headers=headers)


@admin.register(Judge)
class JudgeAdmin(StudyScopedAdmin):
    address = "judges"
    tab = "judges"
    fields = (
        "name",
        "version",
        "backend",
        "endpoint",
        "model",
        "questions_text",
        "with_reference",
        "reference_from",
        "rationale",
        "verdict",
        "one_call_per_question",
        "orders",
        "samples",
        "self_preference",
        "own_system",
        "own_family",
        "jury",
        "temperature",
        "max_tokens",
        "extra",
        "options_text",
        "price_prompt",
        "price_completion",
        "template",
        "created_by",
        "created_at",
    )
    list_display = ("__str__", "backend", "model", "orders", "samples", "n_runs", "anchored")
    list_filter = (("backend", PresentChoices),)
    list_select_related = ("study", "endpoint", "anchors")
    search_fields = ("name", "model")
    change_list_template = "admin/judging/judge_list.html"
    change_form_template = "admin/judging/judge_page.html"
    actions = ("run_selected",)

    def when_empty(self, request: HttpRequest, study: Study) -> EmptyNote:
        text = "No judges yet. A judge is a model, or a rule, that judges the same items as people."
        if not has_right(request, "write", study.pk):
            return EmptyNote(text)
        return EmptyNote(text, "New judge", reverse("admin:judging_judge_new", args=[study.slug]))

    def get_queryset(self, request: HttpRequest) -> Any:
        return (
            super()
            .get_queryset(request)
            .annotate(runs_n=Count("judge_runs"))
            .order_by("study", "name", "-version")
        )

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        study = study_of_list(request)
        spending = spending_context(study) if study else {}
        return super().changelist_view(request, {**spending, **(extra_context or {})})

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        judge = kwargs.get("obj")
        if judge is not None:
            context |= {
                "judge": judge,
                "may_run": has_right(request, "write", judge.study_id),
                "kind": BACKENDS[judge.backend].label,
                "unusual": unusual_settings(judge),
                "runs": runs_of(judge.study).filter(judging__judge=judge)[:RUNS_SHOWN],
            }
        return super().render_change_form(request, context, *args, **kwargs)

    @admin.action(description="Run the selected judges together…")
    def run_selected(self, request: HttpRequest, queryset: Any) -> HttpResponse:
        judges = list(queryset[:MOST_JUDGES])
        if len(judges) == 1:
            return HttpResponseRedirect(reverse("admin:judging_judge_start", args=[judges[0].pk]))
        return HttpResponseRedirect(together_url(judges))

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """For who may write in the study."""
        study = study_of_list(request)
        return super().get_actions(request) if study and has_right(request, "write", study.pk) else {}

    @admin.display(description="runs")
    def n_runs(self, judge: Any) -> str:
        return f"{judge.runs_n:,}"

    @admin.display(description="anchor runs", empty_value="-")
    def anchored(self, judge: Judge) -> str | None:
        schedule = getattr(judge, "anchors", None)
        if schedule is None:
            return None
        return f"{schedule}. {schedule.problem}" if schedule.problem else str(schedule)

    @admin.display(description="questions")
    def questions_text(self, judge: Judge) -> str:
        return ", ".join(judge.questions) or "all but text questions"

    @admin.display(description="options")
    def options_text(self, judge: Judge) -> str:
        return "; ".join(f"{name}: {value}" for name, value in judge.options.items()) or "none"

    def action_links(self, request: HttpRequest, obj: Any, study: Study) -> list[tuple[str, str]]:
        steps = [("Write evaluation steps", reverse("admin:judging_judge_steps", args=[obj.pk]))]
        seen = [("Show prompt", reverse("admin:judging_judge_prompt", args=[obj.pk]))]
        runs = [("Runs", f"{list_url('judging_run', study)}?judge={obj.pk}")]
        if latest_map(obj) is not None:
            seen.append(("Download map", reverse("admin:judging_judge_map", args=[obj.pk])))
        if not has_right(request, "write", study.pk):
            return seen + runs
        anchors = [("Anchor runs", reverse("admin:judging_judge_anchors", args=[obj.pk]))]
        compared = [("Compare prompt conditions", reverse("admin:judging_judge_conditions", args=[obj.pk]))]
        return [
            ("Start a run", reverse("admin:judging_judge_start", args=[obj.pk])),
            ("Edit", reverse("admin:judging_judge_edit", args=[obj.pk])),
            *(steps if takes_steps(obj) else []),
            *(anchors if obj.asks_model else []),
            *(compared if has_conditions(obj) else []),
            *seen,
            *runs,
        ]

    def pages_of_study(self) -> Sequence[tuple[str, str, View]]:
        return (
            ("new/", "new", new_judge),
            ("preset/", "preset", judges_of_preset),
            ("provider/", "provider", judges_of_provider),
            ("jury/", "jury", new_jury),
            ("budget/", "budget", set_budget),
        )

    def extra_pages(self) -> Sequence[tuple[str, str, View]]:
        return (
            ("together/", "together", start_together),
            ("<int:pk>/edit/", "edit", edit),
            ("<int:pk>/prompt/", "prompt", prompt),
            ("<int:pk>/map/", "map", download_map),
            ("<int:pk>/steps/", "steps", write_steps_page),
            ("<int:pk>/start/", "start", start),
            ("<int:pk>/anchors/", "anchors", set_schedule),
            ("<int:pk>/conditions/", "conditions", prompt_conditions),
        )
