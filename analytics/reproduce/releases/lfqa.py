"""LFQA: long-form answers rated by aspect (Quantifying the Influence of Evaluation Aspects on Long-Form Responses).

Source: its sections 3.3 to 5.4 and Appendix B. Of its tables and plots only what the text repeats is known here: the
other figures stand without a published one.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from analytics.figures.document import Written
from analytics.reproduce.published_tables import PublishedFigure, PublishedTable, table
from analytics.reproduce.release_input import PEOPLE, ReleaseInput
from analytics.reproduce.reproduction import Reproduction
from analytics.statistics.aspects.tree import tree_levels
from analytics.statistics.core.tidy import Floats, Ints
from analytics.statistics.core.values import unit_means
from analytics.statistics.ratings.weighted_overall import distance_from_ideal, least_squares_weights
from analytics.statistics.texts.readability import measure_text
from evaluation.dumps.published.lfqa import read_ratings
from evaluation.models import Response

OVERALL, PICK = "acceptability", "best"
ASPECTS = {"formality": "Formality", "amount_info": "Amount of information", "factuality": "Factuality"}
SYSTEMS = {
    "human-top": "human, top-rated (HT)",
    "human-random": "human, random (HR)",
    "model-formal": "model, formal (MF)",
    "model-casual": "model, casual (MC)",
}
MEANS = {"human-top": "1.38", "human-random": "1.15", "model-formal": "2.46", "model-casual": "2.36"}
UNANIMOUS = {"model-formal": "45", "model-casual": "19", "human-top": "", "human-random": ""}
WEIGHTS = {"formality": "0.335", "amount_info": "0.739", "factuality": "2.048"}
JUDGES = {"GPT-4": "0.70", "Llama 2 7B, fine-tuned": "0.72"}
ERRORS = {
    "GPT-4": {"factuality": "0.24", "amount_info": "0.04", "formality": "-0.05"},
    "Llama 2 7B, fine-tuned": {"factuality": "0.43", "amount_info": "-0.02", "formality": "-0.02"},
}
EQUAL_LESS_FITTED = {"GPT-4": "1", "Llama 2 7B, fine-tuned": "-1"}
# scikit-learn's split of the 3,600 ratings in the order of the file, with which the printed weights come out.
TEST_SHARE, SPLIT_SEED = 0.2, 42
BEST = 3.0
# The question of Figure 1, and the mean ratings that stand there, of acceptability and of these aspects.
EXAMPLE, EXAMPLE_ASPECTS = "1fflvw", ("factuality", "amount_info", "formality")
EXAMPLE_MEANS = {
    "human-top": ("2.3", "2.0", "0.3", "-0.3"),
    "human-random": ("1.0", "1.7", "-1.0", "-0.7"),
    "model-formal": ("3.0", "2.7", "0.0", "0.3"),
    "model-casual": ("3.0", "2.7", "0.3", "0.0"),
}
ASKED = {"direct": "acceptability asked directly", "fitted": "weighted aspects"}
PASSED = "The paper's passed the qualification; ours are those whose ratings are in the release."
WORK_TIME = (
    "Ours is the platform's, from accepting to submitting; the paper's footnote on its own is not at hand."
)
TABLE_1 = "No text of the paper at hand repeats the means of this table."
ABOVE_ROUGE = (
    "Section 5.3 says only that those of ROUGE, below .2, are lower; no text at hand has the number."
)
BY_LEVEL = "The paper draws each answer at its raters' mean; here it is at the level that is nearest to it."
OF_FEWER = "Of the 432 answers in the release."
UNEXPLAINED = "The difference has no known cause."
NO_POOLING = "The paper pools all aspects and does not say how; no plain pooling of its ratings gives .74."
BY_FILE_ORDER = (
    "As published: one split of single ratings in the order of the file, so that a query is on both sides of it; ours: "
    "all ratings."
)


class LFQAReproduction(Reproduction):
    key = "lfqa"
    paper = "LFQA: Quantifying the Influence of Evaluation Aspects on Long-Form Response Assessment"
    figures = (
        "agreement/alpha",
        "agreement/pooled_alpha",
        "agreement/rating_rates",
        "aspects/levels",
        "aspects/measure_levels",
        "aspects/tree",
        "aspects/weights",
        "judges/ratings_vs_people",
        "judges/weighted_aspects",
        "preferences/best_picks",
        "ratings/scales",
        "texts/readability",
    )
    missing = (
        "ROUGE and GPT-2 perplexity (Table 1, Figure 5): none in the release. The judges rouge_1 and rouge_l "
        "compute the first in a study that is kept, with --reference-from human-top; the second can be imported.",
        "Three iterations of GPT-4 on a fifth of the answers (section 5.4, .73 and .74): one is here.",
        "Accuracy on the preferences of Krishna et al. and Nakano et al. (section 5.4): other data sets.",
        "Criteria in the 50 longest justifications (Figure 4b): the release has the texts, not their coding.",
    )

    def tables(self, given: ReleaseInput) -> Iterator[PublishedTable]:
        yield table("Annotation (sections 3.1 and 3.3)", _conditions_of_judging(given))
        yield table("One question's mean ratings (Figure 1)", _example(given))
        yield table("Preferences (section 4.2, Figures 4a and 6, Appendix B)", _preferences(given))
        yield table("Acceptability by kind of answer (section 4.2, Figure 3)", _acceptability(given))
        yield table("Ratings of the aspects by kind of answer (Figure 3)", _aspects(given))
        yield table("Ratings at each level by kind of answer (Figure 3), % of ratings", _distributions(given))
        yield table("Krippendorff's alpha (section 3.3, Appendix B, Table 2)", _alphas(given))
        yield table("Agreement rates by aspect (Appendix B, Table 3)", _rates(given))
        yield table("Weights of the aspects (section 4.1, equations 1 and 2)", _weights(given), BY_FILE_ORDER)
        yield table("Decision tree of depth 3 (Appendix B, Figure 8)", _tree(given))
        yield table("Mean of each aspect by acceptability (Appendix B, Figure 7)", _levels(given))
        yield table("Judges beside people (sections 5.3 and 5.4, Table 1)", _judges(given))
        yield table("Judges by people's acceptability (Figure 5)", _judges_by_level(given), BY_LEVEL)
        yield table("Means by kind of answer (Table 1)", _scores(given), TABLE_1)
        yield table("Equal weights less fitted ones (section 5.4)", _equal_weights(given))


def _conditions_of_judging(given: ReleaseInput) -> Iterator[PublishedFigure]:
    report = given.report
    [people] = [each for each in report["times"] if each["kind"] == PEOPLE]
    yield PublishedFigure("Questions", "300", given.study.queries.count(), decimals=0)
    yield PublishedFigure("Annotations", "", people["active"]["mean"]["n"], decimals=0)
    raters = sum(each["kind"] == PEOPLE for each in report["raters"])
    yield PublishedFigure("Workers", "201", raters, decimals=0, note=PASSED)
    mean = people["active"]["mean"]["value"] / 60
    yield PublishedFigure("Minutes per annotation, mean", "13 to 14", mean, decimals=1, note=WORK_TIME)


def _example(given: ReleaseInput) -> Iterator[PublishedFigure]:
    """The mean rating of each of its four answers on each scale."""
    assert given.frame.answers is not None
    [people] = [group for group in given.frame.answers.groups if group.key == PEOPLE]
    for system, printed in EXAMPLE_MEANS.items():
        for key, figure in zip((OVERALL, *EXAMPLE_ASPECTS), printed, strict=True):
            given_to = people.answers[key]
            items = given_to.items
            query, code = items.queries.index(EXAMPLE), items.systems.index(system)
            mine = (items.query[given_to.item] == query) & (given_to.system == code)
            name = ASPECTS.get(key, "Acceptability")
            yield PublishedFigure(f"{name}: {SYSTEMS[system]}", figure, float(given_to.value[mine].mean()))


def _preferences(given: ReleaseInput) -> Iterator[PublishedFigure]:
    found = given.record("preferences/best_picks", PICK)
    [models] = [each for each in found["by_kind"] if each["kind"] == "model"]
    yield PublishedFigure("Model answers preferred, %", "83.0", 100 * models["share"]["value"])
    same = found["same"]
    yield PublishedFigure("All three prefer the same answer, questions", "69", same["n_all_same"])
    yield PublishedFigure(
        "Two of three do, questions",
        "",
        same["n_two_same"] - same["n_all_same"],
        decimals=0,
    )
    yield PublishedFigure(
        "All three or two of them, % of questions", "over 80", 100 * same["two_same"]["value"], decimals=1
    )
    agreed = {each["system"]: each["n_all_same"] for each in same["agreed"]}
    for system, printed in UNANIMOUS.items():
        yield PublishedFigure(
            f"All three prefer the same, questions: {SYSTEMS[system]}",
            printed,
            agreed.get(system, 0),
            decimals=0,
        )
    different = found["n_items"] - same["n_two_same"]
    yield PublishedFigure("All three prefer different answers, questions", "", different, decimals=0)
    most = {each["system"]: each["n_majority"] for each in same["agreed"]}
    for system, name in SYSTEMS.items():
        label = f"Two or three prefer the same, questions: {name}"
        yield PublishedFigure(label, "", most.get(system, 0), decimals=0)
    for each in found["by_system"]:
        name = SYSTEMS[each["system"]]
        yield PublishedFigure(f"Preferred, %: {name}", "", 100 * each["share"]["value"], decimals=1)


def _acceptability(given: ReleaseInput) -> Iterator[PublishedFigure]:
    found = given.record("ratings/scales", OVERALL)
    by_system = {each["system"]: each for each in found["by_system"]}
    for system, printed in MEANS.items():
        note = "1.1567; printed cut off, not rounded." if system == "human-random" else ""
        yield PublishedFigure(
            f"Mean: {SYSTEMS[system]}", printed, by_system[system]["mean"]["value"], note=note
        )
    best = {system: _share_of_best(each) for system, each in by_system.items()}
    yield PublishedFigure(
        "Rated 3, % of ratings: model, formal (MF)",
        "54.5",
        100 * best["model-formal"],
        50 * (best["model-formal"] + best["model-casual"]) if given.as_published else None,
        "The printed share is that of both kinds of model answer together, which are rated equally often.",
    )


def _aspects(given: ReleaseInput) -> Iterator[PublishedFigure]:
    for key, name in ASPECTS.items():
        for each in given.record("ratings/scales", key)["by_system"]:
            yield PublishedFigure(f"{name}, mean: {SYSTEMS[each['system']]}", "", each["mean"]["value"])


def _distributions(given: ReleaseInput) -> Iterator[PublishedFigure]:
    for key, name in {OVERALL: "Acceptability", **ASPECTS}.items():
        for each in given.record("ratings/scales", key)["by_system"]:
            for level in each["distribution"]:
                about = f"{name} {level['value']:g}: {SYSTEMS[each['system']]}"
                yield PublishedFigure(about, "", 100 * level["share"]["value"], decimals=1)


def _share_of_best(of_system: Written) -> float:
    [share] = [each["share"]["value"] for each in of_system["distribution"] if each["value"] == BEST]
    return float(share)


def _alphas(given: ReleaseInput) -> Iterator[PublishedFigure]:
    questions = {OVERALL: "Acceptability", **ASPECTS}
    for key, name in questions.items():
        [level] = given.record("agreement/alpha", key)["levels"]
        yield PublishedFigure(f"{name}, {level['level']}", "", level["alpha"]["value"])
    for each in given.record("agreement/pooled_alpha", OVERALL)["levels"]:
        name = f"All aspects at once, pooled, {each['level']}"
        yield PublishedFigure(name, "0.74", each["alpha"]["value"], note=NO_POOLING)


def _rates(given: ReleaseInput) -> Iterator[PublishedFigure]:
    for key, name in {OVERALL: "Acceptability", **ASPECTS}.items():
        found = given.record("agreement/rating_rates", key)
        for rate, label in (("all_same", "all three alike"), ("majority", "two or three alike")):
            yield PublishedFigure(f"{name}, {label}, %", "", 100 * found[rate]["value"], decimals=1)


def _weights(given: ReleaseInput) -> Iterator[PublishedFigure]:
    record = given.record("aspects/weights", OVERALL)
    keys = [each["key"] for each in record["aspects"]]
    ours = dict(zip(keys, record["fit"]["weights"], strict=True))
    published, held_out = published_weights(given) if given.as_published else ({}, None)
    for key, printed in WEIGHTS.items():
        yield PublishedFigure(f"Weight: {ASPECTS[key]}", printed, ours[key]["value"], published.get(key))
    splits = record["fit"]["held_out"]
    yield PublishedFigure(
        "Pearson, held out",
        "0.853",
        splits["mean"],
        held_out,
        f"Ours: mean of {splits['n']} splits by query, from {splits['least']:.3f} to {splits['greatest']:.3f}.",
    )
    for key, each in zip(keys, record["fit"]["added"], strict=True):
        yield PublishedFigure(f"Gain in held-out R squared: {ASPECTS[key]}", "", each["gain"]["mean"])


def _tree(given: ReleaseInput) -> Iterator[PublishedFigure]:
    record = given.record("aspects/tree", OVERALL)
    splits = record["tree"]["held_out"]
    yield PublishedFigure(
        "Pearson, held out",
        "0.830",
        splits["mean"],
        published_tree(given) if given.as_published else None,
        "The paper names neither inputs nor criterion. As published: distances from the ideals and Gini's impurity, on "
        "the split of its weights, the nearest of those tried (.828 with entropy, .851 of the ratings as they are).",
    )
    for aspect, share in zip(record["aspects"], record["tree"]["importances"], strict=True):
        yield PublishedFigure(f"Importance: {ASPECTS[aspect['key']]}", "", share)


def published_tree(given: ReleaseInput) -> float | None:
    """Pearson's r of a tree on the distances, fitted and held out on the release's split of single ratings."""
    distances, shortfall = ratings_in_file_order(given)
    train, test = _published_split(len(shortfall))
    predicted = tree_levels(distances[train], shortfall[train], distances[test])
    return float(np.corrcoef(predicted, shortfall[test])[0, 1])


def _levels(given: ReleaseInput) -> Iterator[PublishedFigure]:
    for aspect in given.record("aspects/levels", OVERALL)["aspects"]:
        for each in aspect["levels"]:
            yield PublishedFigure(
                f"{ASPECTS[aspect['key']]} where acceptability is {each['level']:g}",
                "",
                each["mean"]["value"],
            )


def published_weights(given: ReleaseInput) -> tuple[dict[str, float], float]:
    """The weights by aspect of the release's own split, and Pearson's r in its held-out fifth."""
    distances, shortfall = ratings_in_file_order(given)
    train, test = _published_split(len(shortfall))
    weights = least_squares_weights(distances[train], shortfall[train])
    held_out = np.corrcoef(distances[test] @ weights, shortfall[test])[0, 1]
    return dict(zip(WEIGHTS, weights.tolist(), strict=True)), float(held_out)


def _published_split(n: int) -> tuple[Ints, Ints]:
    """Rows of the release's own split, those fitted on and those held out."""
    from sklearn.model_selection import train_test_split  # slow to import, and rarely asked for

    train, test = train_test_split(np.arange(n), test_size=TEST_SHARE, random_state=SPLIT_SEED)
    return train, test


