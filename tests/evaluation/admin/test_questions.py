"""Scales, choices and definitions of a draft are edited in real fields; what can't be asked is refused."""

from typing import Any

import pytest
from django.urls import reverse

from evaluation.models import Question, Study, StudyMember
from evaluation.services.studies.creation import create_study
from tests.evaluation.admin import test_forms
from tests.evaluation.admin.conftest import signed_in
from tests.evaluation.admin.test_forms import values_of

pytestmark = pytest.mark.django_db


def address(study: Study) -> str:
    return test_forms.address(study, "questions")


def draft_of(protocol: str, editor: Any) -> Study:
    study = create_study(slug=protocol.replace("_", "-"), title="Draft", protocol=protocol)
    study.arms.create(key="all", label="All")
    StudyMember.objects.create(study=study, user=editor, role=StudyMember.Role.EDITOR)
    return study


def fields_of(data: dict[str, Any], question: Question) -> str:
    """The beginning of the names of that question's fields."""
    return next(
        name.removesuffix("-id")
        for name, value in data.items()
        if name.startswith("questions-") and name.endswith("-id") and str(value) == str(question.pk)
    )


@pytest.mark.parametrize(
    "protocol",
    [
        "aspects", "ranking", "context_validation", "relevance", "answer_pairs", "question_quality",
        "justification_coding",
    ],
)  # fmt: skip
def test_saving_untouched_changes_no_question(protocol: str, colleague: Any) -> None:
    study = draft_of(protocol, colleague)
    before = list(study.questions.values())
    client = signed_in(colleague)
    answer = client.post(address(study), values_of(client.get(address(study))))
    assert answer.status_code == 302, answer.context["errors"]
    assert list(study.questions.values()) == before


def test_a_scale_its_labels_and_its_definition(colleague: Any) -> None:
    study = draft_of("aspects", colleague)
    question = study.questions.get(key="formality")
    client = signed_in(colleague)
    page = client.get(address(study))
    assert "-1 | Too casual" in page.content.decode()
    data = values_of(page)
    name = fields_of(data, question)
    data |= {
        f"{name}-help": "Is it worded as the question is?",
        f"{name}-options_1": "1", f"{name}-options_2": "4", f"{name}-options_4": "2",
        f"{name}-options_5": "1 | Slang\r\n2 | Plain | As one would speak to a stranger.\r\n4 | Stiff",
    }  # fmt: skip
    answer = client.post(address(study), data)
    assert answer.status_code == 302, answer.context["errors"]
    question.refresh_from_db()
    assert question.help == "Is it worded as the question is?"
    assert question.options == {
        "1": "Slang", "2": "Plain", "help:2": "As one would speak to a stranger.", "4": "Stiff",
        "form": {"over": "response", "low": 1, "high": 4, "ideal": 2},
    }  # fmt: skip


def test_the_better_end_of_a_scale(colleague: Any) -> None:
    """Untouched values stay as they are, given or not."""
    study = draft_of("question_quality", colleague)
    study.questions.filter(key="clarity").update(
        options={"1": "Poor", "form": {"over": "response", "low": 1, "high": 10}}
    )
    client = signed_in(colleague)
    page = client.get(address(study))
    data = values_of(page)
    name = fields_of(data, study.questions.get(key="usefulness"))
    data[f"{name}-options_6"] = "lower"
    answer = client.post(address(study), data)
    assert answer.status_code == 302, answer.context["errors"]
    form = {question.key: question.options.get("form", {}) for question in study.questions.all()}
    assert form["usefulness"]["direction"] == "lower"
    assert (form["complexity"]["direction"], form["overall"]["direction"]) == ("lower", "higher")
    assert "direction" not in form["clarity"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"options_1": "5"}, "low below high"),
        ({"options_4": "9"}, "the ideal 9 is not between"),
        ({"options_5": "7 | Much"}, "7 is not a point of the scale"),
        ({"options_3": "0.001"}, "a scale has at most 21 points"),
        ({"options_1": "few"}, "Enter a number"),
        ({"options_6": "lower"}, "none beside an ideal"),
    ],
)
def test_a_scale_that_can_t_be_asked(changes: dict[str, str], said: str, colleague: Any) -> None:
    study = draft_of("aspects", colleague)
    question = study.questions.get(key="factuality")
    client = signed_in(colleague)
    data = values_of(client.get(address(study)))
    name = fields_of(data, question)
    answer = client.post(
        address(study), data | {f"{name}-{field}": value for field, value in changes.items()}
    )
    assert answer.status_code == 200
    assert said in answer.content.decode()
    assert study.questions.get(key="factuality").options == question.options


