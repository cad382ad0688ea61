"""A draft is edited in real fields, frozen rows not at all, and previews are the participant's own screen."""

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from evaluation.models import Item, Study, StudyMember
from evaluation.services.studies.launch import launch_study
from tests.evaluation.admin.conftest import signed_in

pytestmark = pytest.mark.django_db


def values_of(page: Any) -> dict[str, Any]:
    """Every field of a change page as a browser would send it back, inlines with their management forms."""
    forms = [page.context["adminform"].form]
    for inline in page.context["inline_admin_formsets"]:
        forms += [inline.formset.management_form, *inline.formset.forms]
    sent: dict[str, Any] = {}
    for form in forms:
        for bound in form:
            value = bound.value()
            if hasattr(bound.field, "keys"):  # labels: one field each
                parts = bound.field.widget.decompress(value)
                given = {f"{bound.html_name}_{n}": part for n, part in enumerate(parts)}
                sent |= {name: part for name, part in given.items() if part is not None and part is not False}
            elif value is not None and value is not False:
                sent[bound.html_name] = value
    return sent


def address(study: Study, page: str = "") -> str:
    """The address of the design, or of one of its pages."""
    query = f"?page={page}" if page else ""
    return reverse("admin:evaluation_study_change", args=[study.slug]) + query


def test_begun_from_a_protocol(owner: Any) -> None:
    client = signed_in(owner)
    add = reverse("admin:evaluation_study_add")
    assert "Pairwise comparison" in client.get(add).content.decode()
    for wrong in ({}, {"slug": "a b"}, {"protocol": "nonsense"}, {"arms": "many"}):
        data = {"title": "Mine", "slug": "mine", "protocol": "pairwise", "arms": "contrast"} | wrong
        if not wrong:
            data.pop("title")
        assert client.post(add, data).status_code == 200
    assert not Study.objects.exists()
    answer = client.post(add, {"title": "Mine", "slug": "mine", "protocol": "pairwise", "arms": "contrast"})
    study = Study.objects.get()
    assert answer["Location"] == address(study)
    assert StudyMember.objects.get().role == "owner"
    assert study.arms.count() == 3
    assert study.questions.count() == 3
    assert study.texts.count() == 5


def test_an_arm_per_item_needs_each_query_once(editors_draft: Any, colleague: Any) -> None:
    client, study = signed_in(colleague), editors_draft
    data = values_of(client.get(address(study)))
    refused = client.post(address(study), data | {"arm_per": "item", "once_per": "item"})
    assert "needs “once per query”" in refused.content.decode()
    assert client.post(address(study), data | {"arm_per": "item"}).status_code == 302
    assert Study.objects.get(pk=study.pk).arm_per == "item"


def test_the_language_of_the_texts_is_a_tag_of_bcp_47(editors_draft: Any, colleague: Any) -> None:
    client, study = signed_in(colleague), editors_draft
    data = {
        name: value
        for name, value in values_of(client.get(address(study, "questions"))).items()
        if value is not None
    }
    refused = client.post(address(study, "questions"), data | {"texts_language": "Português"})
    assert "A language is written as in “de”, “pt-BR” or “zh-Hant”" in refused.content.decode()
    assert client.post(address(study, "questions"), data | {"texts_language": "zh-Hant"}).status_code == 302
    assert Study.objects.get(pk=study.pk).texts_language == "zh-Hant"


def test_a_stopping_rule_of_a_draft(editors_draft: Any, colleague: Any) -> None:
    client, study = signed_in(colleague), editors_draft
    data = values_of(client.get(address(study, "people")))
    for wrong, said in (
        ({"stopping_figure": "agreement", "stopping_until": "decided"}, "Agreement is never decided"),
        ({"stopping_figure": "win_rate", "stopping_until": "width", "stopping_points": ""}, "Say how narrow"),
    ):
        assert said in client.post(address(study, "people"), data | wrong).content.decode()
    rule = {"stopping_figure": "win_rate", "stopping_until": "width", "stopping_points": "5"}
    assert client.post(address(study, "people"), data | rule).status_code == 302
    study.refresh_from_db()
    assert study.stopping == {"figure": "win_rate", "half_width": 0.05}
    form = client.get(address(study, "people")).context["adminform"].form
    assert (form["stopping_until"].value(), form["stopping_points"].value()) == ("width", 5)
    assert client.post(address(study, "people"), data | {"stopping_figure": ""}).status_code == 302
    study.refresh_from_db()
    assert study.stopping == {}


