"""The client of Prolific's API against a server that behaves, and misbehaves, as that one may."""

import socket
from decimal import Decimal

import pytest

from annotator.models import PanelStatus
from annotator.panels.platforms.api import CompletionCode, StudyAction, StudyDraft
from annotator.panels.platforms.errors import PanelBusy, PanelError, PanelUnreachable
from annotator.panels.platforms.statuses import ACTIVE, DRAFT, PAUSED, REVIEWING
from annotator.panels.prolific import signature, statuses
from annotator.panels.prolific.client import Client
from tests.annotator.panels import prolific_server

PAIRS = StudyDraft(
    name="Pairs",
    internal_name="Assay pairs",
    description="Which answer is better?",
    address="https://assay.example.org/s/pairs/?PROLIFIC_PID={{%PROLIFIC_PID%}}",
    codes=(CompletionCode("completed", "DONE"), CompletionCode("full", "FAST", "All places were taken.")),
    places=60,
    minutes=7,
    pay=Decimal("1.75"),
)
REASON = (
    "Two of two attention checks, which named the answer to choose in so many words, were answered otherwise."
)


@pytest.fixture
def prolific():
    with prolific_server.serve() as served:
        yield served


@pytest.fixture
def waits():
    """What the client slept, instead of sleeping."""
    return []


@pytest.fixture
def client(prolific, waits):
    with Client(prolific.token, prolific.url, sleep=waits.append, draw=lambda: 1.0) as made:
        yield made


@pytest.fixture
def study(prolific, client):
    made = client.create_study(PAIRS)
    client.transition_study(made.id, StudyAction.PUBLISH)
    return made.id


@pytest.fixture
def submission(prolific, study):
    made = prolific.arrive(study, "person-1")
    prolific.complete(made, "DONE")
    return made


def failure(call, *args, **named):
    with pytest.raises(PanelError) as caught:
        call(*args, **named)
    return caught.value


def test_a_study_from_draft_to_more_places(prolific, client):
    made = client.create_study(PAIRS)
    assert (made.status, made.places) == (DRAFT, 60)
    assert prolific.sent("POST", "^/studies/$")[0].body["reward"] == 175
    assert made.codes == {"DONE": "COMPLETED", "FAST": "OTHER"}
    assert [each.id for each in client.list_studies()] == [made.id]
    assert client.transition_study(made.id, StudyAction.PUBLISH).status == ACTIVE
    assert client.transition_study(made.id, StudyAction.PAUSE).status == PAUSED
    assert client.set_places(made.id, 70).places == 70
    assert client.get_study(made.id).places == 70


def test_what_the_panel_refuses_is_said_in_its_words_and_not_repeated(
    prolific, client, study, submission, waits
):
    error = failure(client.reject, submission, reason="no", category="LOW_EFFORT")
    assert (error.status, error.sent) == (400, False)
    assert "message: It must be at least 100 characters long." in error.message
    assert "can only be increased" in failure(client.set_places, study, 1).message
    assert failure(client.get_study, "0" * 24).status == 404
    assert len(prolific.sent("POST", f"{submission}/transition/")) == 1
    assert waits == []


def test_all_pages_are_read_whatever_their_size(prolific, client, study):
    made = [prolific.arrive(study, f"person-{n}") for n in range(45)]
    assert [each.id for each in client.list_submissions(study)] == made
    # The server gives 20 where 100 were asked for.
    assert len(prolific.sent("GET", "^/submissions/$")) == 3
    prolific.page_size = 45
    assert len(client.list_submissions(study)) == 45
    assert client.list_submissions("0" * 24) == []


def test_a_submission_reads_the_same_from_a_list_and_by_itself(prolific, client, study, submission):
    [listed] = client.list_submissions(study)
    assert listed == client.get_submission(submission)
    assert (listed.status, listed.participant_id, listed.code) == ("awaiting_review", "person-1", "DONE")
    assert listed.completed_at > listed.started_at


@pytest.mark.parametrize(
    ("faults", "slept"),
    [
        (["429"], [1.0]),
        (["429=7"], [7.0]),
        (["500", "503", "429"], [1.0, 2.0, 4.0]),
        (["hang_up"], [1.0]),
    ],
)
def test_what_may_be_asked_again_is_after_a_while(prolific, client, study, waits, faults, slept):
    for fault in faults:
        prolific.fail("GET", "/studies/", fault)
    assert client.get_study(study).id == study
    assert waits == slept


