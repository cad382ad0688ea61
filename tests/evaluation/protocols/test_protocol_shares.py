"""Shares that a study names: what keeps one from being computed, in words; and that they are frozen with the study."""

import pytest
from django.core.exceptions import ValidationError
from hypothesis import given
from hypothesis import strategies as st

from evaluation.admin.design.shares import SharesField, said_share
from evaluation.protocols import Kind, QuestionSpec
from evaluation.protocols.requirements.shares import find_share_problems, read_shares
from evaluation.refusals import Refused
from evaluation.services.studies.compilation import compile_spec
from evaluation.services.studies.launch import launch_study
from tests.evaluation.admin.test_questions import draft_of

PARTS = {"over": "claim"}
RELEVANT = QuestionSpec("relevant", Kind.CHECKLIST, "Relevant?", options={"form": PARTS})
CORRECT = QuestionSpec(
    "correct", Kind.CHOICE, "Correct?", options={"form": PARTS | {"choices": ["yes", "no", "unsure"]}}
)
WORTH = QuestionSpec(
    "worth", Kind.SCALE, "Worth?", options={"form": PARTS | {"low": 0, "high": 0.4, "step": 0.1}}
)
WHOLE = QuestionSpec("whole", Kind.SCALE, "Overall", options={"form": {"low": 1, "high": 5}})
TAGS = QuestionSpec(
    "tags", Kind.CHECKLIST, "Tags", options={"form": {"over": "choice", "choices": ["a", "b"]}}
)
SATISFIED = QuestionSpec("satisfied", Kind.CHECKLIST, "Satisfied?")
WHY = QuestionSpec("why", Kind.TEXT, "Why?", options={"form": PARTS})
QUESTIONS = (RELEVANT, CORRECT, WORTH, WHOLE, TAGS, SATISFIED, WHY)


def side(question, *values):
    return {"question": question, "values": list(values)}


def share(of=None, among=None, **changes):
    return {
        "key": "precision",
        "label": "Precision",
        "of": of or side("correct", "yes"),
        "among": among or side("relevant", "yes"),
        **changes,
    }


def problems(*shares, compares_pairs=False):
    return [str(each) for each in find_share_problems(list(shares), QUESTIONS, compares_pairs=compares_pairs)]


@pytest.mark.parametrize(
    "sound",
    [
        share(),
        share(among=side("correct", "yes", "no")),
        share(of=side("worth", 0.3, 0.4), among=side("worth", "0.1", "0.2", "0.3", "0.4")),
        share(of=side("relevant", "no"), among=side("correct", "no", "unsure")),
        share(of=side("whole", 4, 5), among=side("whole", 1, 2, 4, 5)),
        share(of=side("satisfied", "yes"), among=side("satisfied", "yes", "no")),
    ],
)
def test_a_share_of_what_is_asked_is_sound(sound):
    assert problems(sound) == []


WRONG = [
    (share(key="a b"), "shares.1: a key is letters, digits, - and _, at most 60"),
    (share(label=" "), "shares.precision: needs a label of one line, at most 80 characters, without |"),
    (share(label="a | b"), "needs a label of one line"),
    (share(more=1), "has 'more', which no share has"),
    (share(of={"question": "correct"}), "of must be an object of a question, by key, and values"),
    (share(among=side("relevant")), "among must be an object of a question"),
    (share(of=side("right", "yes")), "the study has no question 'right'; it has: relevant, correct, worth"),
    (share(of=side("correct", "true")), "'true' is no answer to 'correct'; it has: yes, no, unsure"),
    (share(among=side("relevant", 1)), "'1' is no answer to 'relevant'; it has: no, yes"),
    (share(of=side("why", "yes")), "'why' is a text, and shares are of choices, scales and checklists"),
    (share(of=side("tags", "a")), "'tags' asks for several of its own choices"),
    (share(of=side("whole", 5)), "'whole' and 'relevant' must be asked of the same parts of an item"),
    (
        share(of=side("correct", "unsure"), among=side("correct", "yes", "no")),
        "'unsure' is counted and not in the denominator",
    ),
    (share(among=side("correct", "yes")), "the share is always 100 %"),
]  # fmt: skip
# The codes of all sentences about shares.
CODES = {
    "shares_list", "shares_number", "share_key", "share_twice", "share_unknown", "share_label", "share_side",
    "share_question", "share_kind", "share_tags", "share_satisfied", "share_value", "share_parts", "share_arms",
    "share_outside", "share_always",
}  # fmt: skip


