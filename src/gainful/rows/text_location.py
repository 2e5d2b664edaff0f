"""Find passages in the texts of documents: exactly, or ignoring white space and the style of quotation marks."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import accumulate

from gainful.arithmetic.cores import cached_property
from gainful.message_texts import shortened, shown

_BETWEEN = "\x00"  # between documents in one text; no passage contains it
_PLAIN = str.maketrans("“”„‟«»‘’‚‛´`–—‐‑", "\"\"\"\"\"\"''''''----")
_SPACE = re.compile(r"\s+")
_LONGEST_SEARCHED = 200_000  # characters of a document in which the nearest passage is searched
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Place:
    """Where a text is.

    Attributes:
        doc: the document.
        start: the first character.
        end: the position after the last character.
        exact: whether the text there is the same, including white space and quotes.
        others: the number of other places with the same text.
    """

    doc: str
    start: int
    end: int
    exact: bool = True
    others: int = 0


@dataclass(frozen=True, slots=True)
class Candidate:
    """The passage of a document that is most like a text that isn't found.

    Attributes:
        doc: the document.
        start: its first character.
        end: the character behind its last one.
        similarity: from 0 to 1, the share of characters that match.
        text: the passage.
    """

    doc: str
    start: int
    end: int
    similarity: float
    text: str

    def __str__(self) -> str:
        return (
            f"{self.similarity:.0%} of it is like {shown(shortened(self.text, _SHOWN))} in document "
            f"{self.doc!r}, {self.start} to {self.end}"
        )


class _Text:
    """The texts of documents as one, and the same without differences in white space and quotes."""

    def __init__(self, docs: Sequence[str], texts: Sequence[str]) -> None:
        self.docs, self.texts = docs, texts
        self.begins = [0, *accumulate(len(text) + 1 for text in texts)]
        self.whole = _BETWEEN.join(texts)

    @cached_property
    def _plain(self) -> tuple[str, list[int], list[int]]:
        """The text in plain form, and where each piece of it begins, there and in the original."""
        pieces, here, there = [""], [0], [0]
        for space in _SPACE.finditer(self.whole):
            before = self.whole[there[-1] : space.start()]
            pieces += (before, " ")
            here += (here[-1] + len(before), here[-1] + len(before) + 1)
            there += (space.start(), space.end())
        pieces.append(self.whole[there[-1] :])
        return "".join(pieces).translate(_PLAIN), here, there

    def _original(self, at: int) -> int:
        """Return the position in the original of a position in the plain text."""
        _, here, there = self._plain
        piece = bisect_right(here, at) - 1
        return there[piece] + at - here[piece]

    def find(self, text: str) -> Place | None:
        """Return the first place of a text; None if it occurs nowhere."""
        at = self.whole.find(text)
        if at >= 0:
            others = self.whole.count(text, at + 1)
            return self._place(at, at + len(text), others, exact=True)
        wanted = plain(text)
        if not wanted:
            return None
        whole = self._plain[0]
        at = whole.find(wanted)
        if at < 0:
            return None
        start, end = self._original(at), self._original(at + len(wanted) - 1) + 1
        return self._place(start, end, whole.count(wanted, at + 1), exact=False)

    def _place(self, start: int, end: int, others: int, *, exact: bool) -> Place:
        number = bisect_right(self.begins, start) - 1
        begin = self.begins[number]
        return Place(self.docs[number], start - begin, end - begin, exact, others)


def plain(text: str) -> str:
    r"""Return a text with single blanks and straight quotes.

    >>> plain(" “one”\n  two ")
    '"one" two'
    """
    return _SPACE.sub(" ", text).strip().translate(_PLAIN)


class TextFinder:
    """Finds passages in the texts of documents.

    >>> finder = TextFinder({"d": "All men are “equal”.", "e": "None."})
    >>> finder.find('are "equal"', None)
    Place(doc='d', start=8, end=19, exact=False, others=0)
    >>> print(finder.find("All men were", None), finder.nearest("All men were", "d"), sep="; ")
    None; 83% of it is like 'All men are ' in document 'd', 0 to 12
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts
        self._of_doc: dict[str | None, _Text] = {}
        self._known: dict[tuple[str, str | None], Place | None] = {}
        self._near: dict[tuple[str, str | None], Candidate | None] = {}

    def find(self, text: str, doc: str | None) -> Place | None:
        """Return the first place of a text in a document, or in any document; None if it occurs nowhere."""
        key = text, doc
        if key not in self._known:
            if doc not in self._of_doc:
                docs = [*self.texts] if doc is None else [doc]
                self._of_doc[doc] = _Text(docs, [self.texts[one] for one in docs])
            self._known[key] = self._of_doc[doc].find(text)
        return self._known[key]

    def nearest(self, text: str, doc: str | None) -> Candidate | None:
        """Return the passage that is most like a text; None if no word of it occurs."""
        key = text, doc
        if key not in self._near:
            self._near[key] = self._nearest(text, doc)
        return self._near[key]

    def _nearest(self, text: str, doc: str | None) -> Candidate | None:
        wanted = plain(text)
        words = {*wanted.casefold().split()}
        docs: Iterable[str] = self.texts if doc is None else (doc,)

        def shared(one: str) -> int:
            return len(words & {*plain(self.texts[one]).casefold().split()})

        best = max(docs, key=shared, default=None)
        if best is None or not wanted:
            return None
        source = self.texts[best][:_LONGEST_SEARCHED].translate(_PLAIN)
        match = SequenceMatcher(None, source, wanted, autojunk=False).find_longest_match()
        if not match.size:
            return None
        start = max(0, match.a - match.b)
        end = min(len(source), start + len(wanted))
        passage = source[start:end]
        similarity = SequenceMatcher(None, passage, wanted, autojunk=False).ratio()
        return Candidate(best, start, end, similarity, self.texts[best][start:end])
