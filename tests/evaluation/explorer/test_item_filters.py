"""Filters of the list of items: which items and judgments each leaves, beside a plain reading of every row."""

import pytest

from analytics.frames.study import study_frame
from evaluation.explorer.item_filters import ItemFilters
from evaluation.filters import Filters
from evaluation.models import AnswerText, Item, ItemFlag, Judgment
from evaluation.refusals import FieldsRefused
from evaluation.selectors import counting_judgments
from evaluation.services.answers import load_answers
from evaluation.services.exclusions import exclude
from evaluation.services.tallies import recount
from tests.analytics.reports.judging import answer, judge, judged_study

PAIR = "aspen | birch"
KEYS = ("llama3:70b", "team@model:1.5")


@pytest.fixture(scope="module")
def made(around_module):
    """Twelve queries in three pairs of systems, three people and two judges; some of it left out."""
    study = judged_study("contrast", systems=("aspen", "birch", "cedar"), items_per_query=3)
    judge(study, raters=3)
    judge(study, raters=2, kind="judge")
    study.raters.filter(pseudonym="person-2").update(group="experts")
    study.queries.filter(key__in=["q1", "q3"]).update(category="odd")
    items = list(study.items.order_by("pk"))
    exclude(study=study, reason="guessed", rater=study.raters.get(pseudonym="person-0"))
    exclude(study=study, reason="slipped", judgment=items[0].judgments.get(rater__pseudonym="person-1"))
    Judgment.objects.filter(item=items[1], rater__pseudonym="person-1").update(surplus=True)
    Item.objects.filter(pk=items[2].pk).update(withdrawn_at="2026-01-01T00:00Z")
    ItemFlag.objects.create(item=items[3], reason="skipped")
    reasoned = items[4].judgments.order_by("pk").first()
    AnswerText.objects.create(judgment=reasoned, question="justification", text="Straße, 50 % Ähnlichkeit")
    return study


@pytest.fixture
def study(db, made):
    return made


def filters_of(study, **given):
    names = {"from_": "from"}
    return ItemFilters.parse(study, {names.get(name, name): value for name, value in given.items()})


def label(row):
    return next((each.label for each in load_answers(row) if each.question == "preference"), None)


def preferred(row):
    return dict(zip(("r1", "r2"), row.item.systems_key.split(" | "), strict=True)).get(label(row))


def counts(study):
    kept = set(counting_judgments(study).values_list("pk", flat=True))
    return lambda row: row.pk in kept


def longer_than(item, system, least, most):
    """The item, if its other response is by so many characters longer."""
    responses = item.stimulus["responses"]
    own = [len(each["text"]) for each in responses if each["system"] == system]
    others = [len(each["text"]) for each in responses if each["system"] != system]
    return {item.pk} if own and least <= others[0] - own[0] <= most else set()


OF_JUDGMENTS = [
    ({"by": ["judge"]}, lambda row: row.rater.kind == "judge"),
    ({"by": ["judge", "person"]}, lambda row: True),
    ({"answer": ["preference:r1"]}, lambda row: label(row) == "r1"),
    ({"answer": ["preference:r1", "preference:tie"]}, lambda row: label(row) in ("r1", "tie")),
    ({"winner": ["preference:cedar"]}, lambda row: preferred(row) == "cedar"),
    ({"winner": ["preference:birch"], "by": ["judge"]},
     lambda row: preferred(row) == "birch" and row.rater.kind == "judge"),
    ({"pair": [PAIR]}, lambda row: row.item.systems_key == PAIR),
    ({"longer_than": ["birch:1.."]}, lambda row: row.item_id in longer_than(row.item, "birch", 1, 10**6)),
    ({"longer_than": ["aspen:-3..<0", "cedar:2..5"]},
     lambda row: row.item_id in (longer_than(row.item, "aspen", -3, -1) | longer_than(row.item, "cedar", 2, 5))),
    ({"outcome": ["skipped"]}, lambda row: row.outcome == "skipped"),
    ({"state": ["surplus"]}, lambda row: row.surplus),
    ({"state": ["flagged"]}, lambda row: row.item.flags.exists()),
    ({"state": ["withdrawn", "flagged"]}, lambda row: bool(row.item.withdrawn_at) or row.item.flags.exists()),
    ({"texts": ["yes"]}, lambda row: row.texts.exists()),
    ({"rater": ["person-1"]}, lambda row: row.rater.pseudonym == "person-1"),
    ({"group": ["experts"]}, lambda row: row.rater.kind != "person" or row.rater.group == "experts"),
    ({"category": ["odd"], "answer": ["preference:tie"]},
     lambda row: row.item.query.category == "odd" and label(row) == "tie"),
    ({"q": ["q1"]}, lambda row: "q1" in row.item.key or "q1" in row.item.query.text),
]  # fmt: skip


