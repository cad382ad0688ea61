"""Every operation, and what each kind of caller gets of it: nobody, an outsider, a viewer, an editor, an owner."""

import json

import pytest
from django.db import transaction
from django.test import Client

from tests import openapi
from tests.evaluation.api.world import running

__all__ = ["running"]

# Of a study: who views it, who may write, who owns it.
VIEW = {"viewer", "editor", "owner"}
WRITE = {"editor", "owner"}
OWN = {"owner"}
# Of none: whoever has a token; there they are staff, who may begin studies and endpoints.
ANYBODY = {"outsider", *VIEW}
# Of an endpoint: who knows of it, being a member of a study that it is open to; who made it, here none of them.
KNOWN, MAKER = VIEW, set()

RIGHTS = {
    # --- of no study
    "list_studies": ANYBODY, "create_study": ANYBODY, "list_library": ANYBODY, "import_study": ANYBODY,
    "list_table_maps": ANYBODY, "save_table_map": ANYBODY,
    "begin_upload": ANYBODY, "get_report_schema": ANYBODY, "get_comparison_schema": ANYBODY, "list_endpoints": ANYBODY,
    "create_endpoint": ANYBODY, "get_endpoint": KNOWN, "change_endpoint": MAKER, "list_prices": KNOWN,
    "set_price": MAKER, "enter_endpoint_key": MAKER, "remove_endpoint_key": MAKER,
    "get_endpoint_test": MAKER, "test_endpoint": MAKER,
    # --- of one's own files and maps alone, whoever one is
    "get_upload": OWN, "send_part": OWN, "delete_upload": OWN, "delete_table_map": OWN,
    # --- read by every member
    "get_study": VIEW, "get_design": VIEW, "check_study": VIEW, "get_progress": VIEW, "list_derivations": VIEW,
    "list_items": VIEW, "get_item": VIEW, "count_slots": VIEW, "list_raters": VIEW, "list_participants": VIEW,
    "get_entry_rules": VIEW, "list_quality": VIEW, "list_judgments": VIEW, "list_exclusions": VIEW,
    "list_settled": VIEW,
    "list_notes": VIEW, "list_flags": VIEW, "list_jobs": VIEW, "get_job": VIEW, "get_job_file": VIEW,
    "get_left_out_rows": VIEW,
    "get_report": VIEW, "get_comparison": VIEW, "get_leaderboard": VIEW, "list_report_files": VIEW,
    "get_report_file": VIEW, "show_bundle": VIEW, "get_bundle": VIEW, "list_export_formats": VIEW,
    "list_judges": VIEW, "get_judge": VIEW, "get_map": VIEW, "get_spending": VIEW, "estimate_run": VIEW,
    "get_anchors": VIEW, "list_run_groups": VIEW, "estimate_runs": VIEW, "get_run_group": VIEW,
    "list_runs": VIEW, "get_run": VIEW, "list_pipelines": VIEW, "list_pipeline_runs": VIEW,
    "get_pipeline_run": VIEW, "list_products": VIEW, "get_product": VIEW, "export_products": VIEW,
    # --- asked of a worker by every member
    "make_report_files": VIEW, "make_bundle": VIEW, "export_study": VIEW, "restart_job": VIEW,
    "confirm_job": VIEW,
    # --- done by editors and owners
    "set_entry_rules": WRITE, "revise_study": WRITE,
    "change_study": WRITE, "change_design": WRITE, "launch_study": WRITE, "pause_study": WRITE,
    "resume_study": WRITE, "close_study": WRITE, "reopen_study": WRITE, "archive_study": WRITE,
    "unarchive_study": WRITE, "duplicate_study": WRITE, "derive_study": WRITE, "add_items": WRITE,
    "add_items_of_file": WRITE, "resolve_flag": WRITE,
    "add_queries": WRITE, "import_items": WRITE, "import_scores": WRITE, "import_scores_of_file": WRITE,
    "withdraw_item": WRITE,
    "bring_back_item": WRITE, "set_redundancy": WRITE, "recollect": WRITE, "exclude": WRITE,
    "undo_exclusion": WRITE, "settle_item": WRITE, "take_back_label": WRITE, "write_note": WRITE,
    "delete_note": WRITE, "create_judge": WRITE, "edit_judge": WRITE, "create_conditions": WRITE,
    "create_composite": WRITE, "set_budget": WRITE, "set_anchors": WRITE, "stop_anchors": WRITE,
    "start_runs": WRITE, "set_group_budget": WRITE, "start_run": WRITE, "pause_run": WRITE,
    "resume_run": WRITE, "cancel_run": WRITE, "estimate_pipeline": WRITE, "start_pipeline": WRITE,
    "pause_pipeline_run": WRITE, "resume_pipeline_run": WRITE, "cancel_pipeline_run": WRITE,
    "retry_pipeline_run": WRITE, "pass_over_units": WRITE, "make_later_steps": WRITE, "edit_product": WRITE,
    "drop_products": WRITE, "restore_products": WRITE, "make_study": WRITE, "import_products": WRITE,
    # --- done by owners alone
    "delete_study": OWN, "erase_participant": OWN, "publish_leaderboard": OWN, "unpublish_leaderboard": OWN,
}  # fmt: skip
# Where the superuser finds nothing either: no map and no file was made here, and an export needs no confirmation.
NOTHING_THERE = {
    "get_map",
    "get_job_file",
    "get_left_out_rows",
    "get_upload",
    "send_part",
    "delete_upload",
    "delete_table_map",
    "confirm_job",
}
# What the owner has written an editor may not take away; a test, an upload and a map that are another's are not seen.
ANOTHER_S = dict.fromkeys(ANYBODY, 404)
REFUSED = {
    "get_endpoint_test": ANOTHER_S,
    "get_upload": ANOTHER_S | {"owner": 200},
    "send_part": ANOTHER_S | {"owner": 415},
    "delete_upload": ANOTHER_S | {"owner": 200},
    "delete_table_map": ANOTHER_S | {"owner": 200},
    "take_back_label": {"editor": 409},
    "delete_note": {"editor": 409},
}
OPERATIONS = {
    each["operationId"]: (method, path, each)
    for path, methods in openapi.committed()["paths"].items()
    for method, each in methods.items()
}