def test_a_draft_s_rules_questions_texts_and_arms(editors_draft: Any, colleague: Any) -> None:
    client, study = signed_in(colleague), editors_draft

    def save(page: str, **changed: Any) -> None:
        data = values_of(client.get(address(study, page))) | changed
        given = {name: value for name, value in data.items() if value is not None}
        answer = client.post(address(study, page), given)
        assert answer.status_code == 302, answer.context["errors"]
        study.refresh_from_db()

    data = values_of(client.get(address(study, "questions")))
    save("questions")
    said = LogEntry.objects.filter(user=colleague).values_list("change_message", flat=True)
    assert set(said) <= {"[]"}
    crlf = {name: value.replace("\n", "\r\n") for name, value in data.items() if name.endswith("-body")}
    bodies = dict(study.texts.values_list("key", "body"))
    save("questions", **crlf)
    assert dict(study.texts.values_list("key", "body")) == bodies  # as browsers send it, and as it was
    preference = study.questions.get(key="preference").pk
    index = next(n for n in range(3) if int(data[f"questions-{n}-id"]) == preference)
    text = next(n for n in range(5) if study.texts.get(pk=data[f"texts-{n}-id"]).key == "guideline")
    save(
        "questions",
        **{
            "step_training": None, f"questions-{index}-prompt": "Which one?",
            f"questions-{index}-options_0": "Alike", f"texts-{text}-body": "Choose well.",
        },
    )  # fmt: skip
    assert study.steps["training"] is False
    question = study.questions.get(key="preference")
    assert (question.prompt, question.options) == ("Which one?", {"tie": "Alike"})
    assert study.texts.get(key="guideline").body == "Choose well."
    save(
        "people", attention_checks=2, attention_allowed_failures=0, qualification_pass_mark="",
        skips_per_participant=1, redundancy=4,
    )  # fmt: skip
    assert study.steps["attention"] == {"checks": 2, "allowed_failures": 0}
    assert (study.steps["training"], study.skips["per_participant"], study.redundancy) == (False, 1, 4)
    save("people", attention_warn="on", qualification_pass_mark=1, qualification_attempts=2)
    assert study.steps["attention"] == {"checks": 2, "allowed_failures": 0, "warn": True}
    assert study.steps["qualification"] == {"pass_mark": 1, "attempts": 2}
    save("material", **{"arms-0-label": "First arm"})
    assert study.arms.all()[0].label == "First arm"


@pytest.mark.parametrize("page", ["material", "questions", "people"])
def test_a_page_is_saved_by_itself(editors_draft: Any, colleague: Any, page: str) -> None:
    client, study = signed_in(colleague), editors_draft
    Study.objects.filter(pk=study.pk).update(
        steps=study.steps | {"qualification": {"pass_mark": 1}, "comments": False},
        skips={"per_participant": 1, "flag_after": None},
        stopping={"figure": "win_rate", "half_width": 0.05},
        groups=["experts", "crowd"],
        epsilon=0.2,
    )
    rows = [study.arms, study.questions, study.texts]
    before = Study.objects.values().get(pk=study.pk), [list(each.order_by("pk").values()) for each in rows]
    saved = client.post(address(study, page), values_of(client.get(address(study, page))))
    assert saved.status_code == 302, saved.context["errors"]
    assert saved["Location"] == address(study, page)
    assert (
        Study.objects.values().get(pk=study.pk),
        [list(each.order_by("pk").values()) for each in rows],
    ) == before


def test_what_is_wrong_is_said_on_the_page_that_it_is_on(editors_draft: Any, colleague: Any) -> None:
    client, study = signed_in(colleague), editors_draft
    Study.objects.filter(pk=study.pk).update(human_sample=2)
    data = values_of(client.get(address(study, "people")))
    rule = {"stopping_figure": "win_rate", "stopping_until": "decided"}
    page = client.post(address(study, "people"), data | rule)
    assert list(page.context["adminform"].form.errors) == ["stopping_figure"]
    assert '<details class="design-section further" id="further" open>' in page.content.decode()


