"""Strict reading of a judge's reply: whatever is not clearly a verdict is a counted failure, never a verdict.

A reply is read in the very form that was asked for, and in no other: all values, each once, nothing beside them but
the rationale where one was wanted. Words such as "Response 1" in a rationale are words.
"""
