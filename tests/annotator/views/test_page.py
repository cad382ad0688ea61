"""The participant's page shows whatever is before them, changes nothing, and is rendered lean and inert."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotator.models import Assignment, ParticipantOutcome, Slot
from annotator.services.admission.entry import enter
from annotator.services.work.progress import finish
from annotator.services.work.skip import skip
from annotator.services.work.submit import advance_participant
from annotator.visit import Visit
from evaluation.models import Response, Study
from evaluation.services.studies.launch import close_study, pause_study
from tests import factories
from tests.annotator.conftest import WITH, WITHOUT, address, fields, home, text
from tests.crowd import current_assignment, hand_in

pytestmark = pytest.mark.django_db

# Of what controls transactions; and a layout is written by whoever is the first to answer so.
CONTROL = (
    "BEGIN",
    "COMMIT",
    "ROLLBACK",
    "SAVEPOINT",
    "RELEASE",
    'INSERT INTO "evaluation_answerlayout"',
    'INSERT OR IGNORE INTO "evaluation_answerlayout"',
)
ALL_STEPS = {
    "consent": True,
    "instructions": True,
    "training": True,
    "qualification": None,
    "attention": {"checks": 1, "allowed_failures": 0},
    "comments": True,
}


def statements(queries):
    """What every such request asks of the database."""
    return [query["sql"] for query in queries if not query["sql"].startswith(CONTROL)]


def show(client, participant):
    return client.get(home(participant))


def test_get_changes_nothing(client, participant):
    before = list(Assignment.objects.values()), list(Slot.objects.values())
    show(client, participant)
    assert (list(Assignment.objects.values()), list(Slot.objects.values())) == before


def test_instructions_show_general_and_both_forms(client, make):
    page = text(show(client, enter(make(steps=ALL_STEPS, training=True, arms=WITH), Visit("link"))))
    for words in (
        "Instructions",
        "Read the question and both answers",
        "How to judge",
        "follow-up questions",
        "Continue",
    ):
        assert words in page


@pytest.mark.parametrize("arms", [WITH, WITHOUT])
def test_instructions_are_those_that_judges_read(client, make, arms):
    """Of contexts only where people are shown any, which a setting may withhold and items may not have."""
    study = make(steps=ALL_STEPS, arms=arms)
    if arms is WITH:
        study.items.update(context=None)
    page = text(show(client, enter(study, Visit("link"))))
    assert "How to judge" in page
    assert "Judging with context" not in page
    assert "about themselves" not in page
    assert "follow-up" not in page


def test_training_gives_feedback_on_each_gold_value(client, make):
    participant = enter(make(arms=WITH, steps=ALL_STEPS, training=True), Visit("link"))
    advance_participant(participant.token)
    assert "Practice" in text(show(client, participant))
    assert "Skip this item" not in text(show(client, participant))
    order = current_assignment(participant).order
    hand_in(participant.token, preference="r2")
    page = text(show(client, participant))
    shown = {part: f"Response {n}" for n, part in enumerate(order.split(","), 1)}
    assert "The first response says more." in page
    assert "Our answer differs from yours" in page
    assert f"Which response is better overall? {shown['r2']} ✗ {shown['r1']}" in page
    assert client.post(f"{home(participant)}go-on/").status_code == 303
    assert "1 of 4" in text(show(client, participant))


def test_shows_the_presented_order_and_keeps_canonical_names(client, participant):
    assignment = current_assignment(participant)
    Assignment.objects.filter(pk=assignment.pk).update(order="r2,r1")
    page = show(client, participant).content.decode()
    assert page.index("birch") < page.index("aspen")
    values = re.findall(r'name="preference" value="(\w+)"', page)
    assert values == ["r2", "tie", "r1"]
    assert re.search(r'value="r2"[^>]*><span>Response 1', page)


def test_checklist_has_a_cell_per_follow_up_and_response(client, make):
    participant = enter(make(arms=WITH, follow_ups=3), Visit("link"))
    page = show(client, participant).content.decode()
    names = set(re.findall(r'name="(satisfied[^"]*)"', page))
    assert names == {f"satisfied.f{f}.r{r}" for f in (1, 2, 3) for r in (1, 2)}
    assert page.count('role="radiogroup"') == 7
    assert "0 of 3 met" in page


def test_form_without_context_says_nothing_of_it(client, participant):
    page = show(client, participant).content.decode()
    assert "satisfied" not in page
    assert "Follow-up 1 of" not in page


def test_attention_checks_look_like_items(client, make):
    participant = enter(make(steps=ALL_STEPS | {"instructions": False}, checks=1), Visit("link"))
    shapes, titles, go_back = [], [], []
    for _ in range(4):
        page = show(client, participant).content.decode()
        page, links = re.subn(r'<a href="[^"]+/back/">Revise a previous answer</a\s*>', "", page)
        go_back.append(links)
        titles.append(re.search(r"<title>(.*?)</title>", page)[1])
        words = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|(check)?\d*-?NoCtxGen-NoCtxEval|q\d\b|check\d", "", page)
        words = re.sub(
            r'lease_seconds|data-seconds="\d+"|value="r\d"|value="\d+"|>\d+</progress>|\d of \d', "", words
        )
        shapes.append(
            re.sub(r"<strong>\w+</strong>|id=\"(h|pane)-r\d\"|\"(h|pane)-r\d\"|data-part=\"r\d\"", "", words)
        )
        hand_in(participant.token, preference="tie")
    roles = set(Assignment.objects.values_list("item__role", flat=True))
    assert roles == {"main", "attention"}
    assert len(set(shapes)) == 1
    assert go_back == [0, 1, 1, 1]  # after a check as after an item
    assert [title[:6] for title in titles] == ["1 of 4", "2 of 4", "3 of 4", "4 of 4"]


def test_references_only_where_the_study_shows_them(client, db, make):
    for shown in (False, True):
        study = factories.make_study(
            f"r{shown:d}", arms=WITHOUT, training=False, checks=0, steps=factories.NO_STEPS
        )
        study.queries.update(references=["A person wrote this."])
        participant = enter(factories.launch(study, show_references=shown), Visit("link"))
        assert ("A person wrote this." in text(show(client, participant))) == shown


def test_empty_responses_and_hostile_ones_are_inert(client, make, db):
    study = factories.make_study("x", arms=WITHOUT, training=False, checks=0, steps=factories.NO_STEPS)
    hostile = (
        "<script>alert(1)</script><img src=x onerror=alert(2)> ![pixel](https://evil.example/p.png) "
        "[go](javascript:alert(3)) <div><b>"
    )
    Response.objects.filter(query__study=study, key="aspen").update(text=hostile)
    Response.objects.filter(query__study=study, key="birch").update(text="")
    page = show(client, enter(factories.launch(study), Visit("link"))).content.decode()
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "javascript:" not in page.replace("[go](javascript:alert(3))", "")
    assert 'href="javascript' not in page
    assert "empty response" in page


def test_researchers_words_are_escaped(client, db):
    study = factories.make_study("x", arms=WITH, training=False, checks=0, steps=factories.NO_STEPS)
    evil = "<script>alert(1)</script>"
    study.questions.update(prompt=evil, help=evil, options={"1": evil, "0": evil, "tie": evil})
    study.queries.update(text=evil)
    study.title = study.asker = evil
    for context in study.queries.get(key="q0").contexts.all():
        context.follow_ups = [{"question": evil, "answers": [evil], "answer": evil}]
        context.save()
    participant = enter(factories.launch(study), Visit("link"))
    for page in (show(client, participant), client.get("/s/x/")):
        assert "<script>alert" not in page.content.decode()
        assert "&lt;script&gt;" in page.content.decode()


def test_draft_is_filled_in(client, participant):
    target = address(client, participant, "draft")
    draft = {"preference": "tie", "justification": "Half a </textarea> sentence", "visible_ms": "4200"}
    assert client.post(target, draft, content_type="application/json").status_code == 200
    page = show(client, participant).content.decode()
    assert re.search(r'value="tie"[^>]* checked', page)
    assert "Half a &lt;/textarea&gt; sentence" in page
    assert 'name="visible_ms" value="4200"' in page


def test_waiting_says_for_how_long(client, make):
    study = make(queries=2, redundancy=1, items_per_participant=2)
    enter(study, Visit("link"))
    participant = enter(study, Visit("link"))
    hand_in(participant.token)
    Slot.objects.filter(state="reserved").update(
        leased_until=timezone.now() + timedelta(minutes=7, seconds=-5)
    )
    page = text(show(client, participant))
    assert "in 7 minutes" in page
    assert "1 of 2 done" in page
    assert "Check again" in page
    assert client.post(f"{home(participant)}go-on/").status_code == 303
    assert "Check again" in text(show(client, participant))
    Slot.objects.filter(state="reserved").update(leased_until=timezone.now() - timedelta(seconds=1))
    assert "There are more items for you" in text(show(client, participant))
    client.post(f"{home(participant)}go-on/")
    assert "Submit" in text(show(client, participant))


@pytest.fixture
def waiting(make):
    """Somebody who has judged one of two items, while another holds the other one."""
    study = make(queries=2, redundancy=1, items_per_participant=2, pay="2.50")
    enter(study, Visit("link"))
    participant = enter(study, Visit("link"))
    hand_in(participant.token)
    return participant


def release_in(minutes):
    Slot.objects.filter(state="reserved").update(
        leased_until=timezone.now() + timedelta(minutes=minutes, seconds=-5)
    )


def buttons(page):
    """The page's buttons by their words: where each leads, and whether it is a plain one."""
    found = re.findall(r"<button([^>]*)>([^<]+)</button>", page.content.decode())
    return {words: ("finish/" in rest, "plain" in rest) for rest, words in found if words in BOTH}


