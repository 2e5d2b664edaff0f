"""The texts of queries and documents for a report, cut to a length that can be read at a glance."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from gainful.errors import warn
from gainful.rows.side_table_columns import DOC_TEXTS, QUERY_TEXTS, Roles
from gainful.rows.side_table_reader import read_table

_QUERY, _SNIPPET = 300, 200  # characters
_WHITE = re.compile(r"\s+")
_SHOWN = 60  # characters of an id in a message


@dataclass(frozen=True, slots=True)
class Caption:
    """The title and the text of an id; None if unknown."""

    title: str | None
    text: str | None


def texts_of_queries(
    source: object, queries: Collection[str], keys: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the text of each query that has one.

    >>> texts_of_queries({"q1": "what is a ranking"}, ["q1", "q2"])
    {'q1': 'what is a ranking'}
    """
    if source is None:
        return {}
    captions = read_captions(source, QUERY_TEXTS, "queries", frozenset(queries), _QUERY, keys=keys)
    texts = {query: caption.text or caption.title for query, caption in captions.items()}
    return {query: text for query, text in texts.items() if text is not None}


def captions_of_docs(
    source: object, docs: Collection[str], keys: Mapping[str, str] | None = None
) -> dict[str, Caption]:
    """Return the title and the beginning of each document that has a text."""
    if source is None or not docs:
        return {}
    return read_captions(source, DOC_TEXTS, "docs", frozenset(docs), _SNIPPET, keys=keys)


def read_captions(
    source: object,
    roles: Roles,
    name: str,
    ids: Collection[str],
    longest: int,
    *,
    keys: Mapping[str, str] | None = None,
) -> dict[str, Caption]:
    """Return the title and the text of some ids; warn if there are none for any of them.

    A collection may be larger than memory, so only these texts are kept while it is read.

    Args:
        source: `{id: text}`, `{id: (title, text)}` or `{id: {"title": …, "text": …}}`; dicts in a
            list; a data frame; or the path of a file: TSV or CSV with names of columns, or,
            without names, the id, then the title if there are three columns, then the text; JSON
            lines with `_id`, `title` and `text` or similar names; JSON of any of these shapes;
            Parquet.
        roles: the column roles of queries or of documents.
        name: the name of the source in messages.
        ids: the ids to look up.
        longest: the maximum number of characters of a title or a text.
        keys: the caller's names of columns in judgments and runs, which may join several into one key.

    >>> read_captions({"q1": "a  question that goes on"}, QUERY_TEXTS, "queries", {"q1"}, 20)
    {'q1': Caption(title=None, text='a question that goe…')}
    """
    table = read_table(source, roles, name, wanted=ids, keys=keys or {})
    key = roles.keys[0].name
    if not len(table) and ids:
        first = "no ids" if table.first is None else repr(table.first)[:_SHOWN]
        warn(
            f"{name}: none of its ids is shown, so there are no texts: it has {first}, and the "
            f"report shows {min(ids)!r:.{_SHOWN}}"
        )
    return {
        own: Caption(_on_a_line(title, longest), _on_a_line(text, longest))
        for own, title, text in zip(table[key], table["title"], table["text"], strict=True)
    }


def _on_a_line(text: str | None, longest: int) -> str | None:
    """Return a text cut to size, with white space collapsed to single blanks; None if it is blank."""
    line = _WHITE.sub(" ", text or "").strip()
    return f"{line[: longest - 1].rstrip()}…" if len(line) > longest else line or None
