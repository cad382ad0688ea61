"""A report's records put together by question and group, for tests that look at many figures of one group."""

from analytics.figures.figure_input import PAIRS
from analytics.reports.build import build_report as _build_report

OF_RATINGS = (
    "mean", "distribution", "by_system", "best_system", "worst_system", "best_and_worst", "by_kind", "by_arm",
    "by_category", "by_part", "by_tag_group", "by_value", "values_left_out", "spread", "spread_adapted",
)  # fmt: skip
# The figures that every group of a preference between two responses has.
OF_PAIRS = (
    "agreement/alpha", "agreement/kappa", "agreement/percentage",
    "preferences/bias", "preferences/flips", "preferences/win_rates",
)  # fmt: skip
OF_LISTS = (
    "distribution",
    "by_system",
    "best_and_worst",
    "by_kind",
    "by_arm",
    "by_category",
    "by_part",
    "by_tag_group",
)
RATINGS = (
    "ratings/scales",
    "ratings/yes_shares",
    "ratings/tags",
    "ratings/choices",
    "conditions/attribute_values",
)


def build_report(study, **options):
    return read(_build_report(study, **options))


def read(report):
    """The report with each question's groups, and each group of the first preference, holding their figures by name."""
    questions = [
        {**question, "groups": [_group(report, question, each) for each in question["groups"]]}
        for question in report["questions"]
    ]
    preferences = [each for each in questions if each["form"] == PAIRS and each["groups"]]
    pairs = [question["groups"] for question in preferences]
    found = Read(report)
    found |= {
        "questions": questions,
        "preference": preferences[0] if preferences and preferences[0]["key"] else None,
        "groups": pairs[0] if pairs else report["groups"],
        "judges": [
            {**judge, "inconsistent": _inconsistent(pairs[0] if pairs else [], judge["rater"])}
            for judge in report["judges"]
        ],
        "further_preferences": [
            {name: question[name] for name in ("key", "prompt", "groups")} for question in preferences[1:]
        ],
    }
    return found


class Read(dict):
    """A report with more in it; `raw` is as it was computed."""

    def __init__(self, report):
        super().__init__(report)
        self.raw = report


def _inconsistent(groups, rater):
    found = next((group["inconsistent"] for group in groups if group["key"] == rater), None)
    return found or {"value": None}


def _group(report, question, answered):
    key = answered["group"]
    (head,) = (group for group in report["groups"] if group["key"] == key)
    records = {
        record["figure"]: {
            name: each for name, each in record.items() if name not in ("figure", "question", "group")
        }
        for record in report["records"]
        if (record["question"], record["group"]) == (question["key"], key)
    }
    if question["form"] == PAIRS:
        found = _of_pairs(records)
        return {**head, **answered, **found, "pairs": found}
    return {**answered, **_of_answers(records)}


def _of_pairs(records):
    percentage = dict(records["agreement/percentage"])
    alpha = records["agreement/alpha"]
    checklist = [{"question": "satisfied", **alpha["checklist"]}] if alpha["checklist"] else []
    return {
        "leave_one_out": percentage.pop("leave_one_out"),
        "agreement": percentage,
        "alpha": [*({"question": "preference", **each} for each in alpha["levels"]), *checklist],
        "alpha_by_arm": alpha["by_arm"],
        "kappa": records["agreement/kappa"],
        "win_rates": records["preferences/win_rates"],
        "grades": records.get("preferences/grades"),
        "flips": records["preferences/flips"],
        "bradley_terry": records.get("preferences/bradley_terry", {"fits": []})["fits"],
        "bias": records["preferences/bias"],
        "follow_ups": records.get("conditions/follow_ups"),
        "against_people": records.get("judges/labels_vs_people"),
        "inconsistent": records.get("judges/order_consistency", {}).get("inconsistent"),
    }


def _of_answers(records):
    own = next((records[key] for key in RATINGS if key in records), {})
    alpha = records.get("agreement/alpha", {"levels": [{"alpha": None, "by_chance": None}]})["levels"][0]
    found = {name: own.get(name, [] if name in OF_LISTS else None) for name in OF_RATINGS}
    found |= {"by_value": own.get("by_value", []), "values_left_out": own.get("values_left_out", 0)}
    ranks = records.get("rankings/ranks")
    entries = records.get("entries/decisions")
    if entries:
        found |= {name: entries[name] for name in ("distribution", "by_system")}
    beside = {
        "compared": records.get("judges/ratings_vs_people"),
        "labels": records.get("judges/labels_vs_people"),
        "tau": records.get("judges/rankings_vs_people", {}).get("tau"),
    }
    return {
        **found,
        "alpha": alpha["alpha"],
        "by_chance": alpha["by_chance"],
        "picks": records.get("preferences/best_picks"),
        "ranking": {**records["agreement/concordance"], **ranks, "places": records["rankings/places"]}
        if ranks
        else None,
        "entries": entries,
        "inconsistent": records.get("judges/order_consistency", {}).get("inconsistent"),
        "against_people": beside if any(beside.values()) else None,
    }
