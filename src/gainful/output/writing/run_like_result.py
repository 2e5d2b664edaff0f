"""`ByQuery`: a result that is itself a dict by query; `DocumentsByQuery`: one that is a run or judgments."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, TypeVar

from gainful.errors import InputError
from gainful.message_texts import shown
from gainful.output.rendering.table_formats import Table, as_text
from gainful.output.writing.result_base import Result
from gainful.rows.identifiers import examples

_SHOWN = 10
Value = TypeVar("Value")


class ByQuery(Result, Mapping[str, Value]):
    """A result that can be used as an input: a read-only dict by query.

    A subclass defines its name in messages, stores its queries in `_by_query`, in order, and
    creates the value of a query. It prints as the first rows of its table.
    """

    _called: ClassVar[str]
    _by_query: Mapping[str, Any]

    @abstractmethod
    def _documents(self, query: str) -> Value:
        """Return the value of an existing query, as a new object."""

    def _instead_of(self, query: object) -> str:
        """Describe a value that isn't one of its queries."""
        return shown(query)

    def _refuse_unknown(self, query: object) -> None:
        """Reject a query that it doesn't contain."""
        if query not in self:
            expected = f"one of its queries: {examples(self)}"
            raise InputError(self._called, expected, self._instead_of(query))

    def __getitem__(self, query: str) -> Value:
        """Return the value of a query: its documents with their numbers, in order, unless the class says otherwise."""
        self._refuse_unknown(query)
        return self._documents(query)

    def __contains__(self, query: object) -> bool:
        return isinstance(query, str) and query in self._by_query

    def get(self, key: object, default: object = None) -> Any:
        """Return the value of a query, or the default if there is none."""
        return self[key] if isinstance(key, str) and key in self else default

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_query)

    def __len__(self) -> int:
        return len(self._by_query)

    def __str__(self) -> str:
        table, *others = self.tables()
        more = len(table.rows) - _SHOWN
        notes = [f"… and {more:,} more", *table.notes] if more > 0 else table.notes
        first = Table(table.columns, table.rows[:_SHOWN], table.digits, notes=notes)
        return "\n\n".join(map(as_text, [first, *others]))


class DocumentsByQuery(ByQuery[dict[str, float]]):
    """A result that can be used as a run or as judgments: a read-only dict {query: {doc: number}}."""
