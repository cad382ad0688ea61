"""Links, Connect, SONA and external questions: who comes by an address, and how each way ends there."""

from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.models import ParticipantOutcome
from annotator.panels.platforms import PLATFORMS, get_platform, offered_platforms
from annotator.panels.platforms.addresses import fill, find_template_problems, is_origin, origin_of
from annotator.panels.platforms.link import OUTCOMES, PLACES
from annotator.visit import Visit

LINK, CONNECT, SONA = get_platform("link"), get_platform("connect"), get_platform("sona")
QUESTION = get_platform("external_question")
SONA_SETTINGS = {"site": "https://school.sona-systems.com", "experiment_id": "12", "credit_token": "abc9"}
QUESTION_SETTINGS = {
    "submit_origins": "https://www.mturk.com http://127.0.0.1:9000",
    "frame_origins": "https://*.mturk.com",
}
ARRIVALS = {
    "link": ({"participant_param": "pid", "session_param": "run"}, {"pid": "p 1", "run": "s/1"}),
    "prolific": ({}, {"PROLIFIC_PID": "p", "STUDY_ID": "s", "SESSION_ID": "v"}),
    "connect": ({}, {"participantId": "p", "projectId": "s", "assignmentId": "v"}),
    "sona": ({"param": "sc"}, {"sc": "777"}),
    "external_question": (
        QUESTION_SETTINGS,
        {
            "workerId": "w",
            "hitId": "h",
            "assignmentId": "a",
            "turkSubmitTo": "https://www.mturk.com",
        },
    ),
}


@pytest.mark.parametrize("key", list(ARRIVALS))
def test_a_visit_survives_the_entry_form(key):
    settings, params = ARRIVALS[key]
    platform = get_platform(key)
    visit = platform.read_visit(params, settings)
    assert visit.platform == key
    assert visit.is_known
    assert platform.visit_params(visit, settings) == params
    assert platform.read_visit({"other": "x"}, settings) == Visit(key)
    assert platform.needs_id(settings)


def test_every_platform_is_offered_with_words_and_knows_every_outcome():
    assert {each.key for each in offered_platforms()} == set(PLATFORMS) - {"personal"} == set(ARRIVALS)
    assert list(OUTCOMES) == ParticipantOutcome.values


def test_a_link_without_parameters_takes_anybody():
    assert LINK.read_visit({"PROLIFIC_PID": "p"}, {}) == Visit("link")
    assert not LINK.needs_id({})


# --- return addresses -------------------------------------------------------------------------------------------------


def test_a_return_address_carries_ids_percent_encoded():
    settings = {
        "participant_param": "pid",
        "return_completed": "https://panel.example/end?c={code}&p={participant}",
    }
    visit = Visit("link", "a&b=c/d é")
    leave = LINK.leave("completed", "X Y#", visit, settings)
    assert leave.code == "X Y#"
    assert parse_qs(urlsplit(leave.link).query) == {"c": ["X Y#"], "p": ["a&b=c/d é"]}
    # Only the outcome that was reached leads anywhere, and nothing leads there with a piece missing.
    assert LINK.leave("failed_attention", "F", visit, settings).link == ""
    assert LINK.leave("completed", "", visit, settings).link == ""
    assert LINK.leave("completed", "X", Visit("link"), settings).link == ""


@given(st.text(max_size=60))
def test_no_value_changes_where_a_return_address_leads(value):
    address = fill("https://panel.example/a/{participant}/b?c={code}", {"participant": value, "code": value})
    if not value:
        assert address == ""
        return
    parts = urlsplit(address)
    assert (parts.scheme, parts.netloc, parts.fragment) == ("https", "panel.example", "")
    assert parts.path.count("/") == 3
    assert set(parse_qs(parts.query, keep_blank_values=True)) == {"c"}


