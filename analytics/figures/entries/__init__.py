"""Sets of condition-answer-citation entries."""