def test_a_codebook_is_edited_line_by_line(colleague: Any) -> None:
    study = draft_of("justification_coding", colleague)
    question = study.questions.get(key="criteria")
    client = signed_in(colleague)
    data = values_of(client.get(address(study)))
    name = fields_of(data, question)
    lines = "true | True | What it says is so.\nshort | Short\n"
    answer = client.post(address(study), data | {f"{name}-options_0": lines})
    assert answer.status_code == 302, answer.context["errors"]
    options = study.questions.get(key="criteria").options
    assert {key: value for key, value in options.items() if isinstance(value, str)} == {
        "true": "True",
        "help:true": "What it says is so.",
        "short": "Short",
    }
    assert options["form"]["choices"] == ["true", "short"]
    answer = client.post(address(study), data | {f"{name}-options_0": "so so | Well"})
    assert answer.status_code == 200
    assert "can&#x27;t be a choice" in answer.content.decode()


def test_a_preference_becomes_graded_and_then_has_words(colleague: Any) -> None:
    study = draft_of("pairwise", colleague)
    client = signed_in(colleague)
    data = values_of(client.get(address(study)))
    name = fields_of(data, study.questions.get(key="preference"))
    answer = client.post(address(study), data | {f"{name}-options_1": "5"})
    assert answer.status_code == 302, answer.context["errors"]
    page = client.get(address(study))
    assert "Words for grade 2, after the response" in page.content.decode()
    data = values_of(page) | {f"{name}-options_2": "a bit better", f"{name}-options_3": "far better"}
    answer = client.post(address(study), data)
    assert answer.status_code == 302, answer.context["errors"]
    assert study.questions.get(key="preference").options == {
        "tie": "Tie", "1": "a bit better", "2": "far better", "form": {"points": 5},
    }  # fmt: skip
    client.post(address(study), values_of(client.get(address(study))) | {f"{name}-options_1": ""})
    assert "form" not in study.questions.get(key="preference").options


def test_a_preference_tells_two_bad_responses_from_two_good_ones(colleague: Any) -> None:
    study = draft_of("pairwise", colleague)
    client = signed_in(colleague)
    page = client.get(address(study))
    assert "“Both are bad” apart from “both are good”" in page.content.decode()
    name = fields_of(values_of(page), study.questions.get(key="preference"))
    answer = client.post(address(study), values_of(page) | {f"{name}-options_3": "on"})
    assert answer.status_code == 302, answer.context["errors"]
    assert study.questions.get(key="preference").options == {"tie": "Tie", "form": {"both_bad": True}}
    page = client.get(address(study))
    assert "Label of “both are bad”" in page.content.decode()
    data = values_of(page)
    answer = client.post(address(study), data | {f"{name}-options_2": "5"})
    assert answer.status_code == 200
    assert "true only where there are ties and no grades" in answer.content.decode()
    answer = client.post(address(study), data | {f"{name}-options_1": "Neither helps"})
    assert answer.status_code == 302, answer.context["errors"]
    preference = study.questions.get(key="preference")
    assert preference.options["both_bad"] == "Neither helps"
    data = values_of(client.get(address(study)))
    del data[f"{name}-options_4"]
    assert client.post(address(study), data).status_code == 302
    # Its words stay for when it is offered again; a tie has its own back.
    assert "form" not in study.questions.get(key="preference").options
    assert study.questions.get(key="preference").options["tie"] == "Tie"


def test_a_new_scale_can_be_asked_at_once(colleague: Any) -> None:
    study = draft_of("aspects", colleague)
    client = signed_in(colleague)
    data = values_of(client.get(address(study)))
    n = int(data["questions-TOTAL_FORMS"])
    data |= {
        "questions-TOTAL_FORMS": n + 1, f"questions-{n}-key": "humour", f"questions-{n}-kind": "scale",
        f"questions-{n}-prompt": "Humour", f"questions-{n}-shown": "always", f"questions-{n}-position": 20,
        f"questions-{n}-study": study.pk, f"questions-{n}-id": "",
    }  # fmt: skip
    answer = client.post(address(study), data)
    assert answer.status_code == 302, answer.context["errors"]
    assert study.questions.get(key="humour").options == {"form": {"over": "response", "low": 1, "high": 5}}
    assert study.protocol_object.spec_problems({"questions": [
        {"key": each.key, "kind": each.kind, "prompt": each.prompt, "help": each.help, "required": each.required,
         "shown": each.shown, "options": each.options}
        for each in study.questions.all()
    ]}) == []  # fmt: skip


def test_a_study_of_any_protocol_is_begun(owner: Any) -> None:
    client = signed_in(owner)
    add = reverse("admin:evaluation_study_add")
    page = client.get(add).content.decode()
    assert "Ratings by aspect" in page
    data = {"title": "Mine", "slug": "mine", "protocol": "relevance", "arms": "plain"}
    assert client.post(add, data).status_code == 302
    assert Study.objects.get(slug="mine").questions.get(key="relevance").options["form"]["over"] == "value"
