"""All reproductions, found by walking the folder of releases."""

from analytics.reproduce import releases
from analytics.reproduce.reproduction import Reproduction
from evaluation.registry import Registry, entries_in

REPRODUCTIONS: Registry[Reproduction] = Registry(
    "reproduction",
    {"key": "the release that it reads", "paper": "the paper whose figures stand beside ours"},
    lambda: entries_in(releases, "REPRODUCTION"),
)