def ratings_in_file_order(given: ReleaseInput) -> tuple[Floats, Floats]:
    """Distances (3600, 3) of the aspects from their ideals, in the order of WEIGHTS, and shortfalls (3600,) from 3."""
    ratings = read_ratings(given.path)
    columns = {
        name: np.array([each[name] for each in ratings], dtype=np.float64)
        for name in ("formality", "amountInfo", "factuality", "acceptability")
    }
    distances = [
        distance_from_ideal(columns["formality"], ideal=0, low=-1, high=1),
        distance_from_ideal(columns["amountInfo"], ideal=0, low=-1, high=1),
        distance_from_ideal(columns["factuality"], ideal=BEST, low=0, high=BEST),
    ]
    return np.column_stack(distances), BEST - columns["acceptability"]


def _judges(given: ReleaseInput) -> Iterator[PublishedFigure]:
    for label, printed in JUDGES.items():
        group = given.group(label)
        direct = given.record("judges/ratings_vs_people", OVERALL, group)
        name = f"{label}, acceptability asked directly, Pearson"
        yield _of_judge(label, PublishedFigure(name, printed, direct["pearson"]["value"]))
        yield PublishedFigure(f"{label}, weighted aspects, Pearson", "", _way(given, group, "fitted"))
    for label, errors in ERRORS.items():
        group = given.group(label)
        for aspect, printed in errors.items():
            error = given.record("judges/ratings_vs_people", aspect, group)["difference"]["value"]
            name = f"{label}, mean error of {ASPECTS[aspect].lower()}"
            yield _of_judge(label, PublishedFigure(name, printed, error))

    yield PublishedFigure("Length in words, Pearson", "", _length_correlation(given), note=ABOVE_ROUGE)