@pytest.mark.parametrize(("wrong", "sentence"), WRONG)
def test_what_is_wrong_is_said(wrong, sentence):
    (found,) = problems(wrong)
    assert sentence in found


def test_every_share_is_refused_by_a_sentence_of_its_own():
    alone = [
        each.code
        for wrong, _ in WRONG
        for each in find_share_problems([wrong], QUESTIONS, compares_pairs=False)
    ]
    # The others take several shares, several arms, or no list at all: their tests are below.
    assert CODES - set(alone) == {
        "shares_list",
        "shares_number",
        "share_twice",
        "share_satisfied",
        "share_arms",
    }
    assert set(alone) < CODES


def test_shares_as_a_whole():
    assert problems(share(), share()) == ["shares.precision: two shares have this key"]
    many = [share(key=f"s{number}") for number in range(21)]
    assert problems(*many) == ["shares: at most 20 shares, has 21"]
    assert "must be a list of objects" in str(next(find_share_problems({}, QUESTIONS, compares_pairs=False)))


def test_satisfied_follow_ups_of_pairs_are_counted_with_the_preference():
    of_pairs = share(of=side("satisfied", "yes"), among=side("satisfied", "yes", "no"))
    assert "is counted with the preference" in problems(of_pairs, compares_pairs=True)[0]


def test_two_questions_that_no_arm_asks_together():
    apart = [
        QuestionSpec("one", Kind.CHECKLIST, "One", shown="with_context", options={"form": {"over": "item"}}),
        QuestionSpec("two", Kind.CHECKLIST, "Two", shown="without_context", options={"form": {"over": "item"}}),
    ]  # fmt: skip
    found = find_share_problems(
        [share(of=side("one", "yes"), among=side("two", "yes"))], apart, compares_pairs=False
    )
    assert [str(each) for each in found] == ["shares.precision: no arm asks both 'one' and 'two'"]


def test_values_are_numbers_for_figures():
    (found,) = read_shares([share(of=side("worth", "0.3"), among=side("correct", "no", "unsure"))])
    assert [round(each, 9) for each in found.of.numbers(WORTH)] == [0.3]
    assert found.among.numbers(CORRECT) == {1, 2}


WORDS = st.text("abcXYZ-_09", min_size=1, max_size=8)
SIDES = st.builds(lambda key, values: side(key, *values), WORDS, st.lists(WORDS, min_size=1, max_size=3))


LABELS = st.text("ab ,=1", min_size=1, max_size=9).map(str.strip).filter(bool)


@given(st.lists(st.builds(share, SIDES, SIDES, key=WORDS, label=LABELS), max_size=3))
def test_lines_of_the_form_read_back_as_they_were(shares):
    field = SharesField()
    text = field.prepare_value(shares)
    assert field.clean(text) == shares
    assert not field.has_changed(shares, text)
    assert field.has_changed(shares, f"{text}\nmore | More | a = b | c = d")
    assert field.has_changed(shares, "no line of a share")


def test_a_line_that_is_no_share_is_said_with_its_number():
    field = SharesField()
    lines = "\n".join(
        ["a | A | b = c", "a b | A | b = c | d = e", "a | A | b: c | d = e", "a || b = c | d = e"]
    )
    with pytest.raises(ValidationError) as wrong:
        field.clean(lines)
    one, two, three, four = wrong.value.messages
    assert one.startswith("Line 1: 3 parts, and a share has 4: key | label |")
    assert two == "Line 2: 'a b' is no key: letters, digits, - and _, at most 60."
    assert three == "Line 3: 'b: c' must be a question's key, =, and values with commas between them."
    assert four == "Line 4: the label is missing or longer than 80 characters."


def test_in_words():
    assert said_share(share()) == "correct = yes among relevant = yes"


@pytest.mark.django_db
def test_a_study_without_shares_has_the_spec_that_it_had_and_one_with_them_keeps_them(colleague):
    study = draft_of("question_quality", colleague)
    assert "shares" not in compile_spec(study)
    key = next(each["key"] for each in compile_spec(study)["questions"] if each["kind"] == "scale")
    study.shares = [share(of=side(key, 99), among=side(key, 1, 99))]
    study.save()
    with pytest.raises(Refused, match="'99' is no answer to"):
        launch_study(study)
    study.shares = [share(of=side(key, 5), among=side(key, 1, 5))]
    study.save()
    assert compile_spec(study)["shares"] == study.shares
