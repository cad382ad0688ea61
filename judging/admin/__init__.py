"""The autoraters in the researchers' admin: endpoints, judges with their prompts, runs and their calls."""

from judging.admin import call, endpoint, generation, judge, run

__all__ = ["call", "endpoint", "generation", "judge", "run"]
