"""Recruitment filters as a researcher sets them, and the conditions that express them on Prolific.

Pure. `read_filters` takes what a form, a command or the database has; `RecruitmentFilters.wanted` gives the conditions.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from annotator.panels.platforms.eligibility import BY_PERSON, BY_STUDY, Criteria, FiltersInvalid
from annotator.panels.prolific.filters import OF_PEOPLE, Condition

DEVICES = ("desktop", "tablet", "mobile")
# Prolific's names, from the least on.
EDUCATION = (
    "No formal qualifications",
    "Secondary education (e.g. GED/GCSE)",
    "High school diploma/A-levels",
    "Technical/community college",
    "Undergraduate degree (BA/BSc/other)",
    "Graduate degree (MA/MSc/MPhil/other)",
    "Doctorate degree (PhD/other)",
)
# By study, Prolific keeps out all who took part in studies of one project until this one is published.
EXCLUSION_FILTERS = {
    BY_STUDY: "by study, on Prolific; both must be in the same project there",
    BY_PERSON: "by the ids of those who came here before this study is drafted; any project",
}
MOST_SUBMISSIONS = 1_000_000

# Name of a field to what stands before it on a form, and in the sentences about it.
LABELS = {
    "approval_rate": "Minimum approval rate, in percent",
    "least": "Minimum approved submissions",
    "most": "Maximum approved submissions",
    "fluent": "Fluent in any of",
    "first": "First language, any of",
    "countries": "Living in any of",
    "education": "Minimum education",
    "not_from": "Exclude participants of",
    "by": "Excluded",
    "devices": "Devices",
}
NUMBERS = {"approval_rate": 100, "least": MOST_SUBMISSIONS, "most": MOST_SUBMISSIONS}
# Name of a field to the filter whose choices it names.
CHOICES = {
    "fluent": "fluent-languages",
    "first": "first-language",
    "countries": "current-country-of-residence",
    "education": "highest-education-level-completed",
}


@dataclass(frozen=True, kw_only=True)
class RecruitmentFilters(Criteria):
    """The conditions on participants. None and empty ask for nothing."""

    approval_rate: int | None = None
    least: int | None = None
    most: int | None = None
    fluent: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    countries: tuple[str, ...] = ()
    education: str = ""
    devices: tuple[str, ...] = DEVICES

    def as_json(self) -> dict[str, Any]:
        """All fields that differ from their default; `read_filters` reads it back."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in self.__dict__.items()
            if value != getattr(NO_FILTERS, name)
        }

    def with_preset(self, preset: Criteria) -> Self:
        return replace(
            self, **vars(preset) | {name: getattr(self, name) for name in ("not_from", "by", "devices")}
        )

    def wanted(self, studies: tuple[str, ...] = (), people: tuple[str, ...] = ()) -> list[Condition]:
        """The conditions; `studies` and `people` are the panel's ids of those to be kept out."""
        found = []
        if self.approval_rate is not None:
            found.append(
                Condition(
                    "approval_rate", "approval_rate", _rate(self.approval_rate), lower=self.approval_rate
                )
            )
        if self.least is not None or self.most is not None:
            said = _submissions(self.least, self.most)
            found.append(Condition("approval_numbers", "least", said, lower=self.least, upper=self.most))
        for name, words in (
            ("fluent", f"fluent in {_either(self.fluent)}"),
            ("first", f"{_either(self.first)} as first language"),
            ("countries", f"living in {_either(self.countries)}"),
        ):
            if values := getattr(self, name):
                found.append(Condition(CHOICES[name], name, words, choices=values))
        if self.education:
            said = _education(self.education)
            found.append(Condition(CHOICES["education"], "education", said, choices=self.degrees))
        if studies:
            found.append(Condition("previous_studies_blocklist", "not_from", self._kept_out, ids=studies))
        if people:
            found.append(Condition(OF_PEOPLE, "not_from", self._kept_out, ids=people))
        return found

    @property
    def degrees(self) -> tuple[str, ...]:
        """This level of education and those above it."""
        return EDUCATION[EDUCATION.index(self.education) :] if self.education else ()

    @property
    def _kept_out(self) -> str:
        return f"nobody who took part in {_either(self.not_from)}"

    def sentences(self) -> list[str]:
        """The filters in words; nothing where everybody is taken."""
        said = [each.said for each in self.wanted()]
        if self.not_from:
            said.append(self._kept_out)
        if self.devices != DEVICES:
            said.append(f"on {_either(self.devices)}")
        return said


NO_FILTERS = RecruitmentFilters()


def read_filters(given: Mapping[str, Any]) -> RecruitmentFilters:
    """Filters from values by field: numbers, and names as a list or a text, one per line or with commas or semicolons
    between. What is not given asks for nothing. Raises FiltersInvalid with everything that is wrong.
    """
    problems = [(name, f"there is no such filter; there are {', '.join(LABELS)}.")
                for name in given if name not in LABELS]  # fmt: skip
    values: dict[str, Any] = {}
    for name in LABELS:
        value = given.get(name)
        if value is None or value == "" or value == []:
            continue
        try:
            values[name] = _read(name, value)
        except ValueError as wrong:
            problems.append((name, str(wrong)))
    filters = replace(NO_FILTERS, **values)
    if filters.least is not None and filters.most is not None and filters.least > filters.most:
        problems.append(("most", f"{filters.most} is less than the {filters.least} set as the minimum."))
    if problems:
        raise FiltersInvalid(problems, LABELS)
    return filters


def _read(name: str, value: Any) -> Any:
    if name in NUMBERS:
        return _whole(value, NUMBERS[name])
    if name == "education":
        return _one_of(str(value).strip(), EDUCATION)
    if name == "by":
        return _one_of(str(value).strip(), tuple(EXCLUSION_FILTERS))
    names = _names(value)
    if name == "devices":
        return tuple(each for each in DEVICES if each in [_one_of(one, DEVICES) for one in names])
    return names


def _whole(value: Any, most: int) -> int:
    written = str(value).strip()
    if not re.fullmatch(r"[0-9]{1,9}", written) or int(written) > most:
        raise ValueError(f"{written[:40]!r} is not a whole number from 0 to {most:,}.")
    return int(written)


def _one_of(value: str, known: tuple[str, ...]) -> str:
    if value not in known:
        raise ValueError(f"{value[:80]!r} is not one of {', '.join(known)}.")
    return value


def _names(value: Any) -> tuple[str, ...]:
    parts = re.split(r"[,;\n]", value) if isinstance(value, str) else [str(each) for each in value]
    return tuple(dict.fromkeys(" ".join(part.split()) for part in parts if part.strip()))


# --- words ------------------------------------------------------------------------------------------------------------


def _rate(rate: int) -> str:
    return "approval rate of 100 %" if rate == 100 else f"approval rate of at least {rate} %"


def _submissions(least: int | None, most: int | None) -> str:
    if most is None:
        return f"at least {least:,} approved submissions"
    if not least:
        return f"at most {most:,} approved submissions"
    return f"{least:,} to {most:,} approved submissions"


def _education(least: str) -> str:
    return f"education: {least}" if least == EDUCATION[-1] else f"education: {least} or more"


def _either(names: Iterable[str]) -> str:
    *before, last = tuple(names) or ("",)
    return f"{', '.join(before)} or {last}" if before else last
