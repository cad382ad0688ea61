"""The quality page: the careless stand first, with figures; careful people have no sign, and nobody is excluded."""

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotator.models import Assignment
from annotator.services.quality.cached_quality import cached_quality, read_reports
from annotator.services.quality.participant_quality import quality_of
from annotator.services.work.skip import skip
from annotator.services.work.submit import submit
from evaluation.forms.input.posted_fields import read_trace
from evaluation.models import Exclusion, Judgment, StudyMember
from evaluation.services.exclusions import exclude
from evaluation.services.judgments import JudgmentInput, record_judgments
from tests.annotator.conftest import text
from tests.annotator.services.people import ONE_ARM, count_with_checks
from tests.answers import give_answers
from tests.crowd import before, come, filled_in, hand_in, make_crowd_study
from tests.evaluation.admin.conftest import signed_in
from tests.protocol_factories import make_condition_calibration_study

pytestmark = pytest.mark.django_db
REASONS = (
    "It names the trees that grow in the north and says why they do.",
    "The other one leaves out half of what was asked, as far as I can see.",
    "Clear, short, and the example with the garden helps to picture it.",
    "Both are fine; this one has fewer words and no mistake that I noticed.",
    "I could act on it at once, while the other stays general throughout.",
    "It answers the question first and explains afterwards, which I prefer.",
)


MIXED = {"f1.r1": "1", "f1.r2": "0", "f2.r1": "1", "f2.r2": "1"}


@pytest.fixture
def judged(owner):
    """Six participants judge the same six items: five with care, and one first as always, fast and with one text."""
    study = make_crowd_study(
        "care", queries=8, arms=ONE_ARM, redundancy=6, items_per_participant=8, owner=owner
    )
    people = [come(study, f"p{number}") for number in range(6)]
    careless = people[-1]
    for n in range(8):
        for number, person in enumerate(people):
            if person is careless:
                first = Assignment.objects.get(participant=person, state="reserved").order.partition(",")[0]
                hand_in(
                    person.token, preference=first, justification="It is the best of the two by far, I think."
                )
            else:
                reason = f"{REASONS[(n + number) % 6]} {number} {n}"
                label = "r1" if n % 2 else "tie"
                hand_in(person.token, preference=label, justification=reason, satisfied=MIXED)
    for judgment in Judgment.objects.filter(study=study):
        fast = judgment.rater_id == careless.rater_id
        judgment.duration_ms = 5_000 if fast else 60_000 + judgment.pk % 7
        judgment.visible_ms = None
        judgment.save(update_fields=["duration_ms", "visible_ms"])
    return study, people


def test_the_careless_stand_first_with_what_they_did(judged):
    study, people = judged
    first, *others = quality_of(study)
    assert first.participant == people[-1]
    assert (first.judged, first.seconds) == (8, 5)
    said = "; ".join(first.signs)
    assert "8% of the time others take" in said
    assert "prefers what is shown first (8 of 8)" in said
    assert "gives the same answer throughout in 8 of 8 judgments" in said
    assert "7 of 8 texts repeat an earlier one" in said
    assert "agrees with others far less" in said
    assert [other.signs for other in others] == [[]] * 5
    assert not Exclusion.objects.exists()


