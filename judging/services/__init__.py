"""Writes of judges, endpoints, runs and their calls.

Runs are rows: start, pause, resume and retry only change them, as `judging.acts` has every way do it, which then queues
their work; `runs.work.work_on` works on one here and now.
"""
