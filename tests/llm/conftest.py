"""Collected where a local model can be served: `make test-llm` names the Python that serves it."""

import os

collect_ignore_glob = [] if os.environ.get("ASSAY_LLM_PYTHON") else ["test_*"]
