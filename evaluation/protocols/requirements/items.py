"""Checks of items, which protocols combine."""

from evaluation.protocols.base import Problem, Spec, Stimulus, arm_of

MAX_FOLLOW_UPS = 10


def check_query(stimulus: Stimulus) -> list[Problem]:
    return [] if stimulus["query"]["text"].strip() else [Problem("query_empty", "query")]


def check_response_count(stimulus: Stimulus, low: int, high: int) -> list[Problem]:
    """Check that the number of responses is between low and high."""
    responses = stimulus["responses"]
    if not low <= len(responses) <= high:
        if low == high:
            return [Problem("responses", "responses", {"wanted": low, "found": len(responses)})]
        params = {"low": low, "high": high, "found": len(responses)}
        return [Problem("responses_between", "responses", params)]
    return []


def check_arm(spec: Spec, stimulus: Stimulus) -> list[Problem]:
    try:
        arm_of(spec, stimulus["arm"])
    except KeyError:
        return [Problem("unknown_arm", "arm", {"arm": stimulus["arm"]})]
    return []


def check_answer_sets(stimulus: Stimulus, limit: int = MAX_FOLLOW_UPS) -> list[Problem]:
    """Check that there are follow-up questions, each with its set of possible answers."""
    follow_ups = stimulus["context"]["follow_ups"] if stimulus["context"] else []
    if not follow_ups:
        return [Problem("follow_ups_missing", "context")]
    problems = [
        Problem("answers_missing", "context", {"number": number})
        for number, follow_up in enumerate(follow_ups, 1)
        if not follow_up["answers"]
    ]
    if len(follow_ups) > limit:
        problems.append(Problem("too_many_follow_ups", "context", {"found": len(follow_ups), "limit": limit}))
    return problems
