"""Images that stand in a text as data. No other image is ever loaded, and no SVG is shown, which is a document."""

import re

# Of one image: characters of its base64, some 1.1 megabytes of picture.
MAX_IMAGE = 1_500_000
IN_TEXT = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}")
# A description ends where the next image begins: else marks that never close would be read again from each of them.
_written = re.compile(r"!\[((?:(?!!\[)[^\]\n])*)\]\(\s*<?data:image/[^)\s]*\s*\)")


def is_shown(source: str) -> bool:
    return len(source) <= MAX_IMAGE and IN_TEXT.fullmatch(source) is not None


def describe_images(text: str) -> str:
    """The text for those who read no images: each that stands in it becomes its description."""
    return _written.sub(lambda match: f"[image: {match[1]}]" if match[1] else "[image]", text)
