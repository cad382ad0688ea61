"""Pipelines: queries in, contexts, responses, questions, answers and drafts out.

`pipeline` has the parts that a pipeline is made of, `pipelines/` one pipeline a module, `prompts` and `replies` the
requests of steps and the strict reading of what comes back. All of it is pure; `judging.services.generation` runs it.
"""
