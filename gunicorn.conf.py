"""How gunicorn serves Assay; every setting can be overridden on its command line."""

import gc

worker_class = "gthread"
workers = 2
threads = 4
keepalive = 30
# Loaded once and shared by the workers' memory.
preload_app = True


def post_fork(server: object, worker: object) -> None:
    """What is loaded by now stays for good: the collector need not walk it again and again."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
