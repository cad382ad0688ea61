"""The rendering process: a JSON string per line in, a JSON string per line out."""

import json
import sys

from evaluation.rendering.markdown import render_markdown


def main() -> None:
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin:
        sys.stdout.write(json.dumps(render_markdown(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