@pytest.mark.parametrize(
    "template",
    [
        "http://panel.example/",
        "javascript:alert(1)",
        "//panel.example/",
        "https://{participant}.example/",
        "https://panel.example@evil.example/",
        "https://panel.example\\@evil.example/",
        "https://panel.example/ {code}",
        "https://panel.example/{token}",
        "https://panel.example/{code",
        "https://",
        "panel.example",
        "http://127.0.0.1.evil.example/",
    ],
)
def test_addresses_that_are_refused(template):
    assert find_template_problems(template, PLACES)
    found = LINK.find_problems({"return_full": template})
    assert found
    assert all(problem.startswith("Return address: study full: ") for problem in found)


@pytest.mark.parametrize(
    "template",
    [
        "https://panel.example",
        "https://panel.example:8443/{study}?x={code}&s={session}",
        "http://127.0.0.1:9/x",
        "http://localhost/end",
        "http://[::1]:80/",
    ],
)
def test_addresses_that_are_taken(template):
    assert LINK.find_problems({"return_full": template}) == []


def test_the_same_return_address_may_serve_where_the_code_tells_who_completed():
    coded, plain = "https://panel.example/?c={code}", "https://panel.example/over"
    assert LINK.find_problems(dict.fromkeys(("return_completed", "return_full"), coded)) == []
    others = dict.fromkeys(("return_full", "return_withdrawn"), plain)
    assert LINK.find_problems({"return_completed": coded} | others) == []


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"participant_param": "choice"}, "used by the entry page"),
        ({"participant_param": "personal"}, "used by the entry page"),
        ({"participant_param": "a b"}, "letters, digits"),
        ({"session_param": "run"}, "the other ids need it"),
        ({"participant_param": "id", "session_param": "id"}, "a parameter of its own"),
        ({"frame_origins": "https://a.org; script-src *"}, "is not an origin"),
        ({"frame_origins": "*"}, "is not an origin"),
        (
            dict.fromkeys(("return_completed", "return_full"), "https://a.org/end"),
            "study full: the same as of who",
        ),
    ],
)
def test_settings_of_a_link_that_are_refused(settings, said):
    assert said in " ".join(LINK.find_problems(settings))


@pytest.mark.parametrize(
    "text", ["https://a.org/", "https://a.org;x", "http://a.org", "https://*", "", "'self'"]
)
def test_what_is_no_origin(text):
    assert not is_origin(text)
    assert not is_origin(text, wide=True)


# --- Connect ----------------------------------------------------------------------------------------------------------

ON_CONNECT = Visit("connect", "p", "proj/7", "a")
PARTIAL = {"partial_url": "https://connect.cloudresearch.com/participant/partial/9?a={session}"}


def test_connect_completes_with_the_project_of_the_visit():
    leave = CONNECT.leave("completed", "C", ON_CONNECT, {})
    assert leave.link == "https://connect.cloudresearch.com/participant/project/proj%2F7/complete"


@pytest.mark.parametrize("outcome", [each for each in ParticipantOutcome.values if each != "completed"])
@pytest.mark.parametrize("settings", [{}, PARTIAL])
def test_nobody_but_who_completed_gets_connect_s_complete_address(outcome, settings):
    leave = CONNECT.leave(outcome, "X", ON_CONNECT, settings)
    assert "complete" not in leave.link
    failed = outcome in ("failed_qualification", "failed_attention", "full")
    assert leave.link == (PARTIAL["partial_url"].replace("{session}", "a") if failed and settings else "")


def test_the_complete_address_is_refused_as_the_partial_one():
    wrong = {"partial_url": "https://connect.cloudresearch.com/participant/project/7/complete/"}
    assert "those who completed" in " ".join(CONNECT.find_problems(wrong))
    assert CONNECT.find_problems(PARTIAL) == []


# --- SONA -------------------------------------------------------------------------------------------------------------


