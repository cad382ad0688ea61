"""The rendering process: a text and its rules per line in as JSON, a JSON string per line out."""

import json
import sys

from evaluation.rendering.markdown import render_markdown
from evaluation.rendering.rules import RenderRules


def main() -> None:
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin:
        text, rules = json.loads(line)
        sys.stdout.write(json.dumps(render_markdown(text, RenderRules(**rules))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
