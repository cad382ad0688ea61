"""The members of a derived judge: raters of the study, found by a name that stays the same from run to run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analytics.frames.rows import jury_key
from analytics.frames.study import StudyFrame, study_frame
from evaluation.models import Rater, Study
from evaluation.refusals import Refused


@dataclass(frozen=True)
class Member:
    """A rater by the name that the judge's options call it; `key` is that of its group in frames.

    `heuristic` is one that reads nothing, `reference` one that saw the human-written reference, `fitted` one that was
    chosen or fitted on this study's people.
    """

    name: str
    key: str
    label: str
    heuristic: bool
    reference: bool
    fitted: bool


def find_members(study: Study, names: Mapping[str, str]) -> list[Member]:
    """The rater of each name: the run of a judge that is in the figures, an imported judge by its name or label, or a
    jury as the one rater that it is in figures.

    Refused with a sentence for each name that is none, or that of several.
    """
    raters = list(Rater.objects.filter(study=study, kind=Rater.Kind.JUDGE, in_figures=True).order_by("pk"))
    juries = _juries(raters)
    jury_of = {rater.pk: jury for jury, members in juries.items() for rater in members}
    found, problems = [], []
    for role, name in names.items():
        those = [each for each in raters if name in (each.about.get("judge"), each.pseudonym, each.label)]
        if name in juries:
            found.append(_member(role, jury_key(name), f"Jury {name}", juries[name]))
        elif len(those) > 1:
            problems.append(f"{len(those)} raters are called {name!r}; name the member by its pseudonym.")
        elif not those:
            alone = {_name_of(each) for each in raters if each.pk not in jury_of}
            known = ", ".join(sorted({*alone, *juries}))
            problems.append(
                f"No judge {name!r} is in the study's figures: it needs a complete main run, or to be imported. "
                + (f"There are: {known}." if known else "There is none yet.")
            )
        elif jury := jury_of.get(those[0].pk):
            problems.append(f"{name!r} is one of the jury {jury!r}, which judges as one: name the jury.")
        else:
            found.append(_member(role, those[0].pseudonym, str(those[0]), those))
    if problems:
        raise Refused(*problems)
    return found


def _name_of(rater: Rater) -> str:
    return str(rater.about.get("judge") or rater)


def _juries(raters: Sequence[Rater]) -> dict[str, list[Rater]]:
    """The members of each jury that figures take as one rater: of two members or more."""
    found: dict[str, list[Rater]] = {}
    for rater in raters:
        if name := str((rater.about.get("jury") or {}).get("name", "")):
            found.setdefault(name, []).append(rater)
    return {name: members for name, members in found.items() if len(members) > 1}


def _member(name: str, key: str, label: str, raters: Sequence[Rater]) -> Member:
    abouts = [each.about for each in raters]
    return Member(
        name,
        key,
        label,
        heuristic=all(about.get("heuristic") for about in abouts),
        reference=any(about.get("reference") for about in abouts),
        fitted=any((about.get("derived") or {}).get("fitted") for about in abouts),
    )


def refuse_fitted(members: Sequence[Member]) -> None:
    """Refuse members that were chosen or fitted on this study's people: held-back folds would be known to them."""
    fitted = [each.label for each in members if each.fitted]
    if fitted:
        raise Refused(
            f"{', '.join(fitted)}: chosen or fitted on this study's people already, of whom it would know those that "
            "are held back."
        )


def frame_of(study: Study) -> StudyFrame:
    """The study as reports see it, so that a member's reading here is its reading there."""
    return study_frame(study)


def without_figures(name: str) -> str:
    return f"{name} is not in the study's figures any more, or has answered nothing there; start a new run."
