"""Members read studies, items, raters, judgments and the report; nobody else does."""

import json
from datetime import UTC, datetime
from io import StringIO

import pytest
from django.contrib.auth import get_user_model
from django.core.management import call_command
from jsonschema import Draft202012Validator

from annotator.models import Participant
from evaluation.models import Context, Import, Item, Judgment, Outcome, Rater, StudyMember
from evaluation.services.exclusions import exclude
from evaluation.services.saved_views import save_view
from evaluation.services.studies.creation import PAPER_ARMS
from evaluation.services.studies.items import withdraw_item
from tests.analytics.reports.judging import fail, judge, judged_study, main_items
from tests.crowd import come, hand_in, make_crowd_study
from tests.factories import make_study

PATHS = ("", "items/", "items/{item}/", "raters/", "judgments/", "report/")
LISTS = ("items/", "raters/", "judgments/")


def under(study, path=""):
    return f"studies/{study.slug}/" + path.format(item=main_items(study)[0].key)


# --- rights ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS)
def test_members_read_and_viewers_too(study, as_owner, as_viewer, path):
    assert as_owner.get(under(study, path)).status_code == 200
    assert as_viewer.get(under(study, path)).json() == as_owner.get(under(study, path)).json() | (
        {"role": "viewer"} if path == "" else {}
    )


