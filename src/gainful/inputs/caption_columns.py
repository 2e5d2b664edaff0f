"""Which column of a table of texts holds the id, the title and the text."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gainful.errors import InputError, shortened
from gainful.inputs.columns import ALIASES

_TITLES = ("title", "headline", "name")
_TEXTS: Mapping[str, tuple[str, ...]] = {
    "query": ("text", "query_text", "question", "utterance", "description", "query", "topic"),
    "doc": ("text", "snippet", "contents", "content", "body", "passage", "abstract", "description",
            "document", "doc", "chunk", "segment"),
}  # fmt: skip
_WITHOUT_NAMES = {2: (0, None, 1), 3: (0, 1, 2)}


@dataclass(frozen=True, slots=True)
class Places:
    """The columns, from 0, of the id, the title and the text; None where there is none."""

    id: int
    title: int | None
    text: int | None

    def title_of(self, cells: Sequence[Any]) -> Any:
        """Return the title of a row."""
        return None if self.title is None else cells[self.title]

    def text_of(self, cells: Sequence[Any]) -> Any:
        """Return the text of a row."""
        return None if self.text is None else cells[self.text]


def looks_named(names: Sequence[str], role: str) -> bool:
    """Return whether the first line of a file names its columns, and is no row itself."""
    plain = [_plain(name) for name in names]
    known = {*_ids(role), *_TITLES, *_TEXTS[role]}
    return sum(name in known for name in plain) > 1 or plain[0] in _ids(role)


def says_what(names: Iterable[str], role: str) -> bool:
    """Return whether all names are those of titles and texts.

    >>> says_what(["title", "text"], "doc"), says_what(["d1", "text"], "doc"), says_what([], "doc")
    (True, False, False)
    """
    plain = {_plain(name) for name in names}
    return bool(plain) and plain <= {*_TITLES, *_TEXTS[role]}


def find_places(names: Sequence[str], role: str, where: str) -> Places:
    """Return which columns hold the id, the title and the text of queries or documents.

    >>> find_places(["_id", "title", "text", "metadata"], "doc", "corpus.jsonl")
    Places(id=0, title=1, text=2)
    >>> find_places(["query_id", "query"], "query", "queries.csv")
    Places(id=0, title=None, text=1)
    """
    plain = [_plain(name) for name in names]
    key = next((plain.index(alias) for alias in _ids(role) if alias in plain), None)
    if key is None:
        raise InputError(
            where,
            f"a column for the id of each {role}",
            shortened("only " + ", ".join(map(repr, names))),
            f"Read are {', '.join(_ids(role))}.",
        )
    title, text = (
        next((plain.index(name) for name in known if name in plain and plain.index(name) != key), None)
        for known in (_TITLES, _TEXTS[role])
    )  # fmt: skip
    if title is None and text is None:
        others = [place for place in range(len(names)) if place != key]
        if len(others) != 1:
            raise InputError(
                where,
                "a column for the text",
                shortened(", ".join(map(repr, names))),
                f"Read are {', '.join((*_TITLES, *_TEXTS[role]))}.",
            )
        text = others[0]
    return Places(key, title, text)


def places_without_names(count: int, role: str, where: str) -> Places:
    """Return the columns of a file without names: the id, a title if there are three, the text."""
    if count not in _WITHOUT_NAMES:
        raise InputError(
            where,
            f"the id of a {role} and its text, or names of columns in the first line",
            f"{count} {'field' if count == 1 else 'fields'}",
        )
    return Places(*_WITHOUT_NAMES[count])


def _plain(name: str) -> str:
    return name.strip().casefold().replace("-", "_").replace(" ", "_")


def _ids(role: str) -> tuple[str, ...]:
    """Return the names of an id, the surest first: `query` and `doc` may also be the text."""
    sure = [alias for alias in ALIASES[role] if "id" in alias]
    return ("_id", *sure, "id", *(alias for alias in ALIASES[role] if alias not in sure))
