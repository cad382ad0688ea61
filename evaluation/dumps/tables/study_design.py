"""The design of a study that gets a table: what its items need, for the guess to take and the map to be asked for."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from evaluation.dumps.tables.column_names import ColumnRole, plain_name, split_whose
from evaluation.dumps.tables.judgments.cells import response_names
from evaluation.dumps.tables.sheet import Sheet
from evaluation.dumps.tables.table_map import PER_ITEM, ColumnUse, TableMap, prompt_in_responses
from evaluation.models import Study
from evaluation.protocols import Over
from evaluation.protocols.base import FORM
from evaluation.protocols.requirements.needs import Needs, read_needs

OF_CLAIMS = {"claims", "claim", "facts", "statements", "atomic facts"}


@dataclass(frozen=True)
class StudyDesign:
    """The parts that items of a study with a form of its own have, and its systems' keys by their plain names."""

    needs: Needs
    has_claims: bool
    systems: Mapping[str, str]


def design_of(study: Study | None) -> StudyDesign | None:
    """The design of a study that says itself what an item needs; None of every other."""
    if study is None or not study.protocol_object.has_needs:
        return None
    systems = {
        plain_name(name): key
        for key, label in study.systems.values_list("key", "label")
        for name in (label, key)
    }
    forms = [options.get(FORM, {}) for options in study.questions.values_list("options", flat=True)]
    has_claims = any(form.get("over") == Over.CLAIM for form in forms)
    return StudyDesign(read_needs(study.needs), has_claims, systems)


def take_design(table_map: TableMap, sheet: Sheet, design: StudyDesign | None) -> TableMap:
    """The guess with what the design says: columns that bear the names of its document and systems, and claims."""
    if design is None:
        return table_map
    takes_systems = table_map.per == PER_ITEM and not table_map.named(ColumnRole.SYSTEM)
    uses = tuple(_by_name(use, design, takes_systems=takes_systems) for use in table_map.columns)
    found = replace(table_map, columns=uses)
    if design.needs.document and not found.named(ColumnRole.DOCUMENT) and not design.needs.query:
        # Without a query, what would be the prompt is the text that responses are held against.
        uses = tuple(
            replace(use, role=ColumnRole.DOCUMENT) if use.role == ColumnRole.PROMPT else use for use in uses
        )
        found = replace(table_map, columns=uses)
    if design.has_claims:
        names = response_names(sheet, found)
        found = replace(found, columns=tuple(_as_claims(use, names) for use in found.columns))
    return found


def _by_name(use: ColumnUse, design: StudyDesign, *, takes_systems: bool) -> ColumnUse:
    name = plain_name(use.column)
    if design.needs.document and name == plain_name(design.needs.document):
        return ColumnUse(use.column, ColumnRole.DOCUMENT)
    if takes_systems and name in design.systems:
        return ColumnUse(use.column, ColumnRole.RESPONSE, design.systems[name])
    return use


def _as_claims(use: ColumnUse, names: set[str]) -> ColumnUse:
    family, whose = split_whose(use.column, names)
    return ColumnUse(use.column, ColumnRole.CLAIMS, whose) if family in OF_CLAIMS else use


def design_problems(table_map: TableMap, sheet: Sheet, design: StudyDesign | None) -> Iterator[str]:
    """The parts that the design asks for and no column has, as sentences."""
    if design is None:
        return
    needs = design.needs
    documents = table_map.named(ColumnRole.DOCUMENT)
    there = f"Its columns are {', '.join(map(repr, sheet.columns))}"
    if needs.query and not table_map.named(ColumnRole.PROMPT) and not prompt_in_responses(table_map, sheet):
        yield f"no column is the prompt, which every item of this study needs. {there}"
    if needs.document and not documents:
        yield f"no column is the document ({needs.document}), which every item of this study needs. {there}"
    if documents and not needs.document:
        yield f"column {documents[0].column!r} is the document, and this study has no place for one"
    if design.has_claims and not table_map.named(ColumnRole.CLAIMS):
        yield f"no column is the claims, which a question of this study is about. {there}"
    n = len(table_map.named(ColumnRole.RESPONSE))
    if table_map.per != PER_ITEM or table_map.named(ColumnRole.RESPONSES) or needs.least <= n <= needs.most:
        return
    wanted = str(needs.least) if needs.least == needs.most else f"{needs.least} to {needs.most}"
    yield f"an item of this study has {wanted} responses, and {n} columns are responses. {there}"
