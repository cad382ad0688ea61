"""Slow senders at the shipped command, and at the documented proxy before it: what everybody else waits meanwhile.

64 heads without an end and 64 bodies at a byte every five seconds, all open for a minute. Each address is asked once a
second on a connection of its own; the item page is a participant's with an item in hand. The embedded default, two
processes of four threads.

Usage: python -m benchmarks.slow [SECONDS]
"""

import sys
import tempfile
import time
from pathlib import Path

from tests.config import site as sites
from tests.config.slow import slow_senders, still_open, trickle

EACH = 64
TRICKLE_SECONDS = 5


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        sites.install(folder)
        print(f"{'':<34}{'asked':>6}{'p50 ms':>9}{'most ms':>9}  senders")
        with sites.serving(folder) as served:
            show("the shipped command", sites.come_in(served), served, seconds)
        with (
            sites.serving(folder, ASSAY_TLS="1", ALLOWED_HOSTS="assay.example.org") as behind,
            sites.nginx(folder / "nginx", behind) as before,
        ):
            # The proxy keeps /healthz to itself: that is asked behind it.
            show("behind nginx", sites.come_in(before), behind, seconds)


def show(name: str, site: sites.Site, healthz: sites.Site, seconds: float) -> None:
    asked = {"/healthz": (healthz, "/healthz"), "item page": (site, site.page)}
    waited: dict[str, list[float]] = {each: [] for each in asked}
    least = 2 * EACH
    with slow_senders(site, EACH) as senders:
        began = time.monotonic()
        for turn in range(int(seconds)):
            if turn % TRICKLE_SECONDS == 0:
                trickle(senders)
            for each, (of, path) in asked.items():
                since = time.perf_counter()
                answer = of.ask(path)
                waited[each].append((time.perf_counter() - since) * 1000)
                assert answer.status == 200, answer.status
            least = min(least, still_open(senders))
            time.sleep(max(0.0, began + turn + 1 - time.monotonic()))
    for each, ms in waited.items():
        middle = sorted(ms)[len(ms) // 2]
        print(f"{name + ', ' + each:<34}{len(ms):>6}{middle:>9.1f}{max(ms):>9.1f}  {least} open", flush=True)


if __name__ == "__main__":
    main()