@pytest.mark.parametrize(("given", "keep"), OF_JUDGMENTS, ids=[str(given) for given, _ in OF_JUDGMENTS])
def test_a_filter_leaves_the_judgments_and_items_that_a_plain_reading_does(study, given, keep):
    filters = filters_of(study, **given)
    rows = [
        row
        for row in Judgment.objects.filter(study=study).select_related("item__query", "rater")
        if keep(row)
    ]
    assert sorted(each.pk for each in filters.judgments(study)) == sorted(row.pk for row in rows)
    assert [each.pk for each in filters.items(study)] == sorted({row.item_id for row in rows})
    assert (filters.n_items(study), filters.n_judgments(study)) == (
        len({row.item_id for row in rows}),
        len(rows),
    )


@pytest.mark.parametrize(
    "given",
    [{}, {"by": ["person"]}, {"rater": ["judge-0"]}, {"category": ["odd"]}, {"arm": ["CtxGen-CtxEval"]}],
)
def test_counting_judgments_are_those_of_the_report(study, given):
    known = {name: value for name, value in given.items() if name in ("rater", "category", "arm")}
    frame = study_frame(study, Filters.parse(study, known))
    groups = [each for each in frame.judges_apart if given.get("by") != ["person"] or each.kind == "person"]
    assert filters_of(study, state=["counting"], **given).n_judgments(study) == sum(
        each.judgments for each in groups
    )


def test_settled_labels_are_found_beside_a_group_of_people(study):
    settler = study.raters.create(kind="settled", pseudonym="settler", in_figures=False)
    item = study.items.order_by("pk")[5]
    answer(study, settler, item, "r1")
    filters = filters_of(study, by=["settled"], group=["experts"])
    assert list(filters.items(study)) == [item]
    assert filters.n_judgments(study) == 1


def test_states_of_judgments_and_of_items_are_asked_of_the_same_row(study):
    assert (
        filters_of(study, state=["excluded"]).n_judgments(study)
        == Judgment.objects.filter(study=study, rater__pseudonym="person-0").count() + 1
    )
    assert filters_of(study, state=["excluded", "withdrawn"]).n_items(study) == 1


def test_a_list_as_of_a_snapshot_keeps_all_items_and_the_judgments_of_then(study):
    first = study.judgments.order_by("pk").first()
    filters = filters_of(study, until=[str(first.pk)])
    assert filters.n_judgments(study) == 1
    assert filters.n_items(study) == study.items.count()
    assert filters_of(study, until=[str(first.pk)], by=["person"]).n_items(study) == 1


MAJORITIES = [{"majority": ["r1"]}, {"majority": ["any"]}, {"majority": ["none"]}, {"vs": ["differ"]},
              {"vs": ["agree"], "majority": ["tie"]}]  # fmt: skip


@pytest.mark.parametrize("given", MAJORITIES, ids=str)
def test_majorities_as_of_a_judgment_are_those_of_then(study, given):
    """Three who come later, and say the opposite, change today's majorities alone."""
    while recount(study):
        pass
    until = str(study.judgments.order_by("pk").last().pk)
    before = [each.pk for each in filters_of(study, **given).items(study)]
    items = list(study.items.filter(role="main", withdrawn_at=None).order_by("pk"))[:40]
    for number in range(3):
        rater = study.raters.create(kind="person", pseudonym=f"late-{number}")
        for each in items:
            answer(study, rater, each, "r2")
    while recount(study):
        pass
    assert [each.pk for each in filters_of(study, until=[until], **given).items(study)] == before
    assert [each.pk for each in filters_of(study, **given).items(study)] != before
    assert [each.pk for each in filters_of(study, majority=["r2"]).items(study)] >= [items[0].pk]


@pytest.mark.parametrize(
    ("words", "n"),
    [("straße", 1), ("STRASSE", 0), ("STRAßE", 1), ("50 % ähnl", 1), ("0 % q", 1), ("%", 1), ("_", 0), ("\x00", 108),
     ("aspen answers", 72), ("ASPEN cedar q1", 9), ("nobody", 0)],
)  # fmt: skip
def test_words_are_found_inside_others_and_all_of_them_in_one_item(study, words, n, monkeypatch):
    filters = filters_of(study, q=[words])
    assert filters.n_items(study) == n
    monkeypatch.setattr("evaluation.explorer.search.RARE", 0)
    assert filters.n_items(study) == n


def test_an_address_leads_to_the_same_filters(study):
    given = {
        "q": ["aspen"], "role": ["all"], "pair": [PAIR], "by": ["judge"], "answer": ["preference:r1"],
        "state": ["counting"], "winner": ["preference:aspen"], "majority": ["r1"], "vs": ["differ"], "outcome": ["ok"],
        "texts": ["yes"], "until": ["7"], "sort": ["newest"], "category": ["odd"], "rater": ["judge-0", "judge-1"],
    }  # fmt: skip
    filters = filters_of(study, **given)
    again = {}
    for name, value in filters.pairs:
        again.setdefault(name, []).append(value)
    assert again == given
    assert ItemFilters.parse(study, again) == filters
    assert filters_of(study, role=["main"], sort=["position"], q=[""]).pairs == []


