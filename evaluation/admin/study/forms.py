"""Forms to create a study and edit its rules, arms, questions and texts."""

from typing import Any

from django import forms
from django.core.files.uploadedfile import SimpleUploadedFile
from django.forms import model_to_dict

from evaluation.admin.design.shares import SharesField
from evaluation.admin.prose import Prose
from evaluation.admin.study.needs import GroupsField, NeedsForm
from evaluation.admin.study.question_options import KIND_LABELS, NewOptionsField, OptionsField
from evaluation.admin.study.rules import StepsForm
from evaluation.admin.study.stopping import StoppingForm
from evaluation.dumps.imports.scores import COLUMNS
from evaluation.models import ArmPer, Attribute, Language, OncePer, Question, Study, Text
from evaluation.protocols import PROTOCOLS, Kind, Shown
from evaluation.protocols.attributes import find_attribute_problems
from evaluation.protocols.kinds import KINDS
from evaluation.services.studies.creation import ARMS
from evaluation.services.studies.retention import retention_text
from evaluation.stopping import NO_STOPPING_WITH_SAMPLE

# What each text is for, in the order in which participants meet them.
TEXTS = {
    "consent": (
        "Consent",
        "The first page: what participants agree to. The version is stored with their consent.",
    ),
    "instructions": ("Instructions", "The page after consent: what to do, step by step."),
    "guideline": (
        "Guideline",
        "How to judge. People see it beside every item, and judges are prompted with the same text.",
    ),
    "guideline_context": ("Guideline, with context", "Added to the guideline in arms that show a context."),
    "thanks": ("Thanks", "The last page."),
}

SHOWN = {
    Shown.ALWAYS: "in every arm",
    Shown.WITH_CONTEXT: "in arms that show a context",
    Shown.WITHOUT_CONTEXT: "in arms that show none",
}


LANGUAGE_LABEL = "Language of participants' pages"
LANGUAGE_HELP = "Buttons, hints and messages. Questions, texts and items are shown as they were written."


class NewStudyForm(forms.ModelForm):
    """A study begun from a protocol: its questions and texts are the protocol's, to be edited next."""

    protocol = forms.ChoiceField(
        choices=lambda: [(each.key, each.label) for each in PROTOCOLS.values()],
        help_text="The kind of task. It determines the questions, the guideline and the report's analyses.",
    )
    language = forms.ChoiceField(
        choices=Language.choices, required=False, label=LANGUAGE_LABEL, help_text=LANGUAGE_HELP
    )
    arms = forms.ChoiceField(
        choices=[(key, label) for key, (label, _) in ARMS.items()],
        initial="plain",
        help_text="An arm says whether responses were generated with the context, and whether raters see it. "
        "You can change arms on the next page.",
    )

    class Meta:
        model = Study
        fields = ("title", "slug", "protocol", "language")
        help_texts = {
            "title": "Shown to participants at the top of every page.",
            "slug": (
                "Part of every address of the study: letters, digits and hyphens. It can't be changed later."
            ),
        }


