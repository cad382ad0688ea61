"""The second wall: lists of what may come out, whatever the renderer made."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import nh3
from pygments.token import STANDARD_TYPES

from evaluation.rendering.images import IN_TEXT
from evaluation.rendering.latex import CLASSES as FORMULA_CLASSES

# Each runs in the direction of its own text: an Arabic paragraph in an English response from right to left.
DIRECTED = {"p", "h3", "h4", "h5", "h6", "blockquote", "li", "table"}
LINK_RULES = {"http", "https", "mailto"}

Names = Mapping[str, set[str]]
Values = Mapping[str, Mapping[str, set[str]]]


@dataclass(frozen=True)
class Allowed:
    """Tags; attributes with any value; attributes with the only values that they may have; classes; and attributes
    whose values must match a pattern."""

    tags: set[str]
    attributes: Names
    values: Values
    classes: Names
    patterns: Mapping[tuple[str, str], re.Pattern[str]] = field(default_factory=dict)
    schemes: frozenset[str] = frozenset(LINK_RULES)

    def clean(self, html: str) -> str:
        patterned: dict[str, set[str]] = {}
        for tag, name in self.patterns:
            patterned.setdefault(tag, set()).add(name)
        tags = self.attributes.keys() | patterned.keys()
        return nh3.clean(
            html,
            tags=self.tags,
            attributes={tag: {*self.attributes.get(tag, ()), *patterned.get(tag, ())} for tag in tags},
            attribute_filter=self._filter if self.patterns else None,
            tag_attribute_values={tag: dict(values) for tag, values in self.values.items()},
            allowed_classes=dict(self.classes),
            url_schemes=set(self.schemes),
            link_rel="noopener noreferrer nofollow",
            set_tag_attribute_values={"a": {"target": "_blank"}},
            strip_comments=True,
        ).strip()

    def _filter(self, tag: str, name: str, value: str) -> str | None:
        pattern = self.patterns.get((tag, name))
        return value if pattern is None or pattern.fullmatch(value) else None


PLAIN_TAGS = DIRECTED | {
    "br", "hr", "ul", "ol", "strong", "em", "s", "sup", "code", "pre", "a", "thead", "tbody", "tr", "th", "td",
    "section",
}  # fmt: skip
ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
# Code wider than the page is scrolled, from the keyboard too.
VALUES = {**{tag: {"dir": {"auto"}} for tag in DIRECTED}, "pre": {"tabindex": {"0"}}}
CLASSES = {"li": {"task-list-item"}, "section": {"footnotes"}}
COMMONMARK = Allowed(PLAIN_TAGS, ATTRIBUTES, VALUES, CLASSES)

# MathML Core that lays out, and nothing of MathML that links, acts, annotates, or holds HTML.
LEAVES = {"mi", "mn", "mo", "mtext", "mspace"}
LAYOUT = {
    "mrow", "mfrac", "msqrt", "mroot", "msub", "msup", "msubsup", "munder", "mover", "munderover", "mmultiscripts",
    "mprescripts", "mtable", "mtr", "mtd", "mpadded", "mphantom",
}  # fmt: skip
TRUTH = {"true", "false"}
STYLED = {"displaystyle": TRUTH, "scriptlevel": {"0", "1", "2"}}
MATH_VALUES: Values = {
    "math": {"display": {"block"}},
    "mi": {"mathvariant": {"normal"}},
    "mo": {
        **dict.fromkeys(("stretchy", "symmetric", "movablelimits", "accent", "fence", "separator"), TRUTH),
        "form": {"prefix", "infix", "postfix"},
    },
    "mrow": STYLED,
    "mtable": STYLED,
    "mfrac": {**STYLED, "linethickness": {"0"}},
    "mover": {"accent": TRUTH},
    "munder": {"accentunder": TRUTH},
    "munderover": {"accent": TRUTH, "accentunder": TRUTH},
}
# Below ten em: no formula pushes the page apart, and none is drawn over what stands beside it.
LENGTH = re.compile(r"\d(?:\.\d{1,9})?(?:em|rem|ex|px|pt)?")
MATH_LENGTHS = {
    "mo": ("lspace", "rspace", "minsize", "maxsize"),
    "mspace": ("width", "height", "depth"),
    "mpadded": ("width", "height", "depth", "lspace"),
}

FRAMES = {
    "role": {"group"},
    "tabindex": {"0"},
    "aria-label": {"Formula", "Table"},
}
CODE_CLASSES = {name for name in STANDARD_TYPES.values() if name}
RICH = Allowed(
    PLAIN_TAGS | LEAVES | LAYOUT | {"math", "div", "span"},
    ATTRIBUTES,
    {**VALUES, **MATH_VALUES, "div": FRAMES},
    {
        **CLASSES,
        **dict.fromkeys(("mtd", "mtable", "mrow"), FORMULA_CLASSES),
        "div": {"formula", "wide"},
        "span": CODE_CLASSES,
    },
    {(tag, name): LENGTH for tag, names in MATH_LENGTHS.items() for name in names},
)

# Where `data:` is a scheme that images may have, links still may not.
LINK = re.compile(r"(?:https?|mailto):.*|[^:]*|[/?#.].*", re.IGNORECASE | re.DOTALL)
ILLUSTRATED = replace(
    RICH,
    tags=RICH.tags | {"img"},
    attributes={**ATTRIBUTES, "img": {"alt"}},
    patterns={**RICH.patterns, ("a", "href"): LINK, ("img", "src"): IN_TEXT},
    schemes=frozenset(LINK_RULES | {"data"}),
)
