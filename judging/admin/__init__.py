"""The autoraters in the researchers' admin: endpoints, judges with their prompts, runs and their calls."""

from judging.admin import endpoint, judge, run

__all__ = ["endpoint", "judge", "run"]
