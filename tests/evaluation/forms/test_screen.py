"""A form is drawn from the spec, however the database gave it back."""

from evaluation.forms.screen import build_screen


def test_yes_comes_before_no_and_is_what_totals_count(study):
    # jsonb sorts an object's keys, so on PostgreSQL the options come back as 0, 1.
    spec = study.revisions.get().spec
    for question in spec["questions"]:
        question["options"] = dict(sorted(question["options"].items()))
    item = study.items.filter(role="main", arm__context_at_judging=True).first()
    data = {"satisfied": {"f1.r1": "1", "f2.r1": "1", "f1.r2": "0", "f2.r2": "0"}}
    screen = build_screen(study.protocol_object, spec, item.stimulus, "r1,r2", data=data)
    checklist = next(field for field in screen["fields"] if field["key"] == "satisfied")
    assert [option["label"] for option in checklist["rows"][0]["cells"][0]["options"]] == ["Yes", "No"]
    assert [card["met"] for card in screen["cards"]] == ["2 of 2 met", "0 of 2 met"]


def test_choice_and_reason_dock_and_what_comes_before_them_does_not(study):
    item = study.items.filter(role="main", arm__context_at_judging=True).first()
    screen = build_screen(study.protocol_object, study.revisions.get().spec, item.stimulus, "r1,r2")
    parts = [[field["key"] for field in screen[part]] for part in ("before", "docked", "after")]
    assert parts == [["satisfied"], ["preference", "justification"], []]


def test_a_launched_study_keeps_its_wording(study):
    item = study.items.filter(role="main", arm__context_at_judging=True).first()
    screen = build_screen(study.protocol_object, study.revisions.get().spec, item.stimulus, "r2,r1")
    assert [field["prompt"] for field in screen["fields"]][1] == "Which response is better overall?"
