"""The pages of an item, a judgment, a participant and a rater."""

import html
import re
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evaluation.admin.explorer import item_page, rater_page
from evaluation.models import Exclusion, Judgment, Rater
from evaluation.services.exclusions import restore
from evaluation.services.judgments import JudgmentInput, record_judgments
from judging.models import Call, Judge
from tests.crowd import come, hand_in
from tests.evaluation.admin.conftest import signed_in
from tests.judging.build import make_judge_run

pytestmark = pytest.mark.django_db
ROWS = {
    "item": "evaluation_item",
    "judgment": "evaluation_judgment",
    "rater": "evaluation_rater",
    "participant": "annotator_participant",
}


def page_of(world: SimpleNamespace, model: str, page: str = "page") -> str:
    row = world.judgment.item if model == "item" else world.rows[model]
    return reverse(f"admin:{ROWS[model]}_{page}", args=[world.study.slug, row.pk])


def read(client: Any, address: str, **asked: str) -> str:
    answer = client.get(address, asked, follow=True)
    assert answer.status_code == 200
    return html.unescape(answer.content.decode())


PAGES = [("item", "page"), ("item", "screen"), ("judgment", "page"), ("judgment", "screen"), ("rater", "page"),
         ("participant", "page")]  # fmt: skip


@pytest.mark.parametrize(("model", "page"), PAGES)
def test_members_alone_read_them(
    mine: SimpleNamespace, viewer: Any, outsider: Any, model: str, page: str
) -> None:
    address = page_of(mine, model, page)
    assert signed_in(viewer).get(address, follow=True).status_code == 200
    assert signed_in(viewer).post(address).status_code == 405
    assert signed_in(outsider).get(address).status_code == 404


@pytest.mark.parametrize(("model", "page"), PAGES)
def test_of_another_study_there_is_none(mine: Any, theirs: Any, owner: Any, model: str, page: str) -> None:
    row = theirs.rows[model].pk
    address = reverse(f"admin:{ROWS[model]}_{page}", args=[mine.study.slug, row])
    assert signed_in(owner).get(address).status_code == 404


@pytest.mark.parametrize("model", ROWS)
def test_they_stand_in_the_place_of_the_old_ones(mine: SimpleNamespace, owner: Any, model: str) -> None:
    row = mine.judgment.item if model == "item" else mine.rows[model]
    old = reverse(f"admin:{ROWS[model]}_change", args=[row.pk])
    assert signed_in(owner).get(old).url == page_of(mine, model)


def test_an_item_stands_beside_all_its_judgments(mine: SimpleNamespace, owner: Any) -> None:
    judge = Rater.objects.create(study=mine.study, kind="judge", label="A judge", about={"model": "gpt-x"})
    item = mine.judgment.item
    record_judgments(
        study=mine.study,
        batch=[
            JudgmentInput(
                rater_id=judge.pk, item_id=item.pk, revision_id=mine.judgment.revision_id, outcome="unparsed",
                trace={"raw": "I can't say."},
            )
        ],
    )  # fmt: skip
    shown = read(signed_in(owner), page_of(mine, "item"))
    assert shown.index(str(mine.judgment.rater)) < shown.index("A judge") < shown.index("gpt-x")
    assert "It says more about it." in shown
    assert "unparsed" in shown
    assert reverse("admin:evaluation_judgment_page", args=[mine.study.slug, mine.judgment.pk]) in shown