def test_being_far_from_others_is_told_although_many_are_careless_in_other_ways(owner):
    study = make_crowd_study(
        "many", queries=8, arms=ONE_ARM, redundancy=11, items_per_participant=8, owner=owner
    )
    careful, careless, odd = (
        [come(study, f"{kind}{number}") for number in range(n)]
        for kind, n in (("careful", 6), ("careless", 4), ("odd", 1))
    )
    for n in range(8):
        for number, person in enumerate([*careful, *careless, *odd]):
            item = before(person.token).item_id
            usual = "r1" if item % 2 else "r2"
            other = "r2" if item % 2 else "r1"
            if person in careful:
                # Each differs from the others on a number of items of their own.
                label, reason = (
                    ("tie" if n < number // 2 else usual),
                    f"{REASONS[(n + number) % 6]} {number} {n}",
                )
            elif person in careless:
                label, reason = (
                    ("tie", other, usual)[(item + number) % 3],
                    "It is the best of the two by far, I think.",
                )
            else:
                label, reason = other, f"{REASONS[n % 6]} {number} {n}"
            hand_in(person.token, preference=label, justification=reason, satisfied=MIXED)
    Judgment.objects.filter(study=study).update(duration_ms=60_000, visible_ms=None)
    told = {report.participant: report.signs for report in quality_of(study)}
    [sign] = told[odd[0]]
    assert sign.startswith("agrees with others far less")
    assert [told[each] for each in careful] == [[]] * 6


def test_attention_checks_and_copied_texts(owner):
    study = make_crowd_study("checks", queries=3, arms=ONE_ARM, owner=owner, items_per_participant=3)
    person = come(study, "p")
    assignment = Assignment.objects.get(participant=person, state="reserved")
    text = assignment.item.stimulus["responses"][0]["text"]
    long = f"{text} and so on and so forth, as it says there"
    assignment.item.stimulus["responses"][0]["text"] = long
    assignment.item.save(update_fields=["stimulus"])
    hand_in(person.token, justification=long)
    [found] = quality_of(study)
    assert found.signs == ["1 of 1 texts are copied from the screen"]
    Assignment.objects.filter(participant=person, state="submitted").update(passed=False)
    [found] = quality_of(study)
    assert (found.gold.k, found.gold.n) == (0, 1)


def test_pasted_texts_are_a_sign_where_a_script_counted_them(owner):
    study = make_crowd_study("pastes", queries=3, arms=ONE_ARM, owner=owner, items_per_participant=3)
    person = come(study, "p")
    for reason, trace in zip(
        REASONS, ('[{"pasted": 60}]', '[{"pasted": 3}]', '[{"pasted": "all"}, 7]'), strict=False
    ):
        assignment = before(person.token)
        given = filled_in(assignment, justification=reason, satisfied=MIXED)
        submit(person.token, assignment.pk, given, trace=read_trace({"trace.justification": trace}))
    Judgment.objects.update(duration_ms=60_000)
    [found] = quality_of(study)
    assert found.signs == ["1 of 2 texts are mostly pasted"]
    traces = Judgment.objects.filter(study=study).order_by("pk").values_list("trace", flat=True)
    assert list(traces) == [{"justification": [{"pasted": 60}]}, {"justification": [{"pasted": 3}]}, {}]


def judge_three(study, *, seconds=60.0, visible=None, reasons=REASONS, screens=("",) * 3):
    person = come(study, "p")
    for reason, screen in zip(reasons, screens, strict=False):
        assignment = before(person.token)
        given = filled_in(assignment, justification=reason, satisfied=MIXED)
        submit(person.token, assignment.pk, given, screen=screen)
    visible_ms = None if visible is None else int(visible * 1000)
    Judgment.objects.filter(study=study).update(duration_ms=int(seconds * 1000), visible_ms=visible_ms)
    [found] = quality_of(study)
    return found


@pytest.fixture
def three(owner):
    return make_crowd_study("three", queries=3, arms=ONE_ARM, owner=owner, items_per_participant=3)


def test_haste_is_a_sign_though_nobody_else_has_judged(three):
    """Three items in 0.7 s, with the word good four times in each reason."""
    found = judge_three(three, seconds=0.23, reasons=["good good good good"] * 3)
    assert found.relative_time is None
    assert found.signs == [
        "submitted 3 of 3 judgments faster than anybody reads (medians: 0.2 s for 9 words)",
        "2 of 3 texts repeat an earlier one",
        "3 of 3 texts say the same word over and over",
    ]


def test_what_counts_is_the_time_in_view(three):
    found = judge_three(three, seconds=900, visible=0.5)
    assert found.signs == [
        "submitted 3 of 3 judgments faster than anybody reads (medians: 0.5 s for 9 words)"
    ]


@pytest.mark.parametrize("text", ["word " * 100, "字" * 162])
def test_long_texts_take_longer(three, text):
    for item in three.items.all():
        item.stimulus["responses"][0]["text"] = text
        item.save(update_fields=["stimulus"])
    assert judge_three(three, seconds=5).unread.k == 3
    Judgment.objects.update(duration_ms=8_000)
    [found] = quality_of(three)
    assert found.unread.k == 0


@pytest.mark.parametrize(
    ("screens", "signs"),
    [
        (['{"layout": "columns", "in_view": {"r1": 9, "r2": 0}}'] * 3, []),
        (
            ['{"layout": "stacked", "in_view": {"r1": 9}}'] * 3,
            ["submitted 3 of 3 judgments without having had every response in view"],
        ),
        (
            ['{"layout": "tabs", "in_view": {"r2": 9}}'] * 3,
            ["submitted 3 of 3 judgments without having opened every response's tab"],
        ),
        (['{"layout": "stacked", "in_view": {"r1": 9}}', *['{"in_view": {"r1": 1, "r2": 1}}'] * 2], []),
        (["", '{"layout": "stacked"}', "[]"], []),
    ],
)
def test_responses_that_never_came_into_view(three, screens, signs):
    assert judge_three(three, screens=screens).signs == signs


def test_a_time_that_nothing_can_be_compared_with_says_so(three, owner):
    judge_three(three)
    page = text(signed_in(owner).get(reverse("admin:evaluation_study_quality", args=[three.slug])))
    assert "not comparable yet" in page
    assert "100%" not in page


def test_an_id_that_goes_on_in_another_browser_is_a_sign(owner):
    """In how many judgments each, as they took turns; of browsers that keep nothing, nothing is said."""
    study = make_crowd_study("browsers", queries=6, arms=ONE_ARM, owner=owner, items_per_participant=6)
    one, two = come(study, "one"), come(study, "two")
    for person, browsers in ((one, ("a1", "a1", "b2", "", "a1")), (two, ("c3", "c3", "", "c3", "c3"))):
        for n, browser in enumerate(browsers):
            assignment = before(person.token)
            given = filled_in(assignment, justification=f"{REASONS[n]} {person.pk}", satisfied=MIXED)
            screen = json.dumps({"layout": "columns", "browser": browser})
            submit(person.token, assignment.pk, given, screen=screen)
    Judgment.objects.update(duration_ms=60_000)
    signs = {report.participant.pk: report.signs for report in quality_of(study)}
    assert signs[one.pk] == ["went on in another browser (judgments in each: 2, then 1, then 1)"]
    assert signs[two.pk] == []


def test_nothing_is_said_of_pasting_without_scripts(owner):
    study = make_crowd_study("plain", queries=1, arms=ONE_ARM, owner=owner, items_per_participant=1)
    hand_in(come(study, "p").token, justification=REASONS[0])
    [found] = quality_of(study)
    assert (found.texts.n, found.texts.watched, found.signs) == (1, 0, [])


def test_the_page_links_to_excluding_and_says_who_is_excluded(judged, owner):
    study, people = judged
    client = signed_in(owner)
    address = reverse("admin:evaluation_study_quality", args=[study.slug])
    page = client.get(address).content.decode()
    assert "1 of 6 participants has signs of careless work" in page
    assert f"?ids={people[-1].rater_id}" in page
    exclude(study=study, rater=people[-1].rater, reason="Did not read.", by=owner)
    page = client.get(address).content.decode()
    assert "Excluded: Did not read." in page
    assert f"?ids={people[-1].rater_id}" not in page


def test_skipped_checks_are_a_sign(owner):
    study = count_with_checks(2, checks=1)
    StudyMember.objects.create(study=study, user=owner, role="owner")
    careful, careless = come(study, "a"), come(study, "b")
    for person in (careful, careless):
        left = 2 if person is careless else 0
        while (assignment := before(person.token)) is not None:
            if left and assignment.item.role == "attention":
                left -= 1
                skip(person.token, assignment.pk)
            else:
                hand_in(person.token, preference="tie", satisfied=MIXED)
    first, other = quality_of(study)
    assert (first.participant, other.participant) == (careless, careful)
    assert "skipped 2 attention checks" in first.signs
    assert (str(first.attention), first.skipped_checks) == ("1 of 1", 2)
    assert not [sign for sign in other.signs if "check" in sign]
    page = text(signed_in(owner).get(reverse("admin:evaluation_study_quality", args=[study.slug])))
    assert "skipped 2 attention checks" in page
    assert "1 of 1 2 skipped" in page


def test_queries_do_not_grow_with_participants(judged, owner):
    study, _ = judged
    small = make_crowd_study("small", queries=3, arms=ONE_ARM, owner=owner)
    hand_in(come(small, "p").token)

    def asked(of):
        with CaptureQueriesContext(connection) as queries:
            assert quality_of(of)
        return len(queries)

    assert asked(study) == asked(small)


def test_a_page_of_many_and_the_next(judged, owner, monkeypatch):
    monkeypatch.setattr("annotator.admin.quality.PER_PAGE", 4)
    study, people = judged
    client = signed_in(owner)
    address = reverse("admin:evaluation_study_quality", args=[study.slug])
    names = {person.rater.pseudonym for person in people}
    first, second = (client.get(f"{address}?page={n}").content.decode() for n in (1, 2))
    shown = [{name for name in names if name in page} for page in (first, second)]
    assert [len(each) for each in shown] == [4, 2]
    assert shown[0] | shown[1] == names
    assert people[-1].rater.pseudonym in shown[0]
    for page in (first, second):
        assert "1 of 6 participants has signs of careless work" in page
    assert "1 to 4 of 6" in first
    assert "?page=2" in first
    assert "5 to 6 of 6" in second


def test_what_is_kept_is_what_would_be_found(judged, owner):
    """Whatever happens meanwhile: an exclusion, a check that failed, a correction."""
    study, people = judged

    def agree():
        study.refresh_from_db()
        reports = read_reports(study, cached_quality(study))
        assert reports == quality_of(study)
        return reports

    before = agree()
    with CaptureQueriesContext(connection) as queries:
        agreed = read_reports(study, cached_quality(study))
    assert agreed == before
    assert len(queries) <= 6, "no judgment is read again"
    assert not any("answer" in query["sql"] for query in queries)
    exclude(study=study, rater=people[0].rater, reason="Did not read.", by=owner)
    assert [report.excluded for report in agree() if report.excluded] == ["Did not read."]
    one = Assignment.objects.filter(participant=people[1], state="submitted").first()
    Assignment.objects.filter(pk=one.pk).update(passed=False)
    assert [str(report.gold) for report in agree() if report.gold.n] == ["0 of 1"]
    failed = Judgment.objects.filter(study=study).first()
    redone = JudgmentInput(
        rater_id=failed.rater_id, item_id=failed.item_id, revision_id=failed.revision_id,
        answers=study.protocol_object.clean(
            failed.revision.spec, failed.item.stimulus, {"preference": "tie"}, source="import"
        ),
        shown="r1,r2",
    )  # fmt: skip
    give_answers(failed, [])
    Judgment.objects.filter(pk=failed.pk).update(outcome="failed")
    record_judgments(study=study, batch=[redone])
    agree()


def test_who_comes_and_what_they_do_is_seen_at_once(owner):
    study = make_crowd_study("small", queries=3, arms=ONE_ARM, owner=owner, items_per_participant=3)

    def judged_by_each():
        reports = read_reports(study, cached_quality(study))
        assert reports == quality_of(study)
        return [report.judged for report in reports]

    assert judged_by_each() == []
    person = come(study, "p")
    assert judged_by_each() == [0]
    hand_in(person.token)
    assert judged_by_each() == [1]
    come(study, "q")
    assert sorted(judged_by_each()) == [0, 1]
    hand_in(person.token)
    assert sorted(judged_by_each()) == [0, 2]


def test_only_members_read_it(judged, outsider):
    study, _ = judged
    address = reverse("admin:evaluation_study_quality", args=[study.slug])
    assert signed_in(outsider).get(address).status_code == 404


def test_a_study_without_participants(owner):
    study = make_crowd_study("empty", queries=1, arms=ONE_ARM, owner=owner)
    assert quality_of(study) == []
    page = signed_in(owner).get(reverse("admin:evaluation_study_quality", args=[study.slug]))
    assert "No participants yet." in page.content.decode()


def test_people_agree_in_checks_and_not_in_the_wording_of_entries():
    study = make_condition_calibration_study(main=1, redundancy=3, items_per_participant=1)
    people = [come(study, f"p{number}") for number in range(3)]
    for number, person in enumerate(people):
        rows = {"e1.condition": f"Case {number}", "e1.keep": "1"}
        given = {"entries": rows, "checks": {"covers": "1"}}
        submit(person.token, before(person.token).pk, given)
    assert [report.agreement for report in quality_of(study)] == [1.0] * 3
