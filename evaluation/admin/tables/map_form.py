"""The form of a table's map: what each column is, and how rows are read."""

from collections.abc import Iterator
from typing import Any

from django import forms

from evaluation.dumps.tables.bookkeeping import without_emails
from evaluation.dumps.tables.column_names import ColumnRole
from evaluation.dumps.tables.judgments.raters import RaterNames
from evaluation.dumps.tables.sheet import Sheet, as_text
from evaluation.dumps.tables.table_map import (
    FIRST_COUNTS,
    JUDGES,
    LABELS,
    LAST_COUNTS,
    OF_SYSTEMS,
    PEOPLE,
    PER_ITEM,
    PER_RESPONSE,
    ColumnUse,
    TableMap,
)
from evaluation.dumps.tables.tool import Tool
from evaluation.models import Study
from evaluation.models.saved_table_map import LONGEST_MAP_NAME
from evaluation.protocols import PROTOCOLS

# Cells of a column that show what is in it, and how much of each.
EXAMPLES, LONG = 2, 90


class MapForm(forms.Form):
    """A select for each column; fields are numbered, since columns may be called anything."""

    per = forms.ChoiceField(
        label="Each row is",
        choices=[
            (PER_ITEM, "an item, with all its responses"),
            (PER_RESPONSE, "one response; rows with the same prompt are an item"),
        ],
    )
    header = forms.BooleanField(label="The first row names the columns", required=False)
    keep_empty = forms.BooleanField(label="An empty cell is an empty response", required=False)
    # It stands outside the form, below it.
    save_as = forms.CharField(
        label="Save the map above as",
        required=False,
        max_length=LONGEST_MAP_NAME,
        widget=forms.TextInput(attrs={"form": "map"}),
    )

    def __init__(
        self, data: Any, *, sheet: Sheet, table_map: TableMap, tool: Tool | None, study: Study | None
    ) -> None:
        self.sheet, self.table_map, self.study = sheet, table_map, study
        super().__init__(data, initial=self.first_values())
        for at, use in enumerate(table_map.columns):
            self.fields[f"as-{at}"] = forms.ChoiceField(label=use.column, choices=self._roles())
            self.fields[f"system-{at}"] = forms.CharField(
                label=f"System of {use.column}", required=False, max_length=120
            )
        if tool is not None:
            self.fields["read_as"] = forms.ChoiceField(
                label="Read as", required=False, choices=[(tool.key, tool.label), ("", "a plain table")]
            )
        if len(sheet.sheets) > 1:
            self.fields["sheet"] = forms.ChoiceField(
                label="Sheet", choices=[(each, each) for each in sheet.sheets]
            )
        if table_map.has_judgments:
            self.fields["per"].choices = [  # type: ignore[attr-defined]  # the field of every form, of its own here
                (PER_ITEM, "a judgment of an item, with all its responses"),
                (PER_RESPONSE, "a judgment of one response; rows with the same prompt are an item"),
            ]
            self.fields["raters"] = forms.ChoiceField(
                label="The raters are",
                choices=[(PEOPLE, "people"), (JUDGES, "models that judge")],
                help_text="If no column says it.",
            )
            self.fields["judged_again"] = forms.ChoiceField(
                label="Of a rater who judged an item twice",
                required=False,
                choices=[
                    ("", "the row is an error"),
                    (FIRST_COUNTS, "the first judgment counts"),
                    (LAST_COUNTS, "the last judgment counts"),
                ],
            )
        arms = [] if study is None else [(arm.key, arm.label) for arm in study.arms.all()]
        if len(arms) > 1:
            self.fields["arm"] = forms.ChoiceField(
                label="Arm of the items", required=False, choices=[("", "the first that fits"), *arms]
            )

    def first_values(self) -> dict[str, Any]:
        table_map = self.table_map
        initial: dict[str, Any] = {
            "per": table_map.per, "header": table_map.header, "keep_empty": table_map.keep_empty,
            "sheet": self.sheet.sheet, "arm": table_map.arm, "raters": table_map.raters,
            "judged_again": table_map.judged_again,
            "read_as": table_map.read_as,
        }  # fmt: skip
        for at, use in enumerate(table_map.columns):
            initial |= {f"as-{at}": str(use.role), f"system-{at}": use.system}
        return initial

    def _roles(self) -> list[tuple[str, str]]:
        """Roles, that of no use first; attributes only where studies have some."""
        return [
            (str(role), LABELS[role])
            for role in (ColumnRole.IGNORED, *(each for each in LABELS if each != ColumnRole.IGNORED))
            if role != ColumnRole.ATTRIBUTES
            or self.study is None
            or self.study.protocol_object.has_attributes
        ]

    def rows(self) -> Iterator[dict[str, Any]]:
        """For the page: each column with examples of its cells and its two fields."""
        raters = RaterNames(self.sheet, self.table_map)
        for at, use in enumerate(self.table_map.columns):
            cells = map(as_text, self.sheet.values(use.column)[:EXAMPLES])
            yield {
                "name": use.column,
                "examples": [
                    _shorten(raters.name(each) if use.role == ColumnRole.RATER else each) for each in cells
                ],
                "role": self[f"as-{at}"],
                "system": self[f"system-{at}"],
            }

    def settings_fields(self) -> list[Any]:
        """The fields that are of no column, without the name to save the map under."""
        own = {f"{name}-{at}" for at in range(len(self.table_map.columns)) for name in ("as", "system")}
        own.add("save_as")
        return [self[name] for name in self.fields if name not in own]

    def as_map(self) -> TableMap:
        """The map as it was sent."""
        data = self.cleaned_data
        uses = []
        for at, use in enumerate(self.table_map.columns):
            role = ColumnRole(data[f"as-{at}"])
            system = data[f"system-{at}"].strip() if role in OF_SYSTEMS else ""
            uses.append(ColumnUse(use.column, role, system))
        return TableMap(
            tuple(uses),
            per=data["per"],
            keep_empty=data["keep_empty"],
            header=data["header"],
            sheet=data.get("sheet", self.sheet.sheet),
            protocol=data.get("protocol", self.table_map.protocol),
            arm=data.get("arm", ""),
            single_dollars=self.table_map.single_dollars,
            written_formulas=self.table_map.written_formulas,
            read_as=data.get("read_as", ""),
            raters=data.get("raters", self.table_map.raters),
            judged_again=data.get("judged_again", self.table_map.judged_again),
        )


class NewStudyMapForm(MapForm):
    """The same for a table that a new study is made from."""

    title = forms.CharField(max_length=200, help_text="Shown to participants at the top of every page.")
    slug = forms.SlugField(
        max_length=80,
        help_text="Part of every address of the study: letters, digits and hyphens. It can't be changed later.",
    )
    protocol = forms.ChoiceField(
        choices=lambda: [(each.key, each.label) for each in PROTOCOLS.values()],
        help_text="The kind of task. It determines the questions, the guideline and the report's analyses.",
    )
    field_order = ("title", "slug", "protocol")

    def __init__(self, data: Any, *, names: dict[str, str], **given: Any) -> None:
        self.names = names
        super().__init__(data, study=None, **given)

    def first_values(self) -> dict[str, Any]:
        return {**super().first_values(), "protocol": self.table_map.protocol, **self.names}


def _shorten(text: str) -> str:
    """The beginning of a cell, without addresses of people."""
    text = without_emails(text[: 4 * LONG])
    return text if len(text) <= LONG else f"{text[:LONG].rstrip()}…"
