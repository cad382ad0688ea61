"""The tests' endpoint as a process of its own."""

from __future__ import annotations

import argparse
import asyncio
import contextlib

from tests.judging import endpoint
from tests.judging.endpoint.answers import Served
from tests.judging.endpoint.server import forever


def main() -> None:
    parser = argparse.ArgumentParser(
        description=endpoint.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--port", type=int, default=0, help="0: a free one; the first line printed is the URL"
    )
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before every answer")
    parser.add_argument("--behaviours", default="", help="of every call, such as 500@0.2:slow=0.1@0.5")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--require-key", default="", help="answer 401 to any other key")
    parser.add_argument("--batch-behaviours", default="", help="of every batch, such as polls=3:expire")
    parser.add_argument("--held", action="append", default=[], metavar="STEP", help="kept back, once each")
    given = vars(parser.parse_args())
    port = given.pop("port")
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(forever(Served(keep=False, **given), "127.0.0.1", port))


if __name__ == "__main__":
    main()