def _of_judge(label: str, figure: PublishedFigure) -> PublishedFigure:
    """With the note on the judge that answered a part, and on a difference where there is one."""
    if label == "GPT-4":
        return figure
    return replace(figure, note=f"{OF_FEWER} {UNEXPLAINED}" if figure.difference else OF_FEWER)


def _length_correlation(given: ReleaseInput) -> float:
    """Pearson's r of an answer's words with its mean acceptability by people."""
    assert given.frame.answers is not None
    [people] = [group for group in given.frame.answers.groups if group.key == PEOPLE]
    items, means = people.answers[OVERALL].items, unit_means(people.answers[OVERALL].as_values())
    texts = Response.objects.filter(query__study=given.study).values_list("query__key", "system__key", "text")
    words = {(query, system): measure_text(text).words for query, system, text in texts}
    of_answers = [
        words[items.queries[query], items.systems[system]]
        for query, system in zip(means.query.tolist(), means.system.tolist(), strict=True)
    ]
    return float(np.corrcoef(of_answers, means.mean)[0, 1])


def _judges_by_level(given: ReleaseInput) -> Iterator[PublishedFigure]:
    for label in JUDGES:
        for each in given.record("aspects/measure_levels", OVERALL, given.group(label))["levels"]:
            about = f"where people's acceptability is {each['level']:g}"
            yield PublishedFigure(f"{label}, mean {about}", "", each["mean"]["value"])
            yield PublishedFigure(f"{label}, standard deviation {about}", "", each["standard_deviation"])
            for name, quartile in zip(
                ("lower quartile", "median", "upper quartile"), each["quartiles"], strict=True
            ):
                yield PublishedFigure(f"{label}, {name} {about}", "", quartile, decimals=1)