@pytest.mark.parametrize("path", PATHS)
def test_outsiders_can_t_tell_a_study_from_none(study, as_outsider, as_owner, path):
    hidden = as_outsider.get(under(study, path))
    missing = as_owner.get(under(study, path).replace("contrast/", "no-such-study/", 1))
    assert hidden.status_code == missing.status_code == 404
    assert hidden.json() == missing.json()
    assert hidden["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("path", ["studies/", "endpoints/", *(f"studies/contrast/{path}" for path in LISTS)])
def test_nobody_reads_anything(study, as_nobody, path):
    refusal = as_nobody.get(path)
    assert refusal.status_code == 401
    assert refusal["WWW-Authenticate"] == "Bearer"
    assert refusal.json()["code"] == "not_authenticated"


# A study itself can be changed and, as a draft, deleted.
REFUSED = [
    (path, method)
    for path in PATHS
    for method in ("post", "put", "patch", "delete", "options")
    if (path, method) not in {("", "patch"), ("", "delete")}
]


@pytest.mark.parametrize(("path", "method"), REFUSED)
def test_what_is_read_only_is_read_only(study, as_owner, path, method):
    refusal = getattr(as_owner.client, method)(
        f"/api/v1/{under(study, path)}", headers={"Authorization": f"Bearer {as_owner.token}"}
    )
    assert refusal.status_code == 405
    assert refusal.json()["code"] == "method_not_allowed"


def test_a_session_opens_nothing(study, owner, client):
    client.force_login(owner)
    assert client.get("/api/v1/studies/").status_code == 401


def test_a_study_being_imported_is_invisible(study, as_owner):
    study.created_by_import = Import.objects.create(file_name="dump.jsonl", format="assay")
    study.save()
    assert as_owner.get(under(study)).status_code == 404
    assert as_owner.get("studies/").json()["results"] == []


def test_nothing_is_kept_by_caches_between(study, as_owner):
    assert as_owner.get("studies/")["Cache-Control"] == "private, no-store"


# --- studies --------------------------------------------------------------------------------------------------------


def test_the_list_holds_one_s_own_studies_newest_first(study, owner, as_owner, as_outsider, call):
    judged_study("second", owner=owner, queries=1)
    assert [each["slug"] for each in as_owner.get("studies/").json()["results"]] == ["second", "contrast"]
    assert as_outsider.get("studies/").json() == {"next": None, "results": []}
    root = get_user_model().objects.create_superuser("root")
    assert [(each["slug"], each["role"]) for each in call(root).get("studies/").json()["results"]] == [
        ("second", None),
        ("contrast", None),
    ]


def test_one_study_says_its_hashes_and_counts(study, as_owner):
    people = list(study.raters.all())
    exclude(study=study, rater=people[0], reason="Too fast.")
    fail(study, people[1])
    found = as_owner.get(under(study)).json()
    assert found["role"] == "owner"
    assert found["status"] == "live"
    assert found["study_hash"] == study.study_hash
    first = study.revisions.get()
    assert found["revisions"] == [
        {"number": 1, "spec_hash": first.spec_hash, "hash": first.hash, "items_added": 0}
    ]
    assert [arm["key"] for arm in found["arms"]] == [arm.key for arm in study.arms.all()]
    assert [system["key"] for system in found["systems"]] == ["aspen", "birch"]
    assert found["counts"] == {
        "items": 36,
        "raters": 3,
        "judgments": 109,
        "counting": 72,
        "left_out": [{"reason": "excluded", "n": 36}, {"reason": "unparsed", "n": 1}],
    }


# --- items ----------------------------------------------------------------------------------------------------------


def test_an_item_names_its_context_and_who_wrote_it(study, as_owner):
    item, without = main_items(study)[:2]
    assert as_owner.get(under(study, f"items/{item.key}/")).json()["context_source"] == ""
    Context.objects.filter(pk=item.context_id).update(source="dublin")
    found = as_owner.get(under(study, f"items/{item.key}/")).json()
    assert (found["context"], found["context_source"]) == (item.context.key, "dublin")
    Item.objects.filter(pk=without.pk).update(context=None)
    found = as_owner.get(under(study, f"items/{without.key}/")).json()
    assert (found["context"], found["context_source"]) == (None, "")


def test_an_item_names_what_asks_its_question(study, as_owner):
    item, without = main_items(study)[:2]
    Item.objects.filter(pk=item.pk).update(clarifying_source="dublin")
    for each, source in ((item, "dublin"), (without, "")):
        found = as_owner.get(under(study, f"items/{each.key}/")).json()
        assert found["clarifying_source"] == source


def test_an_item_carries_its_stimulus_as_it_was_frozen(study, as_owner):
    item = main_items(study)[0]
    found = as_owner.get(under(study, "items/{item}/")).json()
    assert found["stimulus"] == item.stimulus
    assert found["stimulus_hash"] == item.stimulus_hash
    assert found["arm"] == item.arm.key
    assert found["query"] == {"key": "q0", "category": "even"}
    assert found["systems"] == [response["system"] for response in item.stimulus["responses"]]
    assert found["gold"] is None


def test_lists_carry_stimuli_only_where_asked(study, as_owner):
    assert "stimulus" not in as_owner.get(under(study, "items/")).json()["results"][0]
    expanded = as_owner.all(under(study, "items/"), expand="stimulus", page_size=7)
    assert [each["stimulus"] for each in expanded] == [item.stimulus for item in main_items(study)]


def test_gold_and_drafts(owner, as_owner):
    make_study("draft", owner=owner, queries=1)
    found = as_owner.all("studies/draft/items/", expand="stimulus", role="training")
    assert len(found) == 3
    assert {each["stimulus"] for each in found} == {None}
    assert {each["stimulus_hash"] for each in found} == {""}
    assert found[0]["systems"] == ["aspen", "birch"]
    assert found[0]["gold"]["preference"] == ["r1"]


def test_items_are_found_by_arm_query_and_a_key_with_slashes(study, as_owner):
    arm = study.arms.first().key
    assert len(as_owner.all(under(study, "items/"), arm=arm)) == 12
    assert len(as_owner.all(under(study, "items/"), query="q3")) == 3
    assert as_owner.all(under(study, "items/"), query="nothing") == []
    item = main_items(study)[0]
    item.key = "files/a b/ü?.json"
    item.save()
    found = as_owner.get(under(study, "items/files%2Fa%20b%2F%C3%BC%3F.json/"))
    assert found.json()["key"] == item.key
    assert as_owner.get(under(study, "items/no-such-item/")).status_code == 404


def test_a_withdrawn_item_says_so(study, as_owner):
    withdraw_item(main_items(study)[0])
    assert as_owner.get(under(study, "items/{item}/")).json()["withdrawn"] is True


# --- raters ---------------------------------------------------------------------------------------------------------


def test_raters_by_pseudonym_with_why_they_are_excluded(study, as_owner):
    Rater.objects.create(study=study, kind="judge", label="llm v1", in_figures=False, about={"judge": "llm"})
    exclude(study=study, rater=study.raters.get(pseudonym="person-1"), reason="Too fast.")
    rows = {row["rater"]: row for row in as_owner.all(under(study, "raters/"))}
    assert rows["person-1"]["excluded"] == "Too fast."
    assert rows["person-0"]["excluded"] is None
    assert rows["person-0"]["judgments"] == 36
    [llm] = as_owner.all(under(study, "raters/"), kind="judge")
    assert (llm["in_figures"], llm["about"], llm["judgments"]) == (False, {"judge": "llm"}, 0)


def test_a_panel_s_ids_are_nowhere(owner, as_owner):
    study = make_crowd_study("crowd", queries=2, arms=PAPER_ARMS[:1], owner=owner)
    token = come(study, "panel-id-of-a-person").token
    hand_in(token)
    assert Judgment.objects.filter(study=study).exists()
    participant = Participant.objects.get(token=token)
    for path in PATHS[:-1]:
        text = as_owner.get(under(study, path)).content.decode()
        assert "panel-id-of-a-person" not in text
        assert participant.token not in text


# --- judgments ------------------------------------------------------------------------------------------------------


def test_judgments_carry_answers_in_the_order_of_ids(study, as_owner):
    rows = as_owner.all(under(study, "judgments/"), page_size=50)
    stored = list(study.judgments.order_by("pk").prefetch_related("answers").select_related("rater", "item"))
    assert [row["id"] for row in rows] == [judgment.pk for judgment in stored]
    first, row = stored[0], rows[0]
    assert row["rater"] == first.rater.pseudonym
    assert row["item"] == first.item.key
    assert row["shown"] == first.shown.split(",")
    [answer] = first.answers.all()
    assert row["answers"] == [
        {
            "question": "preference",
            "part": "",
            "kind": "preference",
            "number": None,
            "label": answer.label,
            "text": None,
        }
    ]


def test_judgments_are_found_by_rater_item_kind_outcome_and_since(study, as_owner):
    path = under(study, "judgments/")
    [llm] = judge(study, raters=1, kind="judge")
    fail(study, llm)
    item = main_items(study)[5]
    assert len(as_owner.all(path, rater="person-1")) == 36
    assert {row["rater"] for row in as_owner.all(path, item=item.key)} == {
        "person-0", "person-1", "person-2", "judge-0",
    }  # fmt: skip
    assert len(as_owner.all(path, kind="judge")) == 37
    [failed] = as_owner.all(path, outcome="unparsed")
    assert (failed["outcome"], failed["answers"]) == ("unparsed", [])
    latest = study.judgments.latest("pk").pk
    assert [row["id"] for row in as_owner.all(path, since=latest - 2)] == [latest - 1, latest]
    assert as_owner.all(path, since=latest) == []
    assert as_owner.all(path, rater="nobody") == []


def test_another_study_s_rater_of_the_same_name_finds_nothing_there(study, owner, as_owner):
    other = judged_study("other", owner=owner, queries=1)
    assert as_owner.all(under(other, "judgments/"), rater="person-1") == []
    assert as_owner.all(under(other, "judgments/")) == []


def test_the_day_stands_in_for_the_time_unless_the_study_permits_it(study, as_owner):
    study.judgments.update(judged_at=datetime(2025, 3, 4, 23, 59, 58, tzinfo=UTC))
    [row, *_] = as_owner.get(under(study, "judgments/")).json()["results"]
    assert (row["day"], row["judged_at"]) == ("2025-03-04", None)
    assert "23:59" not in as_owner.get(under(study, "judgments/")).content.decode()
    study.exact_times = True
    study.save()
    [row, *_] = as_owner.get(under(study, "judgments/")).json()["results"]
    assert (row["day"], row["judged_at"]) == ("2025-03-04", "2025-03-04T23:59:58+00:00")


def test_exclusions_stand_with_the_judgments(study, as_owner):
    rater = study.raters.get(pseudonym="person-1")
    judgment = rater.judgments.first()
    exclude(study=study, rater=rater, reason="Too fast.")
    exclude(study=study, judgment=judgment, reason="Slipped.")
    rows = {row["id"]: row for row in as_owner.all(under(study, "judgments/"))}
    assert rows[judgment.pk]["excluded"] == [
        {"scope": "rater", "reason": "Too fast."},
        {"scope": "judgment", "reason": "Slipped."},
    ]
    assert sum(bool(row["excluded"]) for row in rows.values()) == 36


# --- the report -----------------------------------------------------------------------------------------------------


def test_the_report_is_the_command_s(study, as_owner):
    out = StringIO()
    call_command("report", study.slug, format="json", stdout=out)
    report = as_owner.get(under(study, "report/")).json()
    assert report == json.loads(out.getvalue())
    schema = as_owner.get("report-schema/").json()
    assert not list(Draft202012Validator(schema).iter_errors(report))
    assert list(Draft202012Validator(schema).iter_errors(report | {"surprise": 1}))
    compared = as_owner.get("comparison-schema/").json()
    assert compared["properties"]["schema"]["const"] == "assay-comparison/1"


def test_a_study_without_judgments_has_no_report(owner, as_owner):
    judged_study("fresh", owner=owner, queries=1)
    answer = as_owner.get("studies/fresh/report/")
    assert answer.status_code == 404
    assert answer.json()["code"] == "nothing_to_report"
    assert "Nobody has judged an item yet" in answer.json()["detail"]


def test_a_report_that_takes_long_is_computed_by_the_worker(study, as_owner, busy_worker):
    for _ in range(2):
        answer = as_owner.get(under(study, "report/"))
        assert answer.status_code == 202
        assert answer.json() == {"state": "computing", "message": ""}
        assert int(answer["Retry-After"]) > 0
    assert len(busy_worker()) == 1
    assert as_owner.get(under(study, "report/")).json()["schema"].startswith("assay-report/")
    exclude(study=study, rater=study.raters.first(), reason="Too fast.")
    assert as_owner.get(under(study, "report/")).status_code == 202, (
        "figures from before the change are not shown"
    )


def test_the_report_of_a_view(study, as_owner):
    answer = as_owner.get(under(study, "report/?system=aspen&system=birch&without_rater=person-1"))
    view = {"system": ["aspen", "birch"], "without_rater": ["person-1"]}
    assert answer.json()["parameters"]["view"] == view
    files = as_owner.get(under(study, "report/file/?path=report.md&without_rater=person-1"))
    assert b"without rater person-1" in files.getvalue()
    for query, field in (
        ("system=fir", "system"),
        ("from=soon", "from"),
        ("revision=1&revision=1", "revision"),
        ("view=careful", "careful"),
    ):
        refused = as_owner.get(under(study, f"report/?{query}"))
        assert refused.status_code == 400
        assert field in refused.content.decode()
    assert as_owner.get(under(study, "report/?to=1999-01-01")).status_code == 404
    save_view(study, name="careful", filters=view, by=None)
    assert as_owner.get(under(study, "report/?view=careful")).json() == answer.json()
    both = as_owner.get(under(study, "report/?view=careful&system=aspen"))
    assert "leave out system" in both.content.decode()


# --- how often the database is asked --------------------------------------------------------------------------------


def test_a_page_costs_the_same_however_long(study, as_owner, django_assert_num_queries):
    judge(study, raters=1, kind="judge")
    # Two for the token, one for the study and the right to it, then the rows; for raters and judgments, whether the
    # history says today that they were copied.
    for path, rows in (("items/", 2), ("raters/", 4), ("judgments/", 5)):
        address = under(study, path)
        # A process reads each layout of answers once.
        as_owner.get(address)
        for size in (2, 100):
            with django_assert_num_queries(3 + rows):
                assert as_owner.get(address, page_size=size).status_code == 200


def test_the_list_of_studies_costs_the_same_however_long(owner, as_owner, django_assert_num_queries):
    for number in range(3):
        judged_study(f"study-{number}", owner=owner, queries=1)
    for size in (1, 100):
        with django_assert_num_queries(4):
            as_owner.get("studies/", page_size=size)


def test_outcomes_that_the_description_knows_are_those_that_there_are(as_owner, study):
    assert as_owner.get(under(study, "judgments/"), outcome="lost").status_code == 400
    for outcome in Outcome.values:
        assert as_owner.get(under(study, "judgments/"), outcome=outcome).status_code == 200


def test_who_is_no_longer_a_member_reads_no_more(study, owner, as_owner):
    StudyMember.objects.filter(user=owner).delete()
    assert as_owner.get(under(study)).status_code == 404
