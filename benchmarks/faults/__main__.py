"""Usage: python -m benchmarks.faults {draw,run,compare} --help"""

import argparse
from pathlib import Path

from benchmarks import faults
from benchmarks.faults.drawing import draw


def main() -> None:
    options = parser().parse_args()
    options.act(options)


def parser() -> argparse.ArgumentParser:
    whole = argparse.ArgumentParser(
        prog="benchmarks.faults",
        description=faults.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    acts = whole.add_subparsers(required=True)

    drawing = acts.add_parser("draw", help="print the faults of a seed")
    running = acts.add_parser("run", help="run the tests that are nearest to them")
    for each in (drawing, running):
        each.add_argument("--seed", type=int, default=1)
        each.add_argument("--n", type=int, default=60)
        each.add_argument("--checkout", type=folder, default=Path.cwd())
    drawing.set_defaults(act=show)
    running.add_argument(
        "--out", type=folder, required=True, help="a folder for the results; goes on with what is not there"
    )
    running.add_argument("--drawn-from", type=folder, help="another checkout, whose faults are found again")
    running.add_argument("--survivors-of", type=Path, help="only the faults that survived in these results")
    running.add_argument("-j", type=int, default=1, help="faults at once")
    running.add_argument("--most", type=float, default=150, help="seconds of tests for a fault")
    running.set_defaults(act=run)

    comparing = acts.add_parser("compare", help="two results of the same faults")
    comparing.add_argument("one", type=Path)
    comparing.add_argument("other", type=Path)
    comparing.set_defaults(act=compare)
    return whole


def folder(path: str) -> Path:
    return Path(path).resolve()


def show(options: argparse.Namespace) -> None:
    for fault in draw(options.checkout, options.seed, options.n):
        print(
            f"{fault.path}:{fault.line}: {fault.kind}\n    {fault.text.strip()}\n    {fault.changed.strip()}"
        )


def run(options: argparse.Namespace) -> None:
    from benchmarks.faults.running import SURVIVED, read, run
    from benchmarks.faults.tables import table

    options.out.mkdir(parents=True, exist_ok=True)
    faults = draw(options.drawn_from or options.checkout, options.seed, options.n)
    if options.survivors_of:
        survived = {tuple(each["key"]) for each in read(options.survivors_of) if each["verdict"] == SURVIVED}
        faults = [each for each in faults if each.key in survived]
    results = options.out / f"faults-{options.seed}.jsonl"
    print(table(run(faults, options.checkout, options.out, results, options.j, options.most)))


def compare(options: argparse.Namespace) -> None:
    from benchmarks.faults.running import read
    from benchmarks.faults.tables import compared

    print(compared(read(options.one), read(options.other)))


if __name__ == "__main__":
    main()