@pytest.mark.parametrize(
    ("given", "name", "sentence"),
    [
        ({"role": ["gold"]}, "role", "Role: there is no 'gold', but main, training"),
        ({"role": ["main", "all"]}, "role", "Role takes one value, not 2: all, main."),
        (
            {"pair": ["aspen"]},
            "pair",
            "No item of the study has the systems 'aspen' (its pairs: aspen | birch",
        ),
        (
            {"by": ["robot"]},
            "by",
            "Judged by: there is no 'robot', but person, judge, simulated rater, settled labels.",
        ),
        ({"answer": ["preference"]}, "answer", "is no answer: write it as question:value"),
        ({"answer": ["taste:r1"]}, "answer", "The study has no question 'taste' (its questions: "),
        ({"answer": ["justification:x"]}, "answer", "is answered by texts, which are searched for words."),
        ({"answer": ["satisfied:much"]}, "answer", "'much' is no number."),
        ({"winner": ["preference:oak"]}, "winner", "The study has no system 'oak' (its systems: aspen"),
        ({"winner": ["satisfied:aspen"]}, "winner", "No question 'satisfied' prefers a system"),
        ({"vs": ["x"]}, "vs", "People and judges: there is no 'x', but majorities differ, majorities agree."),
        (
            {"answer": ["preference:r9"]},
            "answer",
            "'r9' is no answer to 'preference' (its answers: r1, r2, tie).",
        ),
        (
            {"answer": ["satisfied.f1.r9:1"]},
            "answer",
            "No item of the study has a response 'r9' (its",
        ),
        (
            {"answer": ["preference@cedar:r1"]},
            "answer",
            "Answers to 'preference' are not about single responses, so none is of a system; write "
            "winner=preference:system",
        ),
        (
            {"answer": ["satisfied.r1@cedar:1"]},
            "answer",
            "'satisfied' has no part 'r1@cedar' (its parts: f1.r1).",
        ),
        (
            {"answer": ["satisfied.nonsense:1"]},
            "answer",
            "'satisfied' has no part 'nonsense' (its parts: f1.r1).",
        ),
        ({"answer": ["satisfied.f0.r1:1"]}, "answer", "'satisfied' has no part 'f0.r1'"),
        (
            {"answer": ["preference.r1:r1"]},
            "answer",
            "'preference' has no part 'r1' (it is about the item as a whole).",
        ),
        ({"answer": ["satisfied:2"]}, "answer", "'2' is no answer to 'satisfied' (its answers: 0 to 1)."),
        ({"majority": ["r9"]}, "majority", "'r9' is no answer to 'preference' (its answers: r1, r2, tie)."),
        ({"until": ["-1"]}, "until", "'-1' is no judgment's id."),
        ({"q": ["a b c d e f g h i j k"]}, "q", "Search for at most 10 words"),
        ({"category": ["none"]}, "category", "The study has no category 'none'"),
    ],
)
def test_what_does_not_fit_is_refused_by_its_name(study, given, name, sentence):
    with pytest.raises(FieldsRefused) as refused:
        filters_of(study, **given)
    assert list(refused.value.by_field) == [name]
    assert sentence in refused.value.by_field[name][0]


@pytest.fixture
def of_models(db):
    """A study of systems that are called as models are, of which two people judged preferences and checklists."""
    study = judged_study("models", queries=2, systems=KEYS)
    for number in range(2):
        rater = study.raters.create(kind="person", pseudonym=f"person-{number}")
        for item in study.items.all():
            answer(study, rater, item, ("r1", "r2")[number], checks={"f1.r1": 1 - number, "f1.r2": number})
    return study


@pytest.mark.parametrize("system", KEYS)
def test_systems_are_named_whatever_their_keys_have_in_them(of_models, system):
    rows = list(Judgment.objects.filter(study=of_models).select_related("item"))
    satisfied = {
        row.pk
        for row in rows
        for each in load_answers(row)
        if each.part and each.number == 0
        and row.item.systems_key.split(" | ")[int(each.part.removeprefix("f1.r")) - 1] == system
    }  # fmt: skip
    asked = {
        "winner": (f"preference:{system}", {row.pk for row in rows if preferred(row) == system}),
        "answer": (f"satisfied@{system}:0", satisfied),
        "range": (f"satisfied@{system}:0..0", satisfied),
        "longer_than": (
            f"{system}:-100..100",
            {row.pk for row in rows if longer_than(row.item, system, -100, 100)},
        ),
    }
    for name, (value, wanted) in asked.items():
        filters = filters_of(of_models, **{name: [value]})
        assert {each.pk for each in filters.judgments(of_models)} == wanted, name
        assert filters.pairs == [(name, value)]
        assert wanted, name
