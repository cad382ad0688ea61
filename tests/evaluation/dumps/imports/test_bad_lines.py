"""Every kind of bad line: refused with its number and the reason, and nothing is left behind."""

import pytest

from evaluation.dumps.lines import MAX_LINE
from evaluation.refusals import Refused
from tests.evaluation.dumps.build import (
    ARM,
    context_item,
    header,
    item,
    judgment,
    nothing_left,
    read_in,
    with_judgments,
    write,
)

pytestmark = pytest.mark.django_db


def without(record, name):
    return {key: value for key, value in record.items() if key != name}


ONE_RESPONSE = item(responses=item()["responses"][:1])
CHANGED_QUERY = item(2, query={"key": "q1", "text": "Another text"})
CHANGED_RESPONSE = item(
    2,
    query=item(1)["query"],
    responses=[{"system": "aspen", "text": "Other"}, {"system": "birch", "text": "Pea"}],
)
CHANGED_CONTEXT = context_item(2, query=item(1)["query"]) | {
    "context": {"key": "c", "follow_ups": [{"question": "Hot?", "answer": "Yes"}]}
}

# The lines after the study's and one good item, with what must be said of the third line.
BAD = {
    "wrong JSON": (b'{"key": "i2", ', "line 3: not JSON"),
    "not an object": (b"[1, 2]", "line 3: not a JSON object"),
    "wrong encoding": ('{"key": "caf\u00e9"}'.encode("latin-1"), "line 3: not UTF-8 (byte 13 of the line)"),
    "lone surrogate": (b'{"key": "\\ud800"}', "line 3: not JSON"),
    "U+0000": (item(2, clarifying_question="a\x00b"), "line 3: contains the character U+0000"),
    "too large a number": (
        item(2, query={"key": "q2", "text": "?", "documents": [{"score": 1e300}]}),
        "line 3: contains the number 1e+300",
    ),
    "negative zero": (item(2, gold={"note": -0.0}), "line 3: contains the number -0.0"),
    "malformed gold": (item(2, gold={"satisfied": [1]}), "line 3: gold.satisfied: this must be an object"),
    "key twice": (b'{"key": "i2", "arm": "plain", "key": "i3"}', "line 3: the key 'key' appears twice"),
    "key twice within": (
        b'{"key": "i2", "query": {"key": "q2", "text": "One?", "text": "Two?"}}',
        "line 3: the key 'text' appears twice",
    ),
    "nested too deeply": (b"[" * 3000 + b"]" * 3000, "line 3: not JSON"),
    "line over 10 MB": (item(2, clarifying_question="x" * MAX_LINE), "line 3: longer than 10 MB"),
    "missing response": (without(item(2), "responses"), "line 3: 'responses' is a required property"),
    "null response": (
        item(2, responses=[{"system": "aspen", "text": None}, {"system": "birch", "text": "b"}]),
        "line 3: responses[0].text: None is not of type 'string'",
    ),
    "one response for a pair": (ONE_RESPONSE, "line 3: responses: needs exactly 2 responses, has 1"),
    "same system twice": (
        item(2, responses=[{"system": "aspen", "text": "a"}, {"system": "aspen", "text": "b", "key": "k"}]),
        "line 3: responses: both responses are from the same system 'aspen'",
    ),
    "response twice": (
        item(2, responses=[item()["responses"][0]] * 2),
        "line 3: responses: 'aspen' appears twice",
    ),
    "unknown arm": (item(2, arm="nowhere"), "line 3: the study has no arm 'nowhere'; it has plain, both"),
    "unknown field": (
        item(2, colour="red"),
        "line 3: Additional properties are not allowed ('colour' was unexpected)",
    ),
    "empty query": (item(2, query={"key": "q2", "text": " "}), "line 3: query: the query has no text"),
    "no context": (item(2, arm="both"), "line 3: context: arm 'both' shows a context"),
    "strange context": (
        item(
            2, responses=[{"system": "aspen", "text": "a", "context": "c"}, {"system": "birch", "text": "b"}]
        ),
        "line 3: responses: 'c' is not the context of this item",
    ),
    "long response key": (
        context_item(2, responses=[{"system": "a" * 119, "text": "a"}, {"system": "b", "text": "b"}]),
        "is longer than 120",
    ),
    "wrong gold": (
        item(2, gold={"preference": ["r9"]}),
        "line 3: gold.preference: 'r9' is not one of r1, r2, tie",
    ),
    "preference without a label": (
        with_judgments(judgment(answers={"preference": {"choice": "r1"}}), number=2),
        "line 3: judgments[0]: answers: preference: {'choice': 'r1'} is not one of r1, r2, tie",
    ),
    "duplicate item": (
        item(1, query={"key": "q9", "text": "Q"}),
        "line 3: an item with the same key stands at line 2",
    ),
    "changed query": (CHANGED_QUERY, "line 3: a query with the same key stands at line 2 and differs"),
    "changed response": (
        CHANGED_RESPONSE,
        "line 3: a response with the same key stands at line 2 and differs",
    ),
    "wrong stimulus hash": (item(2, stimulus_hash="0" * 64), "and not 000000000000... as the file says"),
    "judgment twice": (
        with_judgments(judgment(), judgment(), number=2),
        "line 3: judgments[1]: rater 'ada' has replicate 0",
    ),
    "other kind": (
        with_judgments(judgment(), judgment("bo"), judgment("ada", replicate=1, kind="judge"), number=2),
        "line 3: rater 'ada': kind 'judge' here, 'person' before",
    ),
    "other reason": (
        with_judgments(
            judgment(excluded={"scope": "rater", "reason": "Too fast"}),
            judgment(replicate=1, excluded={"scope": "rater", "reason": "A robot"}),
            number=2,
        ),
        "line 3: rater 'ada': excluded for another reason before",
    ),
    "wrong answer": (
        with_judgments(judgment(answers={"preference": "r3"}), number=2),
        "line 3: judgments[0]: answers: preference: 'r3' is not one of r1, r2, tie",
    ),
    "unasked question": (
        with_judgments(judgment(answers={"satisfied": {"f1.r1": 1}}), number=2),
        "line 3: judgments[0]: answers: satisfied: this study has no such question in this arm",
    ),
    "no answer": (
        with_judgments(without(judgment(), "answers"), number=2),
        "a judgment needs at least one answer",
    ),
    "failed with answers": (
        with_judgments(judgment(outcome="failed"), number=2),
        "has answers though its outcome is failed",
    ),
    "surplus failure": (
        with_judgments(judgment(outcome="failed", answers={}, surplus=True), number=2),
        "is surplus though its outcome is failed",
    ),
    "wrong order": (
        with_judgments(judgment(shown=["r1"]), number=2),
        "shown: 'r1' is not an order of r1, r2",
    ),
    "in view too long": (
        with_judgments(judgment(duration_ms=5, visible_ms=6), number=2),
        "visible_ms is greater than duration_ms",
    ),
    "no such day": (
        with_judgments(judgment(day="2024-02-30"), number=2),
        "'2024-02-30' is not a date or time",
    ),
    "no time zone": (
        with_judgments(judgment(judged_at="2024-02-03T10:00:00"), number=2),
        "judged_at has no time zone",
    ),
    "day and time": (
        with_judgments(judgment(judged_at="2024-02-03T10:00:00Z", day="2024-02-03"), number=2),
        "has both day and judged_at",
    ),
    "unknown revision": (
        with_judgments(judgment(revision=2), number=2),
        "revision 2 is not in the study's line",
    ),
    "unknown outcome": (
        with_judgments(judgment(outcome="fine"), number=2),
        "line 3: judgments[0].outcome: 'fine' is not one of",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_line(name, tmp_path):
    line, expected = BAD[name]
    path = write(tmp_path / "dump.jsonl", header(), item(1), line, item(4))
    with pytest.raises(Refused) as refused:
        read_in(path)
    assert any(expected in problem for problem in refused.value.problems), refused.value.problems
    assert all(problem.startswith("line 3: ") for problem in refused.value.problems)
    assert nothing_left()


TWICE = [{"system": "aspen", "text": "Leek", "key": "a"}, {"system": "birch", "text": "Pea", "key": "a"}]
UNANSWERED = {"key": "c", "follow_ups": [{"question": "Hot?"}, {"question": "Spicy?", "answer": "No"}]}
# Lines with several faults, and all that must be said of them.
SEVERAL = {
    "response twice, follow-up unanswered": (
        item(2, arm="both", context=UNANSWERED, responses=TWICE),
        ["responses: 'a' appears twice", "context: follow-up question 1 has no chosen answer"],
    ),
    "item, gold and judgments": (
        item(
            2, responses=TWICE, query={"key": "q2", "text": ""}, gold={"preference": ["r9"]},
            judgments=[judgment(answers={"preference": "r3"}), judgment("bo", revision=9)],
        ),
        [
            "responses: 'a' appears twice",
            "query: the query has no text",
            "gold.preference: 'r9' is not one of r1, r2, tie",
            "judgments[0]: answers: preference: 'r3' is not one of r1, r2, tie",
            "judgments[1]: revision 9 is not in the study's line",
        ],
    ),
    "one judgment": (
        with_judgments(
            judgment(
                revision=2, answers={"preference": "r3", "mood": "good"}, shown=["r1"], duration_ms=1, visible_ms=2,
                judged_at="2024-02-03T10:00:00",
            ),
            number=2,
        ),
        [
            "judgments[0]: revision 2 is not in the study's line",
            "judgments[0]: answers: mood: this study has no such question in this arm",
            "judgments[0]: answers: preference: 'r3' is not one of r1, r2, tie",
            "judgments[0]: shown: 'r1' is not an order of r1, r2",
            "judgments[0]: judged_at has no time zone",
            "judgments[0]: visible_ms is greater than duration_ms",
        ],
    ),
    "failed judgment": (
        with_judgments(judgment(outcome="failed", surplus=True), number=2),
        [
            "judgments[0]: has answers though its outcome is failed",
            "judgments[0]: is surplus though its outcome is failed",
        ],
    ),
    "unknown arm and responses": (
        item(2, arm="nowhere", responses=TWICE),
        ["the study has no arm 'nowhere'; it has plain, both", "responses: 'a' appears twice"],
    ),
    "strange contexts and a long key": (
        item(
            2,
            responses=[
                {"system": "aspen", "text": "a", "context": "c"},
                {"system": "birch", "text": "b", "context": "d"},
                {"system": "c" * 119, "text": "c", "context": {"key": "other", "follow_ups": [{"question": "?"}]}},
            ],
        ),
        [
            "responses: 'c' is not the context of this item; give it in full here",
            "responses: 'd' is not the context of this item; give it in full here",
            f"responses: the key '{'c' * 119}@other' is longer than 120",
            "responses: needs exactly 2 responses, has 3",
        ],
    ),
    "unstorable values, and more": (
        with_judgments(judgment(answers={"preference": "r3"}, trace={"a": "\x00", "b": [1e300, -0.0]}), number=2),
        [
            "contains the character U+0000, which databases don't store",
            "contains the number 1e+300, which not every database keeps as it is",
            "contains the number -0.0, which not every database keeps as it is",
            "judgments[0]: answers: preference: 'r3' is not one of r1, r2, tie",
        ],
    ),
    "keys of other lines": (
        item(
            1, query={"key": "q1", "text": "Another text"}, gold={"preference": ["r9"]},
            judgments=[judgment(shown=["r1"]), judgment("cy", kind="judge")],
        ),
        [
            "gold.preference: 'r9' is not one of r1, r2, tie",
            "judgments[0]: shown: 'r1' is not an order of r1, r2",
            "rater 'cy': kind 'judge' here, 'person' before",
            "an item with the same key stands at line 2 and differs",
            "a query with the same key stands at line 2 and differs",
        ],
    ),
    "what depends on the parts is not guessed at": (
        item(
            2, responses=item()["responses"][:1], gold={"preference": ["r2"]},
            judgments=[judgment(answers={"preference": "r2"})],
        ),
        ["responses: needs exactly 2 responses, has 1"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SEVERAL)
def test_no_fault_hides_another(name, tmp_path):
    line, expected = SEVERAL[name]
    first = item(1, judgments=[judgment("cy")])
    with pytest.raises(Refused) as refused:
        read_in(write(tmp_path / "dump.jsonl", header(), first, line, item(4)))
    assert refused.value.problems == [f"line 3: {sentence}" for sentence in expected]
    assert nothing_left()


def test_a_good_judgment_beside_a_fault_still_speaks_for_its_rater(tmp_path):
    """Facts about a rater from a line with faults are compared with later lines, too."""
    first = item(1, query={"key": "q1", "text": ""}, judgments=[judgment("cy")])
    with pytest.raises(Refused) as refused:
        read_in(
            write(tmp_path / "dump.jsonl", header(), first, item(2, judgments=[judgment("cy", kind="judge")]))
        )
    assert refused.value.problems == [
        "line 2: query: the query has no text",
        "line 3: rater 'cy': kind 'judge' here, 'person' before",
    ]


def test_a_fault_of_many_lines_is_one_problem_with_all_of_them(tmp_path):
    lines = [
        item(n, query={"key": f"q{n}", "text": ""}, judgments=[judgment(shown=["r1"], answers={"preference": "r3"})])
        for n in range(1, 501)
    ]  # fmt: skip
    with pytest.raises(Refused) as refused:
        read_in(write(tmp_path / "dump.jsonl", header(), *lines))
    assert (len(refused.value.problems), refused.value.total) == (3, 3)
    assert all(problem.startswith("line 2 to 501: ") for problem in refused.value.problems)
    lines[1:] = [item(n, **({} if n % 3 else {"arm": "nowhere"})) for n in range(2, 501)]
    with pytest.raises(Refused) as refused:
        read_in(write(tmp_path / "dump.jsonl", header(), *lines))
    [stretches] = [problem for problem in refused.value.problems if "nowhere" in problem]
    assert stretches.startswith("line 4, 7, 10, 13, 16 and 161 more: ")


def test_context_that_differs(tmp_path):
    first = context_item(1)
    with pytest.raises(Refused, match="line 3: a context with the same key stands at line 2 and differs"):
        read_in(write(tmp_path / "dump.jsonl", header(), first, CHANGED_CONTEXT))


BAD_STUDIES = {
    "not a study": (item(), "line 1: not the line of a study"),
    "wrong version": ({**header(), "assay": 2}, "line 1: assay: 1 was expected"),
    "no arms": ({"assay": 1, "spec": {}}, "line 1: spec: 'arms' is a required property"),
    "arm twice": (header(spec={"arms": [ARM, ARM]}), "line 1: arm 'plain' appears twice"),
    "setting twice": (
        header(systems=[{"key": key, "base": "aspen", "setting": "with documents"} for key in ("a", "b")]),
        "line 1: setting of a system 'aspen, with documents' appears twice",
    ),
    "system twice": (header(systems=[{"key": "a"}, {"key": "a"}]), "line 1: system 'a' appears twice"),
    "other protocol": (
        header(spec={"protocol": "aspects"}),
        "the line's protocol is 'aspects' and not 'pairwise'",
    ),
    "question of no kind": (
        header(spec={"questions": [{"key": "x", "kind": "guess", "prompt": "?"}]}),
        "line 1: spec.questions[0].kind: 'guess' is not one of",
    ),
    "lease too short": (header(rules={"paid_minutes": 90}), "lease_minutes must not be below paid_minutes"),
    "wrong pay": (header(rules={"pay": "much"}), "line 1: rules.pay: 'much' does not match"),
    "wrong study hash": (header(study_hash="f" * 64), "line 1: study_hash is"),
    "draft with judgments": (header(status="draft"), "line 1: status is draft, but there are judgments"),
}


@pytest.mark.parametrize("name", BAD_STUDIES)
def test_bad_study_line(name, tmp_path):
    line, expected = BAD_STUDIES[name]
    path = write(tmp_path / "dump.jsonl", line, with_judgments(judgment()))
    with pytest.raises(Refused) as refused:
        read_in(path, protocol="pairwise")
    assert expected in refused.value.problems[0]
    assert nothing_left()


RATER = {"rater": "ada", "in_figures": False}


@pytest.mark.parametrize(
    ("raters", "message"),
    [
        ([RATER, {"rater": "zoe"}], "line 1: raters: 'zoe' has no judgment"),
        ([RATER, RATER], "line 1: rater 'ada' appears twice"),
        ([{"in_figures": True}], "line 1: raters[0]: 'rater' is a required property"),
        ([{**RATER, "kind": "judge"}], "line 1: raters[0]: Additional properties are not allowed"),
        (
            [{"rater": "ada", "about": {"reduction": "median"}}],
            "line 1: raters[0].about.reduction: 'median' is not one of",
        ),
    ],
)
def test_what_is_wrong_with_the_raters(tmp_path, raters, message):
    path = write(tmp_path / "dump.jsonl", header(raters=raters), with_judgments(judgment()))
    with pytest.raises(Refused) as refused:
        read_in(path)
    assert any(problem.startswith(message) for problem in refused.value.problems)
    assert nothing_left()