def _scores(given: ReleaseInput) -> Iterator[PublishedFigure]:
    for label in JUDGES:
        for way in given.record("judges/weighted_aspects", OVERALL, given.group(label))["ways"]:
            if way["way"] in ASKED:
                for each in way["by_system"]:
                    name = f"{label}, {ASKED[way['way']]}: {SYSTEMS[each['system']]}"
                    yield PublishedFigure(name, "", each["mean"]["value"])
    [words] = [
        each for each in given.record("texts/readability", OVERALL)["measures"] if each["measure"] == "words"
    ]
    for each in words["by_system"]:
        name = f"Length in words: {SYSTEMS[each['system']]}"
        yield PublishedFigure(name, "", each["mean"]["value"], decimals=1)


def _equal_weights(given: ReleaseInput) -> Iterator[PublishedFigure]:
    for label, printed in EQUAL_LESS_FITTED.items():
        group = given.group(label)
        equal, fitted = (_way(given, group, way) for way in ("equal", "fitted"))
        rounded = round(100 * round(equal, 2) - 100 * round(fitted, 2))
        yield PublishedFigure(
            f"{label}, change of Pearson in points",
            printed,
            100 * (equal - fitted),
            rounded if given.as_published else None,
            f"As published: of {fitted:.2f} and {equal:.2f}, rounded before they are compared.",
        )


def _way(given: ReleaseInput, group: str, way: str) -> float:
    """Pearson's r with people of the acceptability that one way makes of a judge's aspects."""
    ways = given.record("judges/weighted_aspects", OVERALL, group)["ways"]
    [found] = [each["pearson"]["value"] for each in ways if each["way"] == way]
    return float(found)


REPRODUCTION = LFQAReproduction()
