"""Clarifying questions (AGENT-CQ): how they are written, filtered, and taken up by other pipelines."""