class LiveStudyForm(forms.ModelForm):
    """The settings that may change while a study is live or paused."""

    groups = GroupsField(
        required=False,
        label="Groups of people",
        help_text="Such as “experts, crowd”, which the report holds against each other. People belong to the group "
        "that their address names (…?group=experts), or their personal link.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["initial"] = {**self.initial_rules(kwargs["instance"]), **(kwargs.get("initial") or {})}
        super().__init__(*args, **kwargs)
        # Fields that are declared above belong to another page of the form.
        for name in set(self.fields) - set(self._meta.fields or ()):
            del self.fields[name]

    @staticmethod
    def initial_rules(study: Study) -> dict[str, Any]:
        return {}

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        paid, lease = data.get("paid_minutes"), data.get("lease_minutes")
        if paid and lease and lease < paid:
            self.add_error("lease_minutes", "Items must be reserved for at least the paid minutes.")
        if data.get("exact_times") and self.instance.ids_deleted_at is not None:
            self.add_error("exact_times", retention_text(self.instance))
        return data

    class Meta:
        model = Study
        fields = "__all__"  # noqa: DJ007 - the admin names the fields of each state of a study
        labels = {
            "asker": "Who asked",
            "once_per": "Once per",
            "arm_per": "Arm per",
            "render_as": "Show responses as",
            "single_dollars": "Mathematics between single dollars",
            "written_formulas": "Other mathematics as written",
            "show_images": "Show images in responses",
            "language": LANGUAGE_LABEL,
            "texts_language": "Language of the texts",
            "lease_minutes": "Item reservation (minutes)",
            "redundancy": "Judgments per item",
            "exact_times": "Export exact times",
            "retention_days": "Days until ids are deleted",
            "epsilon": "Epsilon of judges",
            "human_sample": "Queries that people judge",
            "going_back": "Revisable answers",
            "people_budget": "Budget for people",
            "visits": "Paid visits per participant",
            "practice_each_visit": "Practice in each visit",
            "erases_withdrawn": "Erase on request",
            "show_references": "Show references",
            "revisions_in_all": "Model revisions in total",
            "revisions_per_day": "Model revisions per day",
            "revisions_anonymous": "Model revisions per anonymous participant",
        }
        help_texts = {
            "title": "Shown to participants at the top of every page.",
            "asker": "The name of whoever asked the query, as in “Person X asked”.",
            "seed": (
                "Determines presentation orders and the order of assignment. The same seed gives the "
                "same design."
            ),
            "epsilon": "By how much a judge may fit people worse than one of them does, as it costs less: 0.1 where "
            "they are a crowd, 0.15 where they are skilled, 0.2 where they are experts (alternative-annotator test).",
            "once_per": "Participants see each query at most once, or each item at most once.",
            "arm_per": "Draw one arm per participant, or one per item; always at random, weighted by the "
            "arms' open slots.",
            "render_as": "Markdown is sanitised: nothing in a response can run or load anything.",
            "single_dollars": "Mathematics in $…$ is typeset only with this, since a dollar may also be money.",
            "written_formulas": "Mathematics in \\(…\\), \\[…\\] and $$…$$ is typeset, and with this shown as it was "
            "written.",
            "show_images": "Images that stand in a response as data (data:image/png, jpeg, gif or webp). Others are "
            "never loaded.",
            "language": LANGUAGE_HELP,
            "texts_language": "Of what is judged, as in “de”, “pt-BR” or “zh-Hant”: screen readers read in it, and "
            "browsers choose its letters. Empty if unknown, or if texts are in several.",
            "show_references": "Participants may open the human-written references of a query.",
            "redundancy": "How many different people judge each item.",
            "human_sample": "The number of queries in a random part that people judge, while judges judge all queries. "
            "The seed decides which; launch fixes them. Empty: people judge all queries.",
            "items_per_participant": "How many items one participant is asked to judge.",
            "visits": "How often one person can take the study. Items, minutes and pay are of each visit, and each has "
            "other items and its own code.",
            "practice_each_visit": "Further visits begin with instructions, training and qualification again, instead "
            "of going straight to items.",
            "paid_minutes": "The expected duration of a visit, on which pay is based.",
            "lease_minutes": "How long an item stays reserved for its participant before somebody else can "
            "get it. Some take four times the median.",
            "going_back": "The submitted answers that participants can revise until their visit ends.",
            "pay": "Per participant who completes.",
            "people_budget": "In the same currency, without the panel's fees. Once people have cost more, the overview "
            "says so and members are told; nobody is stopped. Empty: no budget.",
            "erases_withdrawn": "Whoever withdraws can have everything deleted that is stored about them. "
            "Otherwise their judgments are kept, and not counted if they wish. The page on which they withdraw says "
            "which it is.",
            "contact": "An e-mail address, shown on every participant's page.",
            "exact_times": "Exports carry exact times instead of the day.",
            "retention_days": "So many days after the study is closed, platform ids and exact times are deleted. "
            "Empty: they are kept.",
            "revisions_in_all": "The number of revised drafts that all participants together can request "
            "from a model, where entries are calibrated.",
            "revisions_per_day": "The same limit within any 24 hours.",
            "revisions_anonymous": (
                "The limit for a participant without a panel's id, who could come back as somebody else."
            ),
        }


class StudyForm(StepsForm, NeedsForm, StoppingForm, LiveStudyForm):
    """A draft's rules, each in a field of its own: those of one page. The others stay as they are stored."""

    shares = SharesField()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.stored = {**model_to_dict(self.instance), **self.initial_rules(self.instance)}
        if "baseline" in self.fields:
            systems = [(each.key, str(each)) for each in self.instance.systems.all()]
            self.fields["baseline"] = forms.ChoiceField(
                choices=[("", "none"), *systems],
                required=False,
                help_text="Expected win rates and length bias are against this system's responses.",
            )

    def clean(self) -> dict[str, Any]:
        sent = super().clean()
        data = {**{name: value for name, value in self.stored.items() if name not in self.fields}, **sent}
        if data.get("arm_per") == ArmPer.ITEM and data.get("once_per") == OncePer.ITEM:
            self.add_error(
                "arm_per" if "arm_per" in self.fields else "once_per",
                "An arm per item needs “once per query”: otherwise a query could be shown again in another "
                "arm.",
            )
        if "stopping_figure" in self.fields:
            for name, problem in StoppingForm.problems_of(data).items():
                self.add_error(name, problem)
        if data.get("stopping_figure") and data.get("human_sample") is not None:
            name = next((each for each in ("human_sample", "stopping_figure") if each in self.fields), "")
            if name:
                self.add_error(name, f"{NO_STOPPING_WITH_SAMPLE[:1].upper()}{NO_STOPPING_WITH_SAMPLE[1:]}.")
        return sent

    @staticmethod
    def initial_rules(study: Study) -> dict[str, Any]:
        return {
            **LiveStudyForm.initial_rules(study),
            **StoppingForm.initial_stopping(study.stopping),
            **StepsForm.initial_steps(study.steps, study.skips),
            **NeedsForm.initial_needs(study.needs),
        }

    def save(self, commit: bool = True) -> Any:
        rules = {**self.stored, **self.cleaned_data}
        self.instance.steps = self.steps_of(rules)
        self.instance.skips = self.skips_of(rules)
        if "needs_query" in self.fields:
            self.instance.needs = self.needs_of(rules)
        if "stopping_figure" in self.fields:
            self.instance.stopping = self.stopping_of(rules)
        return super().save(commit)

    class Meta(LiveStudyForm.Meta):
        pass


class QuestionForm(forms.ModelForm):
    """A question with its labels, scale or choices in fields of their own instead of JSON."""

    shown = forms.ChoiceField(choices=[(key.value, label) for key, label in SHOWN.items()], label="Asked")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        question = self.instance
        if question.pk is None:
            kinds = [(key, KIND_LABELS.get(key, key)) for key in KINDS]
            self.fields["kind"] = forms.ChoiceField(choices=kinds, initial=Kind.SCALE)
            self.initial["kind"] = Kind.SCALE
            self.fields["options"] = NewOptionsField()
        else:
            self.fields["kind"].disabled = True
            self.fields["options"] = OptionsField(question.kind, question.options)

    def clean_options(self) -> dict[str, Any]:
        options: dict[str, Any] = self.cleaned_data["options"]
        field = self.fields["options"]
        kind = self.cleaned_data.get("kind", "")
        if isinstance(field, NewOptionsField):
            return field.options_of(kind, options) if kind else {}
        return options

    class Meta:
        model = Question
        fields = ("key", "kind", "prompt", "help", "required", "shown", "options", "position")
        widgets = {
            "prompt": forms.TextInput(attrs={"class": "vLargeTextField"}),
            "help": forms.TextInput(attrs={"class": "vLargeTextField"}),
        }
        help_texts = {
            "key": "Names the answer's column in exports.",
            "help": "Shown under the question.",
            "position": "Lower numbers come first.",
        }


class PlainQuestionForm(QuestionForm):
    """A question of a study without contexts, which is asked in every arm."""

    shown = None  # type: ignore[assignment]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        options = self.fields["options"]
        for each in options.of_kinds.values() if isinstance(options, NewOptionsField) else [options]:
            each.leave_out_contexts()  # type: ignore[attr-defined]


class ValuesField(forms.CharField):
    """A list of texts, a line each."""

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        return [line.strip() for line in (super().to_python(value) or "").splitlines() if line.strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(self.to_python(data) != (initial or []))


class AttributeForm(forms.ModelForm):
    """An attribute with its values, a line each."""

    values = ValuesField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 5, "dir": "auto"}),
        help_text="One value per line, in the order in which they are rated.",
    )

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        if {"key", "question", "values"} <= data.keys():
            for problem in find_attribute_problems([data]):
                self.add_error("values", str(problem).partition(": ")[2])
        return data

    class Meta:
        model = Attribute
        fields = ("key", "question", "values", "position")
        widgets = {"question": forms.TextInput(attrs={"class": "vLargeTextField"})}
        help_texts = {
            "key": "Items refer to the attribute by this key.",
            "question": "Shown to raters above the values, and the attribute's name in the report.",
            "position": "Lower numbers come first.",
        }