def test_sona_credits_who_completed_and_nobody_else():
    visit = SONA.read_visit({"survey_code": "777"}, SONA_SETTINGS)
    for outcome in ParticipantOutcome.values:
        link = SONA.leave(outcome, "", visit, SONA_SETTINGS).link
        if outcome == "completed":
            parts = urlsplit(link)
            assert f"{parts.scheme}://{parts.netloc}" == SONA_SETTINGS["site"]
            assert parts.path == "/webstudy_credit.aspx"
            assert parse_qs(parts.query) == {
                "experiment_id": ["12"],
                "credit_token": ["abc9"],
                "survey_code": ["777"],
            }
        else:
            assert link == ""
    assert SONA.entry_address("https://x/s/a/", SONA_SETTINGS).endswith("?survey_code=%SURVEY_CODE%")


@pytest.mark.parametrize(
    "change",
    [
        {"site": "https://school.sona-systems.com/x"},
        {"credit_token": "a&b"},
        {"param": "consent"},
        {"site": ""},
    ],
)
def test_settings_of_sona_that_are_refused(change):
    assert SONA.find_problems(SONA_SETTINGS | change)
    assert SONA.find_problems(SONA_SETTINGS) == []


# --- external question ------------------------------------------------------------------------------------------------


def test_a_preview_is_nobody_s_visit():
    params = {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": "h", "workerId": "w"}
    visit = QUESTION.read_visit(params, QUESTION_SETTINGS)
    assert visit.preview
    assert not visit.is_known


@pytest.mark.parametrize(
    "submit_to",
    ["https://www.mturk.com", "https://www.mturk.com/", "https://WWW.MTURK.COM", "http://127.0.0.1:9000"],
)
def test_the_form_goes_to_the_site_that_the_address_names(submit_to):
    visit = QUESTION.read_visit(
        {"workerId": "w", "assignmentId": "a", "hitId": "h", "turkSubmitTo": submit_to}, QUESTION_SETTINGS
    )
    leave = QUESTION.leave("completed", "C", visit, QUESTION_SETTINGS)
    assert leave.post_to == f"{submit_to.lower().rstrip('/')}/mturk/externalSubmit"
    assert leave.fields == {"assignmentId": "a", "outcome": "completed", "code": "C"}
    assert (
        QUESTION.leave("failed_attention", "", visit, QUESTION_SETTINGS).fields["outcome"]
        == "failed_attention"
    )
    # Who did no work returns the task on the site.
    for outcome in ("no_consent", "full", "withdrawn", "returned", "timed_out"):
        assert QUESTION.leave(outcome, "", visit, QUESTION_SETTINGS).post_to == ""


@pytest.mark.parametrize(
    "submit_to",
    [
        "https://evil.example",
        "https://www.mturk.com.evil.example",
        "https://www.mturk.com@evil.example",
        "https://evil.example\\@www.mturk.com",
        "http://www.mturk.com",
        "javascript:alert(1)//www.mturk.com",
        "https://www.mturk.com:444",
        "",
    ],
)
def test_no_form_goes_to_a_site_that_the_settings_do_not_name(submit_to):
    visit = QUESTION.read_visit(
        {"workerId": "w", "assignmentId": "a", "hitId": "h", "turkSubmitTo": submit_to}, QUESTION_SETTINGS
    )
    leave = QUESTION.leave("completed", "C", visit, QUESTION_SETTINGS)
    assert (leave.post_to, leave.code) == ("", "C")


def test_wide_origins_frame_but_take_no_form():
    assert QUESTION.find_problems(QUESTION_SETTINGS) == []
    wide = QUESTION_SETTINGS | {"submit_origins": "https://*.mturk.com"}
    assert "is not an origin" in " ".join(QUESTION.find_problems(wide))
    assert QUESTION.frame_ancestors(QUESTION_SETTINGS) == ("https://*.mturk.com",)
    # Stored by other means, it never gets into a header all the same.
    assert QUESTION.frame_ancestors({"frame_origins": "*;script-src https://a.org;"}) == ()


def test_an_origin_is_that_of_the_address():
    assert origin_of("https://Panel.example:8443/a?b#c") == "https://panel.example:8443"
    assert origin_of("https://user@panel.example/") == ""