def test_retry_after_as_a_date_is_waited_for(prolific, client, study, waits):
    prolific.fail("GET", "/studies/", "429=date")
    client.get_study(study)
    assert 0.5 < waits[0] <= 2


def test_waiting_is_drawn_and_bounded(prolific, waits):
    with Client(prolific.token, prolific.url, sleep=waits.append, draw=lambda: 0.0, attempts=4) as client:
        prolific.fail("GET", "", "500", times=99)
        error = failure(client.list_studies)
    assert isinstance(error, PanelBusy)
    assert waits == [0.5, 1.0, 2.0]
    assert len(prolific.sent("GET")) == 4


def test_who_is_asked_to_wait_for_too_long_gives_up_at_once(prolific, client, waits):
    prolific.fail("GET", "", "429=3600")
    error = failure(client.list_studies)
    assert (type(error), error.after, error.sent, waits) == (PanelBusy, 3600, False, [])


@pytest.mark.parametrize("fault", ["act_then_hang_up", "act_then_500", "act_then_garbage"])
def test_a_draft_is_not_made_twice(prolific, client, fault):
    prolific.fail("POST", "/studies/", fault)
    assert failure(client.create_study, PAIRS).sent
    assert len(prolific.studies) == len(prolific.sent("POST", "^/studies/$")) == 1


def test_a_draft_that_was_certainly_not_heard_of_is_asked_for_again(prolific, client):
    prolific.fail("POST", "/studies/", "429")
    assert client.create_study(PAIRS).id in prolific.studies


def test_an_approval_whose_answer_was_lost_is_left_to_be_looked_up(prolific, client, study, submission):
    prolific.fail("POST", "/transition/", "act_then_hang_up")
    assert failure(client.approve, submission).sent
    assert len(prolific.sent("POST", f"{submission}/transition/")) == 1
    assert client.get_submission(submission).status == "approved"


def test_an_approval_that_was_certainly_not_heard_of_is_repeated(prolific, client, study, submission):
    prolific.fail("POST", "/transition/", "429")
    assert client.approve(submission).status == "approved"
    assert len(prolific.sent("POST", f"{submission}/transition/")) == 2


def test_an_error_remembers_that_an_earlier_attempt_may_have_been_heard(prolific, client, study):
    prolific.fail("PATCH", "/studies/", "act_then_hang_up")
    prolific.fail("PATCH", "/studies/", "400")
    error = failure(client.set_places, study, 70)
    assert (error.status, error.sent) == (400, True)
    assert prolific.studies[study]["total_available_places"] == 70


def test_a_rejection_carries_its_reason_and_category(prolific, client, submission):
    rejected = client.reject(submission, reason=REASON, category="FAILED_CHECK")
    assert rejected.status == "rejected"
    assert prolific.submissions[submission]["message"] == REASON


def test_a_return_is_asked_for_once(prolific, client, submission):
    prolific.fail("POST", "/request-return/", "act_then_hang_up")
    assert failure(client.request_return, submission, "Something broke.").sent
    assert prolific.return_requests == [(submission, ["Something broke."])]
    assert client.get_submission(submission).return_requested_at is not None


@pytest.mark.parametrize(
    ("fault", "sent", "paid"),
    [
        ("act_then_hang_up", True, 1),
        ("act_then_500", True, 1),
        ("hang_up", True, 0),
        ("503", True, 0),
        ("429", False, 0),
    ],
)
def test_a_payment_is_one_attempt_whatever_comes_of_it(
    prolific, client, study, submission, fault, sent, paid
):
    batch = client.create_bonuses(study, [(submission, Decimal("1.5"))])
    prolific.fail("POST", "/pay/", fault)
    assert failure(client.pay_bonuses, batch.id).sent is sent
    assert len(prolific.sent("POST", "/pay/")) == 1
    assert prolific.paid == [(submission, Decimal("1.50"))] * paid