class TextForm(forms.ModelForm):
    """The body of one text; its key can't be changed."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        label, help_text = TEXTS.get(self.instance.key, (self.instance.key, ""))
        # Of this form alone: the field's own label stands in the history for every text.
        self["body"].label, self["body"].help_text = label, help_text

    class Meta:
        model = Text
        fields = ("body",)
        field_classes = {"body": Prose}
        widgets = {"body": forms.Textarea(attrs={"rows": 5, "dir": "auto"})}


class UploadForm(forms.Form):
    """A file that is checked before anything is changed."""

    file = forms.FileField()

    def __init__(self, *args: Any, limit_mb: int, **kwargs: Any) -> None:
        self.limit_mb = limit_mb
        super().__init__(*args, **kwargs)

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > self.limit_mb * 1_000_000:
            raise forms.ValidationError(f"The file is larger than {self.limit_mb} MB.")
        return file


class ItemsForm(UploadForm):
    """A file of items of any kind, or a table that is pasted."""

    file = forms.FileField(
        required=False,
        help_text="CSV, TSV, XLSX, JSON, JSONL, Parquet, a data set's folder as ZIP, or a table and its images as ZIP. "
        "On the next page you see which column is what, and the first items. Assay's own JSONL is imported as it is.",
    )
    pasted = forms.CharField(
        label="Or paste a table",
        required=False,
        strip=False,
        max_length=1_000_000,
        widget=forms.Textarea(attrs={"rows": 4, "dir": "auto", "spellcheck": "false"}),
        help_text="Cells copied from a spreadsheet, with their header.",
    )

    def clean_file(self) -> Any:
        return super().clean_file() if self.cleaned_data["file"] else None

    def clean(self) -> dict[str, Any]:
        """Take a pasted table as a file, too."""
        data: dict[str, Any] = super().clean() or self.cleaned_data
        pasted = data.get("pasted", "")
        if data.get("file") and pasted.strip():
            self.add_error("pasted", "There is a file, too. Leave one of the two empty.")
        elif pasted.strip():
            data["file"] = SimpleUploadedFile("pasted.txt", pasted.encode())
        elif "file" in data and not data["file"]:
            self.add_error("file", "Choose a file, or paste a table.")
        return data


class ScoresForm(UploadForm):
    """A file of scores, taken as a judge's measures."""

    judge = forms.CharField(
        max_length=120, help_text="The name under which figures show who gave the scores."
    )
    name = forms.CharField(
        label="Measure", max_length=50, required=False,
        help_text="Its name. Empty: the file has a column of names, which may be several.",
    )  # fmt: skip
    direction = forms.ChoiceField(
        required=False, label="Better",
        choices=[("higher", "higher scores"), ("lower", "lower scores"), ("", "neither")], initial="higher",
    )  # fmt: skip
    low = forms.FloatField(required=False, label="Least score", help_text="Empty: there is none.")
    high = forms.FloatField(required=False, label="Greatest score", help_text="Empty: there is none.")
    field_order = ("file", "judge", "name", "direction", "low", "high")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["file"].help_text = (
            f"A table (CSV, TSV, XLSX, JSON, JSONL or Parquet) with the columns {', '.join(COLUMNS)}; a row per "
            "score (see docs/formats.md). "
            "Every row is checked first; if there are errors, nothing is imported and all errors are listed."
        )

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        low, high = data.get("low"), data.get("high")
        if low is not None and high is not None and not low < high:
            self.add_error("high", "The greatest score must be above the least.")
        return data


class StudyFromFileForm(ItemsForm):
    """A new study, made from a file."""

    slug = forms.SlugField(
        max_length=80,
        required=False,
        help_text="Part of every address of the study: letters, digits and hyphens. Empty: the file's name.",
    )
    title = forms.CharField(
        max_length=200,
        required=False,
        help_text="Shown to participants at the top of every page. Empty: the file's title or name.",
    )
    protocol = forms.ChoiceField(
        required=False,
        choices=lambda: [
            ("", "as the file suggests"),
            *((each.key, each.label) for each in PROTOCOLS.values()),
        ],
    )
    field_order = ("file", "pasted", "title", "slug", "protocol")

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"]
        if slug and Study.objects.visible().filter(slug=slug).exists():
            raise forms.ValidationError("A study with this slug already exists.")
        return slug