BOTH = ("Check again", "Finish now")


@pytest.mark.parametrize(("minutes", "main"), [(57, "Finish now"), (3, "Finish now"), (2, "Check again")])
def test_who_waits_for_others_may_finish(client, waiting, minutes, main):
    release_in(minutes)
    page = client.get(home(waiting))
    found = buttons(page)
    assert next(iter(found)) == main
    assert found == {words: (words == "Finish now", words != main) for words in BOTH}
    assert "If you finish now, the pay is the same as if you had judged every item." in text(page)
    done = client.post(f"{home(waiting)}finish/", follow=True)
    assert "You are done" in text(done)
    assert "DONE-1" in text(done)
    assert client.get(f"{home(waiting)}finish/").status_code == 405


def test_of_pay_that_nobody_has_entered_nothing_is_promised(client, waiting):
    Study.objects.update(pay=None)
    page = text(client.get(home(waiting)))
    assert "If you finish now, it counts the same as if you had judged every item." in page
    assert "the pay" not in page


def test_nothing_to_finish_before_the_first_judgment(client, make):
    study = make(queries=2, redundancy=1, items_per_participant=2)
    participant = enter(study, Visit("link"))
    enter(study, Visit("link"))
    skip(participant.token, current_assignment(participant).pk)
    assert list(buttons(client.get(home(participant)))) == ["Check again"]


