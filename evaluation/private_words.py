"""Words that no bundle holds and no viewer reads, blacked out where somebody wrote one into a text: ids of platforms,
addresses, keys."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

# A shorter word may mean anything: a survey code of five digits is a number like others.
SHORTEST = 8
# Of ids and mail addresses, the longest stretch that may be one.
TOKEN = re.compile(r"[\w.@+-]{8,}")
# Around an id at a sentence's end, or in brackets of a kind.
MARKS = ".-+@_"
BLACK = "x"


def possible_ids(texts: Iterable[str]) -> set[str]:
    """All in the texts that `PrivateWords` would look up as an id."""
    tokens = {token for text in texts for token in TOKEN.findall(text)}
    return {word for token in tokens for word in (token, token.strip(MARKS)) if len(word) >= SHORTEST}


def texts_in(value: Any) -> Iterator[str]:
    """All texts of a value as JSON has it, but for names."""
    if isinstance(value, str):
        yield value
    else:
        inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
        for each in inner:
            yield from texts_in(each)


class PrivateWords:
    """A word becomes as many x as it has letters, so that no length and no number of words changes with it."""

    def __init__(self, words: Iterable[str]) -> None:
        wanted = {word.strip() for word in words}
        wanted = {word for word in wanted if len(word) >= SHORTEST}
        # Ids, of which there may be many, are looked up; the rest, such as addresses, is searched for, longest first.
        self._tokens = frozenset(word for word in wanted if TOKEN.fullmatch(word))
        self._others = sorted(wanted - self._tokens, key=lambda word: (-len(word), word))

    def __bool__(self) -> bool:
        return bool(self._tokens or self._others)

    def blacked_out(self, text: str) -> str:
        for word in self._others:
            text = text.replace(word, BLACK * len(word))
        return TOKEN.sub(self._replace, text) if self._tokens else text

    def _replace(self, match: re.Match[str]) -> str:
        token = match[0]
        if token in self._tokens:
            return BLACK * len(token)
        inner = token.strip(MARKS)
        return token.replace(inner, BLACK * len(inner)) if inner in self._tokens else token

    def blacked_out_json(self, value: Any) -> Any:
        """The same of every text in it, names left as they are."""
        if isinstance(value, str):
            return self.blacked_out(value)
        if isinstance(value, dict):
            return {name: self.blacked_out_json(each) for name, each in value.items()}
        return [self.blacked_out_json(each) for each in value] if isinstance(value, list) else value
