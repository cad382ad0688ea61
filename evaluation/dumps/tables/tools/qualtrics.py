"""Qualtrics' responses (CSV): a row for each person, whose material is in the survey's embedded data."""

from evaluation.dumps.tables.answers import cells_of, roles_of_answers
from evaluation.dumps.tables.column_names import ColumnRole
from evaluation.dumps.tables.sheet import Sheet, as_name
from evaluation.dumps.tables.table_map import ColumnUse, TableMap
from evaluation.dumps.tables.tool import PlainTable, Tool, guess_material, records, sub_sheet

NEEDED = {"ResponseId", "Finished", "Progress", "RecordedDate"}
TIMES = {"Duration (in seconds)": ColumnRole.SECONDS, "RecordedDate": ColumnRole.JUDGED_AT}
# What the survey notes of a person, of which nothing is shown.
BOOKKEEPING = NEEDED | {
    "StartDate", "EndDate", "Status", "IPAddress", *TIMES, "RecipientLastName", "RecipientFirstName",
    "RecipientEmail", "ExternalReference", "ExternalDataReference", "LocationLatitude", "LocationLongitude",
    "DistributionChannel", "UserLanguage", "Q_RecaptchaScore", "Q_RelevantIDDuplicate", "Q_RelevantIDFraudScore",
}  # fmt: skip
# What a row shows; every other column is an answer.
MATERIAL = {
    ColumnRole.PROMPT,
    ColumnRole.RESPONSE,
    ColumnRole.RESPONSES,
    ColumnRole.SYSTEM,
    ColumnRole.CATEGORY,
    ColumnRole.REFERENCE,
    ColumnRole.CONTEXT,
    ColumnRole.KEY,
}
# In words or as the export's numbers.
NOT_MEANT = {"Survey Preview", "Survey Test", "Spam", "1", "2", "8", "9", "12", "16", "17"}
UNFINISHED = {"False", "false", "FALSE", "0"}


def _tells(sheet: Sheet) -> bool:
    return {*sheet.columns} >= NEEDED


def _read(sheet: Sheet) -> tuple[Sheet, TableMap]:
    content = {each: each for each in sheet.columns if each not in BOOKKEEPING}
    shown = sub_sheet(sheet, content)
    material = guess_material(shown)
    used = {each.column for each in material.columns if each.role in MATERIAL}
    answers = [{name: record[name] for name in content if name not in used} for _, record in records(sheet)]
    roles = roles_of_answers(answers, shown, material)
    uses = [
        *(each for each in material.columns if each.column in used),
        *(ColumnUse(name, role) for name, role in roles.items()),
        ColumnUse("participant", ColumnRole.RATER),
        *(ColumnUse(each, role) for each, role in TIMES.items() if each in sheet.columns),
    ]
    plain = PlainTable(sheet, uses, BOOKKEEPING)
    columns = {name: name for name in roles}
    for row, record in records(sheet):
        if as_name(record.get("Status")) in NOT_MEANT:
            plain.leave_out("previews, tests and spam")
        elif as_name(record["Finished"]) in UNFINISHED:
            plain.leave_out("responses that were not finished")
        else:
            said = cells_of(record, roles, columns)
            plain.add(row, record | said | {"participant": record["ResponseId"]})
    return plain.finish()


TOOL = Tool("qualtrics", "a Qualtrics export", _tells, _read)
