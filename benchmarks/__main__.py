"""Runs every benchmark, or those named, as in: python -m benchmarks serving claiming. Simulations are `make audit`."""

import importlib
import sys

NAMES = (
    "start",
    "serving",
    "annotating",
    "slow",
    "claiming",
    "arms",
    "entering",
    "figures",
    "scaling",
    "libraries",
    "dumps",
    "judging",
    "generating",
)


def main() -> None:
    for name in sys.argv[1:] or NAMES:
        if name not in NAMES:
            sys.exit(f"no benchmark {name!r}; there are: {', '.join(NAMES)}")
        print(f"\n== {name}")
        importlib.import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main()