@pytest.fixture(autouse=True)
def unlimited(settings):
    settings.ASSAY_API_READS_PER_MINUTE = settings.ASSAY_API_WRITES_PER_MINUTE = 1_000_000


@pytest.fixture
def ask(db, running):
    """The status that a kind of caller gets of an operation; what it did is undone."""

    def ask(operation, caller):
        method, path, described = OPERATIONS[operation]
        of_pipelines = running["generation"] if "/generation/" in path else {}
        address = path.format(**{**running, **of_pipelines})
        headers = {"Authorization": f"Bearer {running['tokens'][caller]}"} if caller else {}
        content = (described.get("requestBody") or {}).get("content", {})
        sent = {"data": json.dumps({}), "content_type": "application/json"} if content else {}
        if "multipart/form-data" in content:
            sent = {"data": b"--b--\r\n", "content_type": "multipart/form-data; boundary=b"}
        with transaction.atomic():
            answer = Client().generic(method.upper(), address, headers=headers, **sent)
            transaction.set_rollback(True)
        return answer.status_code

    return ask


def test_every_operation_has_its_row():
    assert RIGHTS.keys() == OPERATIONS.keys()


@pytest.mark.parametrize("operation", RIGHTS)
def test_who_gets_what(operation, ask):
    """Whoever has the right gets what a superuser gets, with a body that says nothing; others learn nothing by it."""
    allowed = RIGHTS[operation]
    granted = ask(operation, "superuser")
    assert granted not in (401, 403, 405)
    assert (granted == 404) == (operation in NOTHING_THERE)
    assert ask(operation, "") == 401
    # A study, and an endpoint that is open to it, is hidden from outsiders; members are told that they may not.
    expected = {each: granted if each in allowed else 404 if each == "outsider" else 403 for each in ANYBODY}
    assert {each: ask(operation, each) for each in ANYBODY} == expected | REFUSED.get(operation, {})
