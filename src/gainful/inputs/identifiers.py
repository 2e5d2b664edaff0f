"""Ids of queries and documents: strings, always; integers are accepted and written as such."""

import operator
from collections.abc import Callable, Collection, Iterable
from itertools import islice
from typing import NoReturn

from gainful.arguments import HALF, is_truth, is_writable
from gainful.errors import DisjointError, InputError, warn
from gainful.message_texts import shown

_EXAMPLES = 3

# Ways in which two tools write the same id differently, with the words for a hint.
_FOLDS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("without surrounding blanks", str.strip),
    ("in lower case", str.casefold),
    ("without leading zeros", lambda text: text.lstrip("0") or "0"),
    (
        "without what stands before their digits",
        lambda text: text.lstrip(" _-:/#.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    ),
    ("without the ending .0", lambda text: text.removesuffix(".0")),
)
_CHUNK_MARKS = ("#", "::", *":|@/_-.")  # what often stands before the number of a chunk


def id_text(value: object, *, where: str) -> str:
    """Return an id as a string; integers are written in decimal, anything else is refused.

    >>> id_text("007", where="run"), id_text(7, where="run")
    ('007', '7')
    """
    if isinstance(value, str):
        if value.isascii() or is_writable(value):
            return str(value)
        raise half_an_id(where, value)
    if not is_truth(value):
        try:
            return str(operator.index(value))  # type: ignore[arg-type]
        except Exception:  # noqa: BLE001, S110 - no integer, one of thousands of digits, or worse
            pass  # said below
    expected = "a string (or an integer) as id"
    raise InputError(where, expected, shown(value), "Make the id a string first.")


def refuse_halves(ids: Iterable[str], *, where: str) -> None:
    """Refuse ids of which one holds a lone surrogate: no file, frame or screen can hold it.

    They are looked at as one text, which takes a fraction of the time.
    """
    listed = list(ids)
    if not is_writable("".join(listed)):
        raise half_an_id(where, next(text for text in listed if not is_writable(text)))


def half_an_id(where: str, text: str) -> InputError:
    """Return the error of an id that holds a lone surrogate."""
    return InputError(where, "ids of whole characters", shown(text), HALF)


def in_order(ids: Iterable[str]) -> list[str]:
    """Sort ids: shorter ones first, those of one length by their bytes; so numbers stand by value.

    >>> in_order(["q10", "q2", "q1"])
    ['q1', 'q2', 'q10']
    """
    return sorted(sorted(ids), key=len)  # code points order strings as their UTF-8 bytes do


def examples(ids: Iterable[object]) -> str:
    """Quote a few ids for a message.

    >>> examples(["q1", "q2", "q3", "q4"])
    "'q1', 'q2', 'q3', …"
    """
    quoted = [shown(text) for text in islice(ids, _EXAMPLES + 1)]
    return ", ".join(quoted[:_EXAMPLES] + ["…"] * (len(quoted) > _EXAMPLES))


def overlap_hint(left: Collection[str], right: Collection[str]) -> str:
    """Say under which reading two sets of ids that never meet would meet.

    >>> overlap_hint(["q01", "q02"], ["Q01"])
    'They meet when read in lower case.'
    """
    for words, fold in _FOLDS:
        folded = {fold(text) for text in left}
        folded.discard("")
        if any(fold(text) in folded for text in right):
            return f"They meet when read {words}."
    return "Check that both come from the same collection."


def refuse_disjoint_queries(judged: Collection[str], returned: Collection[str]) -> NoReturn:
    """Refuse a run that has none of the judged queries."""
    raise DisjointError(
        "query ids",
        "judgments and run to share some",
        f"none in common: judgments have {examples(in_order(judged))}; "
        f"the run has {examples(in_order(returned))}",
        overlap_hint(judged, returned),
    )


def warn_of_disjoint_documents(known: Collection[str], found: Collection[str]) -> None:
    """Warn of a run in which no document of a judged query is judged."""
    mark = mark_of_chunks(known, found)
    warn(
        "document ids: no retrieved document is judged: "
        f"judgments have {examples(in_order(known))}; the run has {examples(in_order(found))}. "
        + (
            f"They meet as chunks of documents: chunks='{mark}', on the command line --chunks '{mark}'."
            if mark
            else overlap_hint(known, found)
        ),
    )


def mark_of_chunks(known: Collection[str], found: Collection[str]) -> str:
    """Return what stands before the numbers of chunks, where ids of a run are chunks of those judged; else nothing.

    Of several marks it is the one under which most ids of the run are judged.

    >>> mark_of_chunks(["doc7"], ["doc7#1", "doc8#2"]), mark_of_chunks(["vpn.md"], ["vpn.md::1"])
    ('#', '::')
    """
    judged = {*known} - {""}
    # An integer that became a float ends in .0, and is no chunk.
    chunks = [text for text in found if not text.endswith(".0")]
    meet = {
        mark: sum(text.rpartition(mark)[0] in judged for text in chunks) for mark in _CHUNK_MARKS
    }
    best = max(meet, key=meet.__getitem__)  # the first of those that are equal
    return best if meet[best] else ""
