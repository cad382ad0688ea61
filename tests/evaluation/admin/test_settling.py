"""The pages on which items are settled: the next one, the form, what others answered, and what was settled."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.contrib.admin.models import LogEntry
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils.html import escape

from annotator.services.rehearsal.manners import HABITS, Manner
from annotator.services.rehearsal.simulated_answers import simulated_form
from evaluation.demo.studies import STUDIES
from evaluation.models import Item, ItemTally, Rater, Study, StudyMember
from evaluation.selectors import settled_judgments
from evaluation.services.settling import settle_item
from evaluation.services.studies.launch import launch_study
from tests import factories
from tests.crowd import come, hand_in
from tests.evaluation.admin.conftest import signed_in

pytestmark = pytest.mark.django_db
ANSWERS = {"preference": "r1", "justification": "It names the source."}


@pytest.fixture
def pairs(owner: Any, colleague: Any, viewer: Any) -> Study:
    """A live study of three pairs, on the second of which people differ most, and on the first not at all."""
    study = factories.launched_pairs("settled", 3, owner=owner, steps=factories.NO_STEPS)
    StudyMember.objects.create(study=study, user=colleague, role="editor")
    StudyMember.objects.create(study=study, user=viewer, role="viewer")
    for item, disagreement in zip(items_of(study), (0.0, 0.6, 0.4), strict=True):
        ItemTally.objects.update_or_create(item=item, defaults={"study": study, "disagreement": disagreement})
    return study


def items_of(study: Study) -> list[Item]:
    return list(study.items.filter(role="main").order_by("pk"))


def address(study: Study, name: str = "settle", *args: Any) -> str:
    return reverse(f"admin:evaluation_study_{name}", args=[study.slug, *args])


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


def shown(response: Any) -> Item:
    item: Item = response.context["settle"]["item"]
    return item


def test_what_people_differ_on_comes_first_and_the_next_after_each(pairs: Any, owner: Any) -> None:
    client = signed_in(owner)
    calm, worst, second = items_of(pairs)
    page = client.get(address(pairs))
    assert shown(page) == worst
    assert "2 disagreements left" in text(page)
    assert "3 items in all" in text(page)
    for expected in (second, calm):
        page = client.post(f"{address(pairs)}?item={shown(page).pk}", ANSWERS, follow=True)
        assert shown(page) == expected
        assert "is settled. " in text(page)
    done = client.post(f"{address(pairs)}?item={calm.pk}", ANSWERS, follow=True)
    assert done.request["PATH_INFO"] == address(pairs, "settled")
    assert "Nothing is left to settle." in text(done)
    assert settled_judgments(pairs).count() == 3


def test_an_item_is_passed_over_and_comes_again_at_the_end(pairs: Any, owner: Any) -> None:
    client = signed_in(owner)
    calm, worst, second = items_of(pairs)
    order = [worst, second, calm, worst]
    page = client.get(address(pairs))
    for item, following in pairwise(order):
        assert shown(page) == item
        page = client.get(page.context["settle"]["skip"])
        assert shown(page) == following


def test_errors_stand_where_a_participant_reads_them_and_nothing_is_lost(pairs: Any, owner: Any) -> None:
    client, item = signed_in(owner), items_of(pairs)[0]
    here = f"{address(pairs)}?item={item.pk}"
    page = client.post(here, {"justification": "Kept"})
    assert page.status_code == 422
    for sentence in ('class="ask wrong"', "Kept"):
        assert sentence in text(page), sentence
    assert [line["href"] for line in page.context["screen"]["summary"]] == [
        "#q-preference",
        "#q-justification",
    ]
    assert not settled_judgments(pairs)


def test_a_form_that_need_not_be_answered_in_words_has_a_line_for_the_reason(owner: Any) -> None:
    study = factories.launched_pairs("settled", 1, owner=owner, why=False)
    client, [item] = signed_in(owner), items_of(study)
    here = f"{address(study)}?item={item.pk}"
    assert 'id="settle-reason"' in text(client.get(here))
    both = client.post(here, {})
    assert both.status_code == 422
    assert "A settled label needs a reason." in text(both)
    assert [line["href"] for line in both.context["screen"]["summary"]] == ["#q-preference", "#settle-reason"]
    answers = client.post(here, {"~reason": "Because."})
    assert answers.status_code == 422
    assert "A settled label needs a reason." not in text(answers)
    assert 'value="Because."' in text(answers)
    assert not settled_judgments(study)
    client.post(here, ANSWERS | {"~reason": "Because."})
    assert 'value="Because."' in text(client.get(here))
    labels = text(client.get(address(study, "settled")))
    assert labels.count("Because.") == labels.count("It names the source.") == 1


def test_a_form_that_asks_why_is_the_one_place_for_the_reason(pairs: Any, owner: Any) -> None:
    client, item = signed_in(owner), items_of(pairs)[0]
    here = f"{address(pairs)}?item={item.pk}"
    assert "settle-reason" not in text(client.get(here))
    client.post(here, ANSWERS)
    [settled] = settled_judgments(pairs)
    assert settled.trace["settled"]["reason"] == "It names the source."
    history = LogEntry.objects.order_by("pk").last()
    assert history.change_message == f"Settled item {item.key}. Reason: It names the source."
    shown_once = text(client.get(reverse("admin:evaluation_item_page", args=[pairs.slug, item.pk])))
    assert shown_once.count("It names the source.") == 1


def test_it_is_blind_until_it_is_asked_to_show(pairs: Any, owner: Any) -> None:
    given = hand_in(come(pairs).token).judgment
    judge = Rater.objects.create(study=pairs, kind="judge", label="Judge Cedar")
    given_by_judge = pairs.judgments.create(
        rater=judge, item=given.item, revision=given.revision, outcome="ok", answer_layout=given.answer_layout,
        answer_values=given.answer_values,
    )  # fmt: skip
    client = signed_in(owner)
    blind = client.get(f"{address(pairs)}?item={given.item_id}")
    people = client.get(f"{address(pairs)}?item={given.item_id}&show=people")
    everything = client.get(f"{address(pairs)}?item={given.item_id}&show=people&show=judges")
    person = str(given.rater)
    for page, named in ((blind, ()), (people, (person,)), (everything, (person, "Judge Cedar"))):
        others = text(page).partition('class="others"')[2]
        for name in (person, "Judge Cedar"):
            assert (name in others) == (name in named), (name, named)
        assert ("aspen" in others) == (page is everything)
    assert given_by_judge.item == given.item
    client.post(f"{address(pairs)}?item={given.item_id}&show=people", ANSWERS)
    [settled] = settled_judgments(pairs)
    assert settled.trace["settled"]["shown"] == ["people"]


def test_filters_of_the_list_choose_what_is_settled(pairs: Any, owner: Any) -> None:
    client = signed_in(owner)
    second = items_of(pairs)[2]
    page = client.get(f"{address(pairs)}?query={second.query.key}")
    assert shown(page) == second
    assert "1 item in all of this list" in text(page)
    assert f"query={second.query.key}" in page.context["settle"]["skip"]
    refused = client.get(f"{address(pairs)}?query=unknown&sort=newest&show=people", follow=True)
    assert refused.redirect_chain == [(f"/studies/{pairs.slug}/items/?query=unknown&sort=newest", 302)]
    assert refused.status_code == 422
    assert "no query &#x27;unknown&#x27;" in text(refused)
    assert "Nothing was chosen to settle" in text(refused)


def test_a_label_is_read_changed_and_taken_back(pairs: Any, owner: Any) -> None:
    client, item = signed_in(owner), items_of(pairs)[0]
    client.post(f"{address(pairs)}?item={item.pk}", ANSWERS)
    again = client.get(f"{address(pairs)}?item={item.pk}")
    assert "You have settled this item." in text(again)
    assert "It names the source." in text(again)
    assert again.context["screen"]["fields"][0]["options"][0]["checked"]
    labels = client.get(address(pairs, "settled"))
    for said in (item.key, "aspen", "It names the source."):
        assert said in text(labels), said
    [judgment] = settled_judgments(pairs)
    back = address(pairs, "take_back", judgment.pk)
    assert client.get(back).status_code == 200
    after = client.post(back, {"reason": "Too soon."}, follow=True)
    assert f"Took back the settled label of {item.key}." in text(after)
    assert not settled_judgments(pairs)
    assert client.post(back).status_code == 404


def test_an_editor_excludes_nobody_else_s_label(pairs: Any, owner: Any, colleague: Any) -> None:
    settle_item(items_of(pairs)[0], ANSWERS, reason="So it is.", by=owner)
    [judgment] = settled_judgments(pairs)
    away = reverse("admin:evaluation_judgment_exclude", args=[judgment.pk])
    refused = signed_in(colleague).post(away, {"reason": "It is not."})
    assert refused.status_code == 422
    assert "Only an owner can take back what somebody else has settled." in text(refused)
    assert signed_in(owner).post(away, {"reason": "It is not."}).status_code == 302
    assert not settled_judgments(pairs)


def test_who_settled_how_many_and_where_two_differ(pairs: Any, owner: Any, colleague: Any) -> None:
    one, two, three = items_of(pairs)
    for who, labels in ((owner, ("r1", "r2", "tie")), (colleague, ("r1", "r1"))):
        for item, label in zip((one, two, three), labels, strict=False):
            settle_item(item, ANSWERS | {"preference": label}, reason="So it is.", by=who)
    page = text(signed_in(owner).get(address(pairs, "settled")))
    assert "<bdi>owner</bdi>: 3; <bdi>colleague</bdi>: 2" in page
    assert "<bdi>owner</bdi> and <bdi>colleague</bdi> both settled 2, 1 of them alike." in page
    assert f'They differ on <a href="{address(pairs)}?item={two.pk}">{two.key}</a >.' in page


def test_viewers_read_and_outsiders_find_nothing(pairs: Any, owner: Any, viewer: Any, outsider: Any) -> None:
    item = items_of(pairs)[0]
    settle_item(item, ANSWERS, reason="So it is.", by=owner)
    [judgment] = settled_judgments(pairs)
    client = signed_in(viewer)
    read = client.get(address(pairs), follow=True)
    assert read.request["PATH_INFO"] == address(pairs, "settled")
    assert "So it is." in text(read)
    assert "Take back" not in text(read)
    assert client.post(f"{address(pairs)}?item={item.pk}", ANSWERS, follow=True).status_code == 200
    assert client.post(address(pairs, "take_back", judgment.pk)).status_code == 403
    assert settled_judgments(pairs).count() == 1
    stranger = signed_in(outsider)
    for name, args in (("settle", ()), ("settled", ()), ("take_back", (judgment.pk,))):
        assert stranger.get(address(pairs, name, *args)).status_code == 404, name


def test_what_does_not_fit_is_refused(pairs: Any, owner: Any) -> None:
    client = signed_in(owner)
    other = factories.launched_pairs("another", 1, owner=owner)
    foreign = items_of(other)[0].pk
    for item in (foreign, "0", "x", "9" * 30):
        assert client.get(f"{address(pairs)}?item={item}").status_code == 404, item
        assert client.post(f"{address(pairs)}?item={item}", ANSWERS).status_code == 404, item
    assert client.post(address(pairs), ANSWERS).status_code == 404
    assert client.post(address(pairs, "settled")).status_code == 405
    assert client.delete(address(pairs)).status_code == 405
    draft = factories.make_study("a-draft", owner=owner)
    said = text(client.get(address(draft), follow=True))
    assert "once the study is launched" in said
    assert "Settle items" not in said


def test_queries_of_the_pages_do_not_grow_with_what_is_settled(
    pairs: Any, owner: Any, colleague: Any
) -> None:
    first, *more = items_of(pairs)
    client = signed_in(owner)
    settle_item(first, ANSWERS, reason="So it is.", by=colleague)
    with_one = _count(client, pairs, first)
    for item in more:
        settle_item(item, ANSWERS, reason="So it is.", by=colleague)
    assert _count(client, pairs, first) == with_one
    assert with_one[0] <= 22
    assert with_one[1] <= 20


def _count(client: Any, study: Study, item: Item) -> list[int]:
    found = []
    for page in (f"{address(study)}?item={item.pk}", address(study, "settled")):
        with CaptureQueriesContext(connection) as queries:
            assert client.get(page).status_code == 200
        found.append(len(queries))
    return found


def smallest(demo: Any, folder: Path) -> Study:
    """The demo's draft with one main item, and those of other roles."""
    first, *items = map(json.loads, demo.items.read_text("utf-8").splitlines())
    main = [each for each in items if each.get("role", "main") == "main"]
    kept = [first, main[0], *(each for each in items if each not in main)]
    file = folder / demo.items.name
    file.write_text("\n".join(map(json.dumps, kept)), "utf-8")
    call_command("import_study", str(file), slug=demo.slug, owner="owner", verbosity=0)
    return Study.objects.get(slug=demo.slug)