def test_the_list_of_judgments_says_what_was_answered_and_why(mine: SimpleNamespace, owner: Any) -> None:
    study, item = mine.study, mine.judgment.item
    judge = Rater.objects.create(study=study, kind="judge", label="A judge")
    failed = JudgmentInput(
        rater_id=judge.pk, item_id=item.pk, revision_id=mine.judgment.revision_id, outcome="unparsed"
    )
    record_judgments(study=study, batch=[failed])
    page = signed_in(owner).get(reverse("admin:evaluation_judgment_list", args=[study.slug]))
    by_rater = {str(row.rater): row for row in page.context_data["cl"].result_list}
    row, refused = by_rater[str(mine.judgment.rater)], by_rater["A judge"]
    system = item.responses.get(system__key=item.stimulus["responses"][0]["system"]).system
    text = html.unescape(page.content.decode())
    # "r1" was preferred, and stands before what was ticked.
    assert f'<td class="field-said">preference: {system.label or system.key}; satisfied: ' in text
    assert "It says more about it." in text
    assert (row.card.marks, refused.card.marks) == (["excluded"], ["unparsed"])
    assert '<td class="field-marks">unparsed</td>' in text


def test_of_many_judgments_the_first_are_shown_and_all_on_request(
    mine: SimpleNamespace, owner: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(item_page, "MOST_SHOWN", 1)
    judge = Rater.objects.create(study=mine.study, kind="judge", label="A judge")
    [verdict] = record_judgments(
        study=mine.study,
        batch=[
            JudgmentInput(
                rater_id=judge.pk,
                item_id=mine.judgment.item_id,
                revision_id=mine.judgment.revision_id,
                outcome="unparsed",
            )
        ],
    )
    client, address = signed_in(owner), page_of(mine, "item")
    first = read(client, address, q="no")
    assert f'id="j{mine.judgment.pk}"' in first
    assert f'id="j{verdict.pk}"' not in first
    assert "1 of 2 are shown." in first
    [every] = re.findall(r'href="([^"]*)">Show all 2<', first)
    assert f'id="j{verdict.pk}"' in read(client, every)
    # From the page of its rater a judgment's place is there.
    of_rater = read(client, reverse("admin:evaluation_rater_page", args=[mine.study.slug, judge.pk]))
    assert f'href="{address}?judgments=all#j{verdict.pk}"' in of_rater


def test_what_a_model_replied_stands_behind_a_fold(mine: SimpleNamespace, owner: Any) -> None:
    study, item = mine.study, mine.judgment.item
    judge = Judge.objects.create(
        study=study, name="asked", backend="chat", model="gpt-x", endpoint=mine.endpoint
    )
    rater = Rater.objects.create(study=study, kind="judge", label="asked v1")
    run = make_judge_run(judge, mine.judgment.revision, rater)
    reply = {"state": "final", "outcome": "unparsed", "raw": "Both <b>fine</b>.", "error": "no choice"}
    Call.objects.create(run=run, item=item, order="r2,r1", **reply)
    given = {"rater_id": rater.pk, "item_id": item.pk, "revision_id": mine.judgment.revision_id}
    record_judgments(study=study, batch=[JudgmentInput(**given, outcome="unparsed", shown="r2,r1")])
    page = signed_in(owner).get(page_of(mine, "item"), {"order": "r1,r2"}).content.decode()
    assert '<pre dir="auto" tabindex="0">Both &lt;b&gt;fine&lt;/b&gt;.</pre>' in page
    assert "saw Response 2 first" in page
    prompt = reverse("admin:judging_judge_prompt", args=[judge.pk])
    assert f'hx-get="{prompt}?item={item.pk}&amp;order=r2%2Cr1&amp;step="' in page
    sent = signed_in(owner).get(prompt, {"item": item.pk, "order": "r2,r1"}).content.decode()
    assert sent.index('class="sent"') < sent.index("<pre") < sent.index("Back to the judge")


def test_systems_are_named_when_asked_for(mine: SimpleNamespace, owner: Any) -> None:
    client, address = signed_in(owner), page_of(mine, "item")
    key = mine.judgment.item.stimulus["responses"][0]["system"]
    label = mine.study.systems.get(key=key).label or key
    blind, named = read(client, address), read(client, address, systems="1")
    assert f">{label}<" not in blind
    assert f">{label}<" in named


def test_the_screen_stands_in_the_order_that_is_chosen(mine: SimpleNamespace, owner: Any) -> None:
    client = signed_in(owner)
    screens = [
        read(client, page_of(mine, "item", "screen"), order=order) for order in ("r1,r2", "r2,r1", "r9")
    ]
    firsts = [screen.index('id="h-r1"') < screen.index('id="h-r2"') for screen in screens]
    assert firsts == [True, False, True]
    shown = read(client, page_of(mine, "item"))
    assert f'screen/?order={mine.judgment.shown}"' in shown


def test_a_judgment_is_the_screen_with_its_answers(mine: SimpleNamespace, owner: Any) -> None:
    screen = read(signed_in(owner), page_of(mine, "judgment", "screen"))
    assert '<fieldset class="stack" disabled>' in screen
    chosen = [part for part in screen.split("<input") if 'name="preference"' in part and " checked" in part]
    assert [part.count('value="r1"') for part in chosen] == [1]
    assert "It says more about it.</textarea>" in screen


@pytest.mark.parametrize("model", ["item", "judgment", "participant"])
def test_excluding_leads_back_to_its_place(mine: SimpleNamespace, colleague: Any, model: str) -> None:
    restore(mine.exclusion, by=None)
    client, here = signed_in(colleague), page_of(mine, model)
    act = reverse("admin:evaluation_judgment_exclude", args=[mine.judgment.pk])
    assert act in read(client, here)
    back = f"{here}#j{mine.judgment.pk}"
    answer = client.post(f"{act}?next={back.replace('#', '%23')}", {"reason": "Of another item."})
    assert answer.url == back
    assert "Of another item." in read(client, here)
    assert Exclusion.objects.filter(judgment=mine.judgment, undone_at=None).count() == 1


@pytest.mark.parametrize("elsewhere", ["https://example.org/", "//example.org/", "javascript:alert(1)"])
def test_an_act_leads_nowhere_else(mine: SimpleNamespace, owner: Any, elsewhere: str) -> None:
    restore(mine.exclusion, by=None)
    act = reverse("admin:evaluation_judgment_exclude", args=[mine.judgment.pk])
    answer = signed_in(owner).post(f"{act}?next={elsewhere}", {"reason": "A slip."})
    assert answer.url == page_of(mine, "judgment")


def test_an_act_without_a_reason_is_asked_again(mine: SimpleNamespace, owner: Any) -> None:
    restore(mine.exclusion, by=None)
    here = page_of(mine, "item")
    act = f"{reverse('admin:evaluation_judgment_exclude', args=[mine.judgment.pk])}?next={here}"
    answer = signed_in(owner).post(act, {"reason": ""})
    assert answer.status_code == 422
    assert f'href="{here}"' in answer.content.decode()


def test_viewers_see_no_act(mine: SimpleNamespace, viewer: Any) -> None:
    for model in ROWS:
        assert "Reason</label>" not in read(signed_in(viewer), page_of(mine, model))


def test_a_rater_who_took_part_has_one_page(mine: SimpleNamespace, owner: Any) -> None:
    client = signed_in(owner)
    answer = client.get(page_of(mine, "rater"), {"systems": "1"})
    assert answer.url == f"{page_of(mine, 'participant')}?systems=1"
    shown = client.get(answer.url).content.decode()
    assert mine.participant.external_id in shown
    assert "It says more about it." in shown
    assert mine.participant.token not in shown


def test_a_rater_is_excluded_on_its_page(mine: SimpleNamespace, owner: Any) -> None:
    client, here = signed_in(owner), page_of(mine, "participant")
    act = f"{reverse('admin:evaluation_rater_exclude')}?next={here}%23rater&ids={mine.participant.rater_id}"
    assert act.split("?")[0] in read(client, here)
    assert client.post(act, {"reason": "Clicked through."}).url == f"{here}#rater"
    assert "Clicked through." in read(client, here)
    assert "rater excluded" in read(client, page_of(mine, "item"))


def test_judgments_of_a_rater_come_in_pages(mine: SimpleNamespace, owner: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(rater_page, "PER_PAGE", 1)
    last = hand_in(mine.participant.token).judgment
    client, address = signed_in(owner), page_of(mine, "participant")
    newest = read(client, address, systems="1")
    assert f'id="j{last.pk}"' in newest
    assert f'id="j{mine.judgment.pk}"' not in newest
    assert f'rel="next" href="{address}?before={last.pk}&systems=1"' in newest
    older = read(client, address, before=str(last.pk))
    assert f'id="j{mine.judgment.pk}"' in older
    assert 'rel="next"' not in older


def test_a_judge_has_a_page_of_its_own(mine: SimpleNamespace, owner: Any) -> None:
    judge = Rater.objects.create(study=mine.study, kind="judge", label="A judge", about={"model": "gpt-x"})
    address = reverse("admin:evaluation_rater_page", args=[mine.study.slug, judge.pk])
    assert "gpt-x" in signed_in(owner).get(address).content.decode()


def test_quality_leads_to_the_texts(mine: SimpleNamespace, owner: Any) -> None:
    quality = read(signed_in(owner), reverse("admin:evaluation_study_quality", args=[mine.study.slug]))
    assert page_of(mine, "participant") in quality


def test_neighbours_keep_the_list_and_the_systems(mine: SimpleNamespace, owner: Any) -> None:
    first, second = mine.study.items.filter(role="main").order_by("position", "pk")[:2]
    address = reverse("admin:evaluation_item_page", args=[mine.study.slug, first.pk])
    arm = mine.study.arms.get().key
    shown = read(signed_in(owner), address, arm=arm, systems="1", order="r1,r2")
    beyond = reverse("admin:evaluation_item_page", args=[mine.study.slug, second.pk])
    assert f'rel="next" href="{beyond}?arm={arm}&systems=1"' in shown
    assert f'href="{reverse("admin:evaluation_item_list", args=[mine.study.slug])}?arm={arm}"' in shown
    assert 'rel="prev"' not in shown


def test_filters_that_fit_nothing_say_so(mine: SimpleNamespace, owner: Any) -> None:
    assert "no setting 'nowhere'" in read(signed_in(owner), page_of(mine, "item"), arm="nowhere")


def test_a_drafts_item_can_be_edited(editors_draft: Any, colleague: Any, viewer: Any) -> None:
    item = editors_draft.items.first()
    address = reverse("admin:evaluation_item_page", args=[editors_draft.slug, item.pk])
    form = reverse("admin:evaluation_item_change", args=[item.pk])
    assert form in read(signed_in(colleague), address)
    assert signed_in(colleague).get(form).status_code == 200
    assert form not in read(signed_in(viewer), address)
    assert signed_in(viewer).get(form).url == address


def count(client: Any, address: str) -> int:
    client.get(address)
    with CaptureQueriesContext(connection) as queries:
        assert client.get(address).status_code == 200
    return len(queries)


def test_they_cost_the_same_with_many_judgments(mine: SimpleNamespace, owner: Any) -> None:
    client = signed_in(owner)
    addresses = [page_of(mine, model) for model in ("item", "participant")]
    few = [count(client, address) for address in addresses]
    raters = Rater.objects.bulk_create(
        Rater(study=mine.study, kind=kind, pseudonym=f"{kind}{n}")
        for kind in ("person", "judge")
        for n in range(20)
    )
    given = {"revision_id": mine.judgment.revision_id, "outcome": "skipped"}
    batch = [JudgmentInput(rater_id=each.pk, item_id=mine.judgment.item_id, **given) for each in raters]
    record_judgments(study=mine.study, batch=batch)
    for _ in range(2):
        hand_in(mine.participant.token)
    come(mine.study, "another")
    many = [count(client, address) for address in addresses]
    # Judges among them: their replies are looked up.
    assert many[0] <= few[0] + 1
    assert many[1] <= few[1]
    assert max(many) <= 23
    assert Judgment.objects.filter(item=mine.judgment.item).count() > 40
