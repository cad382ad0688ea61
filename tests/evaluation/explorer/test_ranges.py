"""Filters of the list of items with a range: of answers that are numbers, and of differences of length."""

import pytest
from django.db.models import Value
from django.urls import reverse

from evaluation.dumps.imports.scores import import_scores
from evaluation.explorer.item_filters import ItemFilters
from evaluation.explorer.number_range import NumberRange
from evaluation.models import Judgment
from evaluation.protocols import Kind, QuestionSpec
from evaluation.refusals import FieldsRefused
from evaluation.services.answers import load_answers
from tests.analytics.reports.answering import answered_study, drawn_answers, give, items_of, new_rater
from tests.factories import launch, make_study

TAGS = QuestionSpec(
    "tags",
    Kind.CHECKLIST,
    "What holds?",
    required=False,
    options={"form": {"over": "choice", "choices": ["t1", "t3"]}},
)
SCORES = (0.1 + 0.2, 0.3, 0.3 - 1e-6, 0.7)


@pytest.fixture(scope="module")
def made(around_module, tmp_path_factory):
    """Two people's ratings of three systems' responses, and a measure of each response."""
    study = answered_study("aspects", queries=4, questions=[TAGS])
    for number in range(2):
        give(study, new_rater(study, f"person {number}"), drawn_answers(study, number))
    path = tmp_path_factory.mktemp("scores") / "scores.csv"
    lines = [
        f"{item.key},{response['system']},rouge-l,{score if response['system'] == 'aspen' else 0.9}"
        for item, score in zip(items_of(study), SCORES, strict=True)
        for response in item.stimulus["responses"]
    ]
    path.write_text("\n".join(["item,system,name,score", *lines]))
    import_scores(study, path, judge="script", low=0.0, high=1.0)
    return study


@pytest.fixture
def study(db, made):
    return made


def with_answers(study, question, keep, system=None):
    """The ids of judgments with such an answer, each of them read."""
    found = set()
    for row in Judgment.objects.filter(study=study).select_related("item"):
        systems = row.item.systems_key.split(" | ")
        for each in load_answers(row):
            of = systems[int(each.part.removeprefix("r")) - 1] if each.part.startswith("r") else None
            if each.question == question and keep(each.number) and system in (None, of):
                found.add(row.pk)
    return found


@pytest.mark.parametrize(
    ("value", "keep", "system"),
    [
        ("acceptability:0..1", lambda number: 0 <= number <= 1, None),
        ("acceptability:0..<1", lambda number: 0 <= number < 1, None),
        ("acceptability@birch:2..", lambda number: number >= 2, "birch"),
        ("amount_info@cedar:..<0", lambda number: number < 0, "cedar"),
        ("amount_info@cedar:..0", lambda number: number <= 0, "cedar"),
    ],
)
def test_a_range_leaves_the_judgments_that_a_plain_reading_does(study, value, keep, system):
    filters = ItemFilters.parse(study, {"range": [value]})
    wanted = with_answers(study, value.split("@")[0].split(":")[0], keep, system)
    assert {each.pk for each in filters.judgments(study)} == wanted
    assert 0 < len(wanted) < Judgment.objects.filter(study=study).count()
    assert ItemFilters.parse(study, {name: [value] for name, value in filters.pairs}) == filters


def test_both_ends_are_asked_of_the_same_answer(study):
    """No judgment is found that has one answer below the range and another one above it."""
    wanted = with_answers(study, "acceptability", lambda number: number == 1)
    assert wanted < with_answers(study, "acceptability", lambda number: number != 1)
    filters = ItemFilters.parse(study, {"range": ["acceptability:0.5..1.5"]})
    assert {each.pk for each in filters.judgments(study)} == wanted


def test_choices_that_are_ticked_are_parts_of_their_question(study):
    wanted = {
        row.pk
        for row in Judgment.objects.filter(study=study)
        for each in load_answers(row)
        if (each.question, each.part, each.number) == ("tags", "t3", 1)
    }
    filters = ItemFilters.parse(study, {"answer": ["tags.t3:1"]})
    assert wanted
    assert {each.pk for each in filters.judgments(study)} == wanted


def test_a_value_of_a_system_is_that_of_its_response(study):
    filters = ItemFilters.parse(study, {"answer": ["acceptability@birch:3"]})
    wanted = with_answers(study, "acceptability", lambda number: number == 3, "birch")
    assert {each.pk for each in filters.judgments(study)} == wanted
    assert wanted < with_answers(study, "acceptability", lambda number: number == 3)