@pytest.mark.parametrize("demo", STUDIES, ids=[each.slug for each in STUDIES])
def test_every_protocols_items_can_be_settled(demo: Any, owner: Any, tmp_path: Path) -> None:
    study = smallest(demo, tmp_path)
    launch_study(study, by=owner)
    client = signed_in(owner)
    page = client.get(address(study))
    item, spec = shown(page), study.revisions.get().spec
    data = simulated_form(
        study.protocol_object, spec, item, HABITS[Manner.CAREFUL], 0.0, np.random.default_rng(1)
    )
    fields = {
        name if part is None else f"{name}.{part}": value
        for name, given in data.items()
        for part, value in (given.items() if isinstance(given, dict) else [(None, given)])
    }
    asks_reason = page.context["settle"]["asks_reason"]
    if asks_reason:
        assert client.post(f"{address(study)}?item={item.pk}", fields).status_code == 422
        fields |= {"~reason": "So it is."}
    settled = client.post(f"{address(study)}?item={item.pk}", fields, follow=True)
    assert "Nothing is left to settle." in text(settled)
    assert settled_judgments(study).get().item == item
    again = client.get(f"{address(study)}?item={item.pk}&show=judges&show=people")
    assert again.status_code == 200
    reason = settled_judgments(study).get().trace["settled"]["reason"]
    assert (reason == "So it is.") == asks_reason
    assert escape(" ".join(reason.split())) in text(again)
    assert escape(" ".join(reason.split())) in text(client.get(address(study, "settled")))