def test_nothing_to_finish_while_the_study_is_paused(client, waiting):
    pause_study(waiting.study)
    assert list(buttons(client.get(home(waiting)))) == ["Check again"]
    client.post(f"{home(waiting)}finish/")
    assert "This study is paused" in text(client.get(home(waiting)))


def test_paused_and_closed_studies_let_the_item_at_hand_be_finished(client, participant):
    pause_study(participant.study)
    assert "Submit" in text(show(client, participant))
    client.post(address(client, participant), fields(client, participant))
    assert "This study is paused" in text(show(client, participant))
    close_study(participant.study)
    assert "nothing more to judge" in text(show(client, participant))
    client.post(f"{home(participant)}go-on/")
    assert "DONE-1" in text(show(client, participant))


@pytest.mark.parametrize("outcome", ParticipantOutcome.values)
def test_each_outcome_has_its_words_and_code(client, make, outcome):
    study = make(completion_codes={outcome: f"CODE {outcome}&"})
    participant = enter(study, Visit("prolific", "p"))
    finish(participant, outcome)
    response = show(client, participant)
    assert f"CODE {outcome}&" in text(response)
    assert f"complete?cc=CODE%20{outcome}%26" in response.content.decode()
    assert f"{home(participant)}withdraw/" not in response.content.decode()


def test_end_without_a_code_and_by_link(client, make):
    participant = enter(make(completion_codes={}), Visit("link"))
    finish(participant, "completed")
    page = show(client, participant).content.decode()
    assert "Your judgments have been recorded" in page
    assert "completion code" not in page
    assert "app.prolific.com" not in page


def test_pages_carry_withdraw_contact_and_problem(client, participant):
    page = show(client, participant).content.decode()
    assert f'href="{home(participant)}withdraw/"' in page
    assert 'href="mailto:research@example.org"' in page
    assert 'name="problem_note"' in page


@pytest.mark.parametrize(
    "token", ["nobody-has-this-token-at-all", "short", "a" * 65, "a%00b", "..%2f..%2fadmin"]
)
def test_stranger(client, participant, token):
    assert client.get(f"/p/{token}/").status_code == 404


@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_wrong_method(client, participant, method):
    assert getattr(client, method)(home(participant)).status_code == 405


def test_head_is_a_get_without_a_body(client, participant):
    response = client.head(home(participant))
    assert (response.status_code, response.content) == (200, b"")


def test_unknown_notice_is_not_echoed(client, participant):
    assert "hello-there" not in client.get(f"{home(participant)}?notice=hello-there").content.decode()
    assert "more time" in text(client.get(f"{home(participant)}?notice=more-time"))


def test_fetching_takes_at_most_four_queries(client, make):
    study = make(
        arms=WITH, queries=100, steps=ALL_STEPS | {"instructions": False}, checks=1, items_per_participant=9
    )
    participant = enter(study, Visit("link"))
    for _ in range(6):
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert show(client, participant).status_code == 200
        assert len(statements(queries)) <= 4
        hand_in(participant.token, preference="tie")