def test_addresses_of_fields_lead_to_their_page(editors_draft: Any) -> None:
    from evaluation.admin.design.sections import design_url

    for field, end in (
        ("pay", "?page=people#id_pay"), ("questions", "?page=questions#questions-group"),
        ("human_sample", "?page=material#id_human_sample"), ("texts", "?page=questions#texts"),
    ):  # fmt: skip
        assert design_url(editors_draft, field) == address(editors_draft) + end


def test_an_arm_with_items_is_not_deleted(editors_draft: Any, colleague: Any) -> None:
    client = signed_in(colleague)
    data = values_of(client.get(address(editors_draft))) | {"arms-0-DELETE": "on"}
    assert client.post(address(editors_draft), data).status_code == 200
    assert editors_draft.arms.count() == 3


def test_a_lease_shorter_than_what_is_paid_is_refused(editors_draft: Any, colleague: Any) -> None:
    client = signed_in(colleague)
    data = values_of(client.get(address(editors_draft, "people"))) | {"paid_minutes": 90, "lease_minutes": 30}
    page = client.post(address(editors_draft, "people"), data)
    assert page.status_code == 200
    assert "at least the paid minutes" in page.content.decode()


def test_viewers_read_and_editors_of_elsewhere_do_not(
    editors_draft: Any, viewer: Any, mine: Any, theirs: Any
) -> None:
    client = signed_in(viewer)
    assert client.get(address(editors_draft)).status_code == 200
    assert client.post(address(editors_draft), {"title": "Taken over"}).status_code == 403
    assert client.post(address(theirs.study), {"title": "Taken over"}).status_code == 404
    assert not Study.objects.filter(title="Taken over").exists()


def test_what_was_frozen_stays(mine: Any, colleague: Any) -> None:
    client, study = signed_in(colleague), mine.study
    page = client.get(address(study))
    data = values_of(page)
    assert "redundancy" not in data
    forged = data | {
        "pay": "4.00", "seed": 99, "title": "Another", "redundancy": 9, "asker": "Y", "step_consent": "",
        "questions-0-prompt": "Forged", "texts-0-body": "Forged", "arms-0-label": "Forged",
    }  # fmt: skip
    before = Study.objects.values().get(pk=study.pk)
    assert client.post(address(study), forged).status_code == 302
    after = Study.objects.values().get(pk=study.pk)
    assert {name for name in after if after[name] != before[name]} == {"pay"}
    assert not study.questions.filter(prompt="Forged").exists()
    assert not study.texts.filter(body="Forged").exists()
    assert not study.arms.filter(label="Forged").exists()
    for model, values in (
        ("item", {"role": "training", "clarifying_question": "Forged"}), ("query", {"text": "Forged"}),
        ("response", {"text": "Forged"}), ("context", {"key": "Forged"}), ("rater", {"label": "Forged"}),
    ):  # fmt: skip
        row = mine.rows[model]
        assert (
            client.post(reverse(f"admin:evaluation_{model}_change", args=[row.pk]), values).status_code == 403
        )
        same = type(row).objects.values().get(pk=row.pk)
        assert "Forged" not in str(same)


def test_a_form_that_was_open_while_the_study_was_launched(
    editors_draft: Any, colleague: Any, monkeypatch: Any
) -> None:
    """The launch comes between the check of the rights and the writing."""
    from evaluation.admin.study.study_admin import StudyAdmin

    client = signed_in(colleague)
    where = address(editors_draft, "questions")
    data = values_of(client.get(where)) | {"asker": "Late", "texts-0-body": "Too late."}
    original = StudyAdmin.save_form

    def launch_first(self: Any, request: Any, form: Any, change: bool) -> Any:
        launch_study(Study.objects.get(pk=editors_draft.pk))
        return original(self, request, form, change)

    monkeypatch.setattr(StudyAdmin, "save_form", launch_first)
    assert client.post(where, data).status_code == 403
    # The launch was of this very request, and went with it.
    assert not editors_draft.texts.filter(body="Too late.").exists()


