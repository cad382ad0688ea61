"""An endpoint for tests: a real HTTP server on 127.0.0.1 that speaks chat completions, embeddings, completions
with echo and batches, and misbehaves when told to.

In a test: `with endpoint.serve() as served:` and then `served.url`, `served.log`, `served.counts`; as a process of its
own, for benchmarks and browser tests: `python -m tests.judging.endpoint --port 9009 --latency 0.2` (see `GET /log`).

What it does can be said in the model's name, `RULE[:BEHAVIOUR...]`, so that several tests share one server:

- RULE, how it prefers: longer, shorter, first, second, tie, or anything else: by a hash of the two texts.
- BEHAVIOUR, `NAME[=ARGUMENT][@SHARE]`: `500`, `429=2` (Retry-After 2), `slow=0.2@0.5` (half of the calls) ... see
  `behaviours.BEHAVIOURS`; a SHARE is drawn by the seed, the prompt and how often it came, so that the next attempt
  may succeed.
  `no_NAME[=STATUS]` refuses a capability (json_schema, json_object, logprobs, seed, temperature, system,
  max_tokens, max_completion_tokens), `deaf_max_completion_tokens` ignores a limit.

`serve(behaviours="500@0.2")` says the same of every call, and `script=["500", "429=1"]` of the next ones, in turn.

It answers in whatever form is asked for: a JSON schema (in the request or as a line of the prompt), lines such as
`preference: <1, 2 or tie>`, or one label with log-probabilities. Where it is to choose between the first, the second
and perhaps a tie it says what it prefers, places among n are an order of them, and what else is to choose is drawn.
"""

from tests.judging.endpoint.chat import SENTENCE
from tests.judging.endpoint.server import serve

__all__ = ["SENTENCE", "serve"]