@pytest.mark.parametrize(
    ("within", "items"), [("0.3..<0.7", 2), ("..<0.3", 1), ("0.3..", 3), ("0.7..0.7", 1), ("0.75..0.8", 0)]
)
def test_what_differs_by_rounding_alone_lies_on_the_border(study, within, items):
    filters = ItemFilters.parse(study, {"range": [f"measure:rouge-l@aspen:{within}"]})
    assert filters.n_items(study) == items


@pytest.mark.parametrize("size", [1e-12, 1e12])
@pytest.mark.parametrize(
    ("within", "found"),
    [("{}..", (2, 3)), ("{}..{}", (2,)), ("..{}", (1, 2)), ("..<{}", (1,)), ("-{}..<{}", (1,))],
)
def test_what_counts_as_the_same_goes_by_the_size_of_numbers(db, owner, size, within, found):
    """0.1 + 0.2 lies at 0.3 in whatever unit, and 0.2 never does."""
    values = {1: 0.2 * size, 2: (0.1 + 0.2) * size, 3: 0.4 * size}
    within = NumberRange.parse(within.format(*[f"{0.3 * size:.12g}"] * within.count("{}")))
    users = type(owner).objects.filter(pk=owner.pk)
    assert tuple(n for n, each in values.items() if users.filter(within.holds(Value(each))).exists()) == found


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("range", "acceptability", "'acceptability' names no range: write it as question:2..3."),
        (
            "range",
            "acceptability:2",
            "'2' is no range: write it as 2..3, 0.2..<0.3 (without 0.3), 4.. or ..2.",
        ),
        ("range", "acceptability:..", "'..' is no range"),
        ("range", "acceptability:1..<", "'1..<' is no range"),
        ("range", "acceptability:1..x", "'x' is no number that a range begins or ends with."),
        ("range", "acceptability:1..nan", "'nan' is no number that a range begins or ends with."),
        ("range", "acceptability:3..2", "The range '3..2' has no number in it."),
        ("range", "acceptability:2..<2", "The range '2..<2' has no number in it."),
        (
            "range",
            "acceptability:4..5",
            "No answer to 'acceptability' lies from 4 to 5 (its answers: 0 to 3).",
        ),
        ("range", "acceptability@oak:1..2", "The study has no system 'oak' (its systems: aspen"),
        ("range", "acceptability.r9:1..2", "No item of the study has a response 'r9'"),
        ("range", "measure:rouge-l.f1:0..1", "'measure:rouge-l' has no part 'f1' (its parts: r1)."),
        ("range", "tags.t2:0..1", "'tags' has no part 't2' (its parts: t1, t3)."),
        (
            "range",
            "tags@aspen:0..1",
            "Answers to 'tags' are not about single responses, so none is of a system.",
        ),
        ("range", "best:1..2", "'best' is answered by labels, which have no range."),
        ("range", "justification:1..2", "'justification' is answered by texts"),
        ("longer_than", "aspen", "'aspen' names no range: write it as system:100..200."),
        ("longer_than", "oak:1..", "The study has no system 'oak'"),
    ],
)
def test_what_is_no_range_is_refused(study, name, value, sentence):
    with pytest.raises(FieldsRefused) as refused:
        ItemFilters.parse(study, {name: [value]})
    assert sentence in refused.value.by_field[name][0]


@pytest.mark.parametrize("text", ["2..3", "0.2..<0.3", "-1..", "..<0", "..1e+20", "0.5...75"])
def test_a_range_is_written_as_it_is_read(text):
    within = NumberRange.parse(text)
    assert NumberRange.parse(str(within)) == within


def test_the_list_offers_ranges_and_says_them_in_words(study, client, owner):
    study.members.create(user=owner, role="owner")
    client.force_login(owner)
    address = reverse("admin:evaluation_item_list", args=[study.slug])
    shown = client.get(address, {"range": "acceptability@birch:2..<3"}).content.decode()
    assert "acceptability of birch, from 2 to below 3" in shown
    assert '<option value="acceptability:0..3">' in shown
    # Of items with more than two responses none is the other one.
    assert "find-longer_than" not in shown
    assert "is no range" in client.get(address, {"range": "acceptability:2"}).content.decode()


def test_pairs_are_offered_by_the_lengths_of_their_responses(db, client, owner):
    study = launch(make_study(owner=owner, queries=2, training=False, checks=0))
    client.force_login(owner)
    address = reverse("admin:evaluation_item_list", args=[study.slug])
    assert '<option value="aspen:1..">' in client.get(address).content.decode()
    shown = client.get(address, {"longer_than": "aspen:-5..<0"}).content.decode()
    assert "aspen: from -5 to below 0 characters" in shown