def test_rows_of_a_draft_are_corrected(editors_draft: Any, colleague: Any, viewer: Any) -> None:
    client = signed_in(colleague)
    query = editors_draft.queries.first()
    where = reverse("admin:evaluation_query_change", args=[query.pk])
    assert signed_in(viewer).post(where, {"text": "Mended?", "split": ""}).status_code == 403
    assert client.post(where, {"text": "Mended?", "category": "even", "split": "dev"}).status_code == 302
    query.refresh_from_db()
    assert (query.text, query.split) == ("Mended?", "dev")
    said = client.get(reverse("admin:evaluation_study_history", args=[editors_draft.slug])).content.decode()
    assert "Changed Text, Split of query" in said


def test_only_owners_delete_and_no_study_that_collects(
    editors_draft: Any, mine: Any, owner: Any, colleague: Any
) -> None:
    for user, study, status in ((colleague, editors_draft, 403), (owner, mine.study, 422)):
        where = reverse("admin:evaluation_study_delete", args=[study.slug])
        assert signed_in(user).post(where, {"post": "yes"}).status_code == status
    where = reverse("admin:evaluation_study_delete", args=[editors_draft.slug])
    assert "18 items" in signed_in(owner).get(where).content.decode()
    assert signed_in(owner).post(where, {"post": "yes"}).status_code == 302
    assert list(Study.objects.all()) == [mine.study]


# --- previews ---------------------------------------------------------------------------------------------------------


def test_an_item_of_a_draft_as_participants_see_it(editors_draft: Any, viewer: Any) -> None:
    item = editors_draft.items.filter(arm__key="CtxGen-CtxEval", role="main").first()
    where = reverse("admin:evaluation_item_preview", args=[item.pk])
    client = signed_in(viewer)
    page = client.get(where).content.decode()
    assert "<strong>aspen</strong> answers q0." in page
    assert "Follow-up 1 of q0?" in page
    assert page.index("<strong>aspen") < page.index("<strong>birch")
    turned = client.get(f"{where}?order=r2,r1").content.decode()
    assert turned.index("<strong>birch") < turned.index("<strong>aspen")
    wrong = client.post(where, {"preference": "r1"})
    assert wrong.status_code == 422
    assert "choices are missing" in wrong.content.decode()
    cells = {f"satisfied.f{n}.r{k}": "1" for n in (1, 2) for k in (1, 2)}
    fine = client.post(where, {"preference": "r1", "justification": "So it is, on the whole.", **cells})
    assert "taken as a complete judgment" in fine.content.decode()
    assert not editors_draft.judgments.exists()
    assert Item.objects.get(pk=item.pk).stimulus is None


def test_an_item_that_can_not_be_judged_yet(editors_draft: Any, colleague: Any) -> None:
    item = editors_draft.items.filter(role="main").first()
    item.item_responses.first().delete()
    where = reverse("admin:evaluation_item_preview", args=[item.pk])
    page = signed_in(colleague).get(where, follow=True).content.decode()
    assert "needs exactly 2 responses, has 1" in page


def test_the_prompt_of_a_judge_is_the_one_that_is_sent(mine: Any, viewer: Any, colleague: Any) -> None:
    from judging.models import Judge
    from judging.services.judges import preview_request

    judge = Judge.objects.create(
        study=mine.study, name="llm", backend="chat", endpoint=mine.endpoint, model="m"
    )
    where = reverse("admin:judging_judge_prompt", args=[judge.pk])
    page = signed_in(viewer).get(where, {"key": mine.item.key, "order": "r2,r1"})
    sent = preview_request(judge, mine.item, order="r2,r1")
    assert page.context["prompt"] == [(each["role"], each["content"]) for each in sent.messages]
    assert "no such item" in signed_in(viewer).get(where, {"key": "nothing"}).content.decode()
    heuristic = reverse("admin:judging_judge_prompt", args=[mine.judge.pk])
    assert (
        "it computes or draws its answers, and gets no prompt"
        in signed_in(viewer).get(heuristic).content.decode()
    )
