"""The walk through a draft: every page that participants can come to, for members, and nothing of it is stored."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from django.apps import apps
from django.urls import reverse

from annotator.models import Panel, ParticipantOutcome
from annotator.views.walkthrough.state import WalkState
from evaluation.database.reads import WriteRefused, reads_only
from evaluation.models import Study, StudyMember
from evaluation.protocols import PROTOCOLS
from evaluation.services.studies.creation import add_arms, create_study
from evaluation.services.studies.launch import launch_study
from tests import factories
from tests.annotator.conftest import text
from tests.annotator.pages import Form

STEPS = {
    "consent": True,
    "instructions": True,
    "training": True,
    "qualification": {"pass_mark": 1, "attempts": 2},
    "attention": {"checks": 1, "allowed_failures": 0, "warn": True},
    "comments": True,
}
pytestmark = pytest.mark.django_db


def stored():
    """How many rows every table has."""
    return {model._meta.label: model._default_manager.count() for model in apps.get_models()}


def station(study, key, **state):
    address = reverse("annotator:walk-station", args=[study.slug, key])
    return f"{address}?s={WalkState(**state).signed(study.pk)}" if state else address


def stations(page):
    """The addresses of all stations, as the strip lists them."""
    return [each.replace("&amp;", "&") for each in re.findall(r'<li>\s*<a href="([^"]+)"', page)]


def at(response):
    """The station that a form led to."""
    assert response.status_code == 303, text(response)
    return urlsplit(response["Location"]).path.rstrip("/").rpartition("/")[2]


def action(page):
    found = re.search(r'<form id="judge"[^>]* action="([^"]+)"', page)
    assert found, page
    return found[1].replace("&amp;", "&")


def submit(client, address, **answers):
    """Fill in the form at the address as a browser would, and send it."""
    page = client.get(address).content.decode()
    return client.post(action(page), Form(page).filled_in() | answers)


@pytest.fixture
def draft(owner):
    """A draft in two settings with items for every step, and a panel."""
    study = factories.make_study(
        "draft",
        owner=owner,
        steps=STEPS,
        contact="research@example.org",
        pay="2.50",
        completion_codes={"completed": "DONE-1", "failed_qualification": "NOPE-1"},
    )
    for arm in study.arms.all():
        query, context = factories.make_query(study, f"qualify-{arm.key}")
        systems = list(study.systems.all())
        factories.make_item(
            study, query, context, arm, systems, key=f"qualify-{arm.key}", role="qualification",
            gold={"preference": ["r2"]},
        )  # fmt: skip
    Panel.objects.create(study=study, platform="prolific", settings={})
    return study


@pytest.fixture
def member(client, owner):
    client.force_login(owner)
    return client


@pytest.mark.parametrize("protocol", sorted(PROTOCOLS))
def test_every_station_of_an_empty_draft_shows_demo_items_and_stores_nothing(member, owner, protocol):
    study = create_study(slug="empty", title="Empty", protocol=protocol, owner=owner)
    add_arms(study, ({"key": "own", "label": "Own"},))
    before = stored()
    entry = member.get(station(study, "entry"))
    assert "The study has no items." in text(entry)
    listed = stations(entry.content.decode())
    assert len(listed) == 9 + len(ParticipantOutcome) + 5
    # The ways in and the ends are the same for all protocols, whose items are asked for below.
    for address in listed if protocol == "pairwise" else ():
        response = member.get(address)
        assert response.status_code == 200, address
        assert "Walk through: nothing is stored" in text(response)
        assert "/p/" not in response.content.decode()
    if protocol == "custom":  # whose questions are the study's own: no demo item fits them
        assert "There is no item for participants here." in text(member.get(station(study, "items")))
        assert stored() == before
        return
    for key in ("training", "items"):
        page = member.get(station(study, key))
        assert "a demo item, as this draft has none yet" in text(page)
        refused = member.post(action(page.content.decode()), {})
        assert refused.status_code == 422
        assert "There is a problem" in text(refused)
    feedback = submit(member, station(study, "training"))
    assert "How your practice answer compares" in text(feedback)
    taken = submit(member, station(study, "items"))
    assert at(taken) == "items"
    assert "done" in text(member.get(taken["Location"]))
    assert stored() == before


def test_the_whole_way_of_a_participant(member, draft):
    before = stored()
    assert at(member.post(station(draft, "entry") + "?act=", {"choice": "decline"})) == "end-no_consent"
    agreed = member.post(station(draft, "entry"), {"choice": "agree"})
    assert at(agreed) == "instructions"
    page = member.get(agreed["Location"]).content.decode()
    onward = re.search(r'action="([^"]+act=continue)"', page)[1].replace("&amp;", "&")
    practice = member.post(onward)
    assert at(practice) == "training"
    for _ in range(3):  # a practice item per setting, each with feedback
        feedback = submit(member, practice["Location"], preference="r1")
        assert "Our answer is the same as yours" in text(feedback)
        onward = re.search(r'action="([^"]+act=continue)"', feedback.content.decode())[1]
        practice = member.post(onward.replace("&amp;", "&"))
    assert at(practice) == "qualification"
    place = practice["Location"]
    for _ in range(2):
        place = submit(member, place, preference="r1")["Location"]
    again = submit(member, place, preference="r1")
    assert "You can try once more" in text(member.get(again["Location"]))
    place = again["Location"]
    for _ in range(2):
        place = submit(member, place, preference="r1")["Location"]
    assert at(submit(member, place, preference="r1")) == "end-failed_qualification"
    passed = submit(member, place, preference="r2")
    assert at(passed) == "items"
    kinds, place = [], passed["Location"]
    while "/items/" in place:
        kinds.append("an attention check" in text(member.get(place)))
        place = submit(member, place, preference="tie")["Location"]
    assert sorted(kinds) == [False, False, False, True]
    assert not kinds[0]
    assert not kinds[-1]
    assert "/comments/" in place
    form = re.search(r'action="([^"]+act=comments)"', member.get(place).content.decode())[1]
    long = member.post(form.replace("&amp;", "&"), {"comments": "x" * 5001})
    assert "This is too long" in text(long)
    done = member.post(form.replace("&amp;", "&"), {"comments": "Fine."})
    assert at(done) == "end-completed"
    end = text(member.get(done["Location"]))
    assert "DONE-1" in end
    assert "https://app.prolific.com/submissions/complete?cc=DONE-1" in end
    assert "waits on Prolific for your review" in end
    assert stored() == before


def test_a_failed_check_ends_the_way_where_the_rule_says_so(member, draft):
    place = station(draft, "items")
    while "an attention check" not in text(member.get(place)):
        place = submit(member, place)["Location"]
    assert at(submit(member, place, preference="r1")) == "end-failed_attention"
    draft.steps = STEPS | {"attention": {"checks": 1, "allowed_failures": None, "warn": True}}
    draft.save()
    warned = submit(member, place, preference="r1")
    assert "your answer to it was wrong" in text(member.get(warned["Location"]))


def test_skipping_undoing_and_withdrawing(member, draft):
    page = member.get(station(draft, "items"))
    first = re.search(r'class="query.*?</', page.content.decode(), re.S)
    assert first
    assert "3 skips left" in text(page)
    ask = re.search(r'formaction="([^"]+act=ask-skip)"', page.content.decode())[1].replace("&amp;", "&")
    asked = member.post(ask, {})
    assert at(asked) == "skip"
    question = member.get(asked["Location"]).content.decode()
    sure = re.search(r'action="([^"]+act=skip)"', question)[1].replace("&amp;", "&")
    skipped = member.post(sure, {"sure": "1"})
    other = member.get(skipped["Location"])
    assert "2 skips left" in text(other)
    assert "You skipped an item." in text(other)
    undo = re.search(r'formaction="([^"]+act=undo)"', other.content.decode())[1].replace("&amp;", "&")
    back = member.get(member.post(undo, {})["Location"])
    assert "Here is the item you skipped." in text(back)
    assert "3 skips left" in text(back)
    leave = re.search(
        r'action="([^"]+act=withdraw)"', member.get(station(draft, "withdraw")).content.decode()
    )
    assert at(member.post(leave[1].replace("&amp;", "&"), {"leave_out": "1"})) == "end-withdrawn"


@pytest.mark.parametrize(("allowed", "shown"), [(0, False), (1, True)])
def test_a_skip_is_offered_where_one_is_allowed(member, draft, allowed, shown):
    Study.objects.update(skips={"per_participant": allowed, "flag_after": None})
    assert ("Skip this item" in text(member.get(station(draft, "items")))) == shown


def test_ratings_of_a_form_that_was_refused_are_kept(member, owner):
    study = create_study(slug="rated", title="Rated", protocol="aspects", owner=owner)
    add_arms(study, ({"key": "own", "label": "Own"},))
    page = member.get(station(study, "items")).content.decode()
    refused = member.post(action(page), {"factuality.r2": "3"})
    assert refused.status_code == 422
    assert Form(refused.content.decode()).sent["factuality.r2"] == "3"


def test_settings_of_the_study_are_walked_apart(member, draft):
    plain, context = (each.key for each in draft.arms.all()[:2])
    assert "Follow-up 1" not in text(member.get(station(draft, "items", arm=plain)))
    assert "Follow-up 1" in text(member.get(station(draft, "items", arm=context)))


def test_what_a_draft_lacks_is_said(member, draft):
    draft.items.filter(role="training").delete()
    draft.texts.filter(key="consent").update(body="")
    said = text(member.get(station(draft, "entry")))
    assert "there is no training item" in said
    assert "the consent text is empty" in said
    page = member.get(station(draft, "instructions")).content.decode()
    onward = re.search(r'action="([^"]+act=continue)"', page)[1].replace("&amp;", "&")
    assert at(member.post(onward)) == "qualification"
    assert "There are no practice items" in text(member.get(station(draft, "training")))


def test_an_item_that_cannot_be_judged_is_named_with_the_reason(member, draft):
    arm = draft.arms.first()
    item = draft.items.filter(role="main", arm=arm).order_by("position", "pk").first()
    item.item_responses.all()[0].delete()
    page = member.get(station(draft, "items"))
    assert "needs exactly 2 responses, has 1" in text(page)
    onward = re.search(r'action="([^"]+act=continue)"', page.content.decode())[1].replace("&amp;", "&")
    assert at(member.post(onward)) == "items"


def test_only_members_walk_and_only_writers_see_codes(client, draft, outsider, colleague):
    assert client.get(station(draft, "entry")).status_code == 302
    client.force_login(outsider)
    assert client.get(station(draft, "entry")).status_code == 404
    assert client.post(station(draft, "items"), {}).status_code == 404
    StudyMember.objects.create(study=draft, user=colleague, role="viewer")
    client.force_login(colleague)
    end = text(client.get(station(draft, "end-completed")))
    assert "DONE-1" not in end
    assert "••••••" in end


def test_what_others_hold_is_waited_for(member, draft):
    Study.objects.update(lease_minutes=47)
    page = member.get(station(draft, "waiting"))
    assert "Please check again in 47 minutes." in text(page)
    button = re.search(r'action="([^"]+act=check)"', page.content.decode())
    assert at(member.post(button[1].replace("&amp;", "&"))) == "items"
    finish = re.search(r'formaction="([^"]+act=finish)"', page.content.decode())
    assert at(member.post(finish[1].replace("&amp;", "&"))) == "comments"


def test_a_study_that_is_done_once_has_no_page_between_visits(member, draft):
    assert not [
        each for each in stations(member.get(station(draft, "entry")).content.decode()) if "between" in each
    ]


def act_on(member, address, act):
    page = member.get(address).content.decode()
    found = re.search(rf'action="([^"]+act={act})"', page)
    assert found, page
    return found[1].replace("&amp;", "&")


def test_between_visits_the_panel_s_words_and_the_first_visit_s_code(member, draft):
    Study.objects.update(visits=3, completion_codes={"completed": "DONE-1", "completed_3": "DONE-3"})
    before = stored()
    done = member.post(act_on(member, station(draft, "comments"), "comments"), {"comments": ""})
    assert at(done) == "between-visits"
    page = member.get(done["Location"])
    said = text(page)
    assert "Visit 1 of 3 is done" in said
    assert "DONE-1" in said
    assert (
        "Visit 2 of 3 Next time you get different items. To come again, take the study once more on Prolific."
        in said
    )
    assert "act=start" not in page.content.decode()
    last = text(member.get(station(draft, "end-completed")))
    assert "You have done all your 3 visits." in last
    assert "DONE-3" in last
    assert stored() == before


def test_by_a_link_the_next_visit_begins_from_the_page_between(member, draft):
    Study.objects.update(visits=2, practice_each_visit=True)
    Panel.objects.update(platform="link", settings={"participant_param": "pid"})
    address = station(draft, "between-visits")
    assert "or come back later with the same link" in text(member.get(address))
    onward = member.post(act_on(member, address, "start"))
    assert at(onward) == "instructions"
    state = parse_qs(urlsplit(onward["Location"]).query)["s"][0]
    comments = f"{station(draft, 'comments')}?s={state}"
    done = member.post(act_on(member, comments, "comments"), {"comments": ""})
    assert at(done) == "end-completed", "the second of two is the last"
    Study.objects.update(practice_each_visit=False)
    Panel.objects.update(settings={})
    assert "it is your only way back" in text(member.get(address))
    assert at(member.post(act_on(member, address, "start"))) == "items"


def test_an_address_that_was_changed_begins_the_station_again(member, draft):
    other = factories.make_study("other", owner=draft.members.get().user)
    for state in ("nonsense", WalkState(judged=2).signed(other.pk)):
        response = member.get(f"{station(draft, 'items')}?s={state}")
        assert at(response) == "items"
        assert not parse_qs(urlsplit(response["Location"]).query)
    assert member.get(station(draft, "nowhere")).status_code == 404


def test_only_the_phone_page_holds_a_frame_and_only_of_this_site(member, draft):
    page = member.get(station(draft, "items"))
    assert "frame-ancestors 'self'" in page["Content-Security-Policy"]
    assert page["X-Frame-Options"] == "SAMEORIGIN"
    phone = member.get(reverse("annotator:walk-phone", args=[draft.slug, "items"]))
    assert "frame-src 'self'" in phone["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in phone["Content-Security-Policy"]
    framed = re.search(r'<iframe src="([^"]+)"', phone.content.decode())[1].replace("&amp;", "&")
    assert "Show as on a computer" in text(member.get(framed))


def test_a_launched_study_is_walked_in_its_latest_revision(member, draft):
    launch_study(draft)
    assert "Missing before launch" not in text(member.get(station(draft, "items")))
    assert at(submit(member, station(draft, "items"))) == "items"


def test_a_page_asks_few_queries(member, draft, django_assert_max_num_queries):
    member.get(station(draft, "items"))
    with django_assert_max_num_queries(37):
        member.get(station(draft, "items"))


def test_nothing_can_be_written_while_a_page_is_made(draft):
    with reads_only(), pytest.raises(WriteRefused):
        draft.save()
