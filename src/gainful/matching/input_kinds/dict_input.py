"""Dicts of dicts as input: `{query: {doc: number}}`, also as JSON of that shape."""

import struct
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, Any, NoReturn

from gainful.errors import InputError
from gainful.matching import dict_matching
from gainful.matching.chunks_to_documents import Chunks
from gainful.matching.dict_table_conversion import Documents, table_of
from gainful.matching.input import BadRow, Fetch, Input
from gainful.matching.matched import Matched
from gainful.measures.policy import Policy
from gainful.message_texts import shown
from gainful.rows.duckdb_engine import Session
from gainful.rows.grades_scores_or_ranks import Kind, RunInOrder
from gainful.rows.id_types import IdType, type_of_ids
from gainful.rows.identifiers import id_text
from gainful.rows.mistaken_ranks import warn_of_ranks_in_dicts
from gainful.rows.mistakes import FirstRows
from gainful.rows.table_source import Source
from gainful.rows.text_formats import Row
from gainful.rows.values_as_numbers import is_array, plain_number

if TYPE_CHECKING:
    from gainful.matching.input import Judgments

_SAMPLE = 1024  # numbers that tell whether grades and scores are in each other's place
_NUMBER = struct.Struct("d")  # converts what the matching of dicts does, and refuses the same


class DictInput(Input):
    """A dict of dicts, which is never modified."""

    def __init__(
        self,
        given: Mapping[Any, Any],
        kind: Kind,
        name: str,
        session: Session,
        types: tuple[IdType, IdType] | None = None,
    ) -> None:
        """Take a dict, and the types that its queries and documents had if their ids were read before."""
        super().__init__(kind, name, session)
        self._given = given
        self._types = types
        self.in_order = isinstance(given, RunInOrder)

    def refuse(self, remedy: str = "") -> NoReturn:
        """Refuse a question, and say that this is a dict of dicts."""
        raise InputError(self.name, self.kind.contents, "a dict of dicts", remedy)

    @property
    def query_type(self) -> IdType:
        """Integers, where all queries are."""
        return type_of_ids(self._given) if self._types is None else self._types[0]

    @property
    def doc_type(self) -> IdType:
        """Integers, where all documents are."""
        if self._types is not None:
            return self._types[1]
        return type_of_ids(doc for found in self._given.values() for doc in found)

    @property
    def small_documents(self) -> Documents:
        """The dict itself, of whatever size: it is in Python already."""
        return self._given

    def match(
        self, judgments: "Judgments", policy: Policy, depth: int | None, chunks: Chunks | None
    ) -> Matched:
        """Match its numbers; ids are looked at where the policy needs them."""
        return dict_matching.match_dict(judgments.rows, self._given, policy, depth, chunks)

    def documents(self, policy: Policy, *, depth: int | None = None) -> Documents:
        """Return the dict itself."""
        del policy, depth
        return self._given

    def documents_of(self, query: str, policy: Policy) -> Documents:
        """Return the dict itself."""
        del query, policy
        return self._given

    def choose(self, queries: Sequence[str], policy: Policy) -> Fetch:
        """Look queries up when they are asked for."""
        del queries, policy
        known = dict_matching.queries_of(self._given, self.kind.name)
        return lambda some: {query: known[query] for query in some if query in known}

    def table(self, policy: Policy | None) -> Source:
        """Hand the numbers to the engine as columns."""
        return table_of(self._given, self.kind, policy, self.session)

    def first_rows(self) -> FirstRows:
        """Return the documents of the first queries."""
        found = ((query, number) for query, each in self._given.items() for number in each.values())
        return [*islice(found, _SAMPLE)]

    def warn_of_ranks(self) -> None:
        """Warn where the scores of every query are 1, 2, 3 …."""
        warn_of_ranks_in_dicts(self._given)

    def bare_queries(self) -> list[str]:
        """Return the queries whose dict is empty."""
        return [str(query) for query, found in self._given.items() if not found]

    def table_to_check(self) -> None:
        """Return None: a dict may hold anything, so that a check looks at each row."""

    def rows_to_check(self, name: str) -> Iterator[Row | BadRow]:
        """Go through the documents of all queries."""
        row = 0
        for query, found in dict_matching.queries_of(self._given, name).items():
            for given, value in found.items():
                row += 1
                try:
                    doc = id_text(given, where=name)
                    (query + doc).encode()
                except (InputError, UnicodeEncodeError):
                    yield BadRow(None, query, None, f"{shown(given)} as id")
                    continue
                number = _number(value)
                if number is None:
                    yield BadRow(None, query, doc, f"{shown(value)} as {self.kind.number}")
                elif not isfinite(number):
                    found_number = f"{number} as {self.kind.number}"
                    yield BadRow(None, query, doc, found_number, is_number=True)
                else:
                    yield Row(row, query, doc, number)


def _number(value: object) -> float | None:
    """Return a float64; None for what is no number, or an integer that it does not hold."""
    if type(value) is not float:
        if is_array(value):
            return None
        value = plain_number(value)
    try:
        number: float = _NUMBER.unpack(_NUMBER.pack(value))[0]
    except (struct.error, OverflowError, TypeError, ValueError, RuntimeError):
        return None
    if isinstance(value, int) and isfinite(number) and int(number) != value:
        return None
    return number