def test_bonuses_are_set_up_in_full_and_read_back(prolific, client, study, submission):
    batch = client.create_bonuses(study, [(submission, Decimal("1E+1"))])
    assert prolific.sent("POST", "/bonus-payments/$")[0].body["csv_bonuses"] == f"{submission},10.00\n"
    client.pay_bonuses(batch.id)
    assert client.get_submission(submission).bonuses == (Decimal("10.00"),)


@pytest.mark.parametrize("amount", ["0", "-1", "1.005"])
def test_an_amount_that_is_none_never_leaves(prolific, client, study, submission, amount):
    with pytest.raises(ValueError, match="two decimals"):
        client.create_bonuses(study, [(submission, Decimal(amount))])
    assert prolific.sent("POST", "bonus") == []


def test_nobody_there_means_not_sent():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with Client("a-token", url, attempts=2, sleep=lambda _: None) as client:
            error = failure(client.pay_bonuses, "batch")
    assert isinstance(error, PanelUnreachable)
    assert not error.sent


def test_a_slow_answer_may_have_been_heard(prolific, study):
    prolific.fail("POST", "/pay/", "slow=0.5")
    with Client(prolific.token, prolific.url, timeout=0.1) as client:
        error = failure(client.pay_bonuses, "batch")
    assert isinstance(error, PanelUnreachable)
    assert error.sent


def test_a_wrong_token_is_refused_and_never_shown(prolific):
    with Client("another-token", prolific.url) as client:
        error = failure(client.list_studies)
        assert error.status == 401
        assert "another-token" not in f"{error} {client!r} {vars(error)}"


@pytest.mark.parametrize("identifier", ["", ".", "..", " "])
def test_an_empty_id_asks_for_nothing_else(prolific, client, identifier):
    for ask in (client.get_submission, client.get_study):
        error = failure(ask, identifier)
        assert (error.status, error.sent) == (404, False)
        assert "not a Prolific id" in str(error)
    assert not prolific.sent("GET", "")
    assert failure(client.get_submission, "../studies").status == 404


def test_webhooks_are_subscribed_to_and_confirmed(prolific, client):
    assert client.create_secret("workspace") == prolific.secret
    made = client.create_subscription(
        "workspace", "submission.status.change", "https://assay.example.org/hooks/"
    )
    [before] = client.list_subscriptions("workspace")
    assert not before.enabled
    client.confirm_subscription(made.id, made.confirmation)
    [after] = client.list_subscriptions("workspace")
    assert (after.enabled, after.target) == (True, "https://assay.example.org/hooks/")
    error = failure(client.create_subscription, "workspace", "submission.status.change", "http://127.0.0.1/")
    assert "https" in error.message


# --- words and signatures --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "status"),
    [
        ("AWAITING REVIEW", "awaiting_review"),
        ("AWAITING_REVIEW", "awaiting_review"),
        ("TIMED-OUT", "timed_out"),
        ("Screened Out", "screened_out"),
        ("ABDUCTED", "unknown"),
        ("", "unknown"),
    ],
)
def test_every_spelling_of_a_status_is_one(word, status):
    assert statuses.submission_status(word) == status


def test_statuses_are_those_of_the_table():
    assert {*statuses.SUBMISSION.values(), statuses.UNKNOWN} == set(PanelStatus.values)


def test_a_study_s_status_is_spelled_as_in_answers():
    assert statuses.study_status("AWAITING_REVIEW") == REVIEWING


def test_a_signature_is_of_these_bytes_at_this_time_with_this_secret():
    raw, at, secret = b'{"status": "RETURNED"}', "1795276800", "the-secret"
    signed = signature.sign(raw, at, secret)
    # Worked out with `openssl dgst -sha256 -hmac the-secret -binary | base64`.
    assert signed == "lPtyokrnBRIKF9LH7CnRXBEakNIjoh+RsbUxyW6qGR4="
    assert signature.verify(raw, at, signed, secret)
    for other in (
        (raw + b" ", at, signed, secret),
        (raw, "1795276801", signed, secret),
        (raw, at, signed[:-2], secret),
        (raw, at, "ä", secret),
        (raw, at, "", secret),
        (raw, at, signed, "another"),
        (raw, at, signature.sign(raw, at, ""), ""),
    ):
        assert not signature.verify(*other)
