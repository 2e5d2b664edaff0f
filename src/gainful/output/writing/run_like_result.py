"""`DocumentsByQuery`: a result that is itself a run or judgments, {query: {doc: number}}."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from gainful.errors import InputError
from gainful.message_texts import shown
from gainful.output.rendering.table_formats import Table, as_text
from gainful.output.writing.result_base import Result
from gainful.rows.identifiers import examples

_SHOWN = 10


class DocumentsByQuery(Result, Mapping[str, dict[str, float]]):
    """A result that can be used as a run or as judgments: a read-only dict {query: {doc: number}}.

    A subclass defines its name in messages, stores its queries in `_by_query`, in order, and
    creates the documents of a query. It prints as the first rows of its table.
    """

    _called: ClassVar[str]
    _by_query: Mapping[str, Any]

    @abstractmethod
    def _documents(self, query: str) -> dict[str, float]:
        """Return the documents of an existing query, as a new dict."""

    def _instead_of(self, query: object) -> str:
        """Describe a value that isn't one of its queries."""
        return shown(query)

    def _refuse_unknown(self, query: object) -> None:
        """Reject a query that it doesn't contain."""
        if query not in self:
            expected = f"one of its queries: {examples(self)}"
            raise InputError(self._called, expected, self._instead_of(query))

    def __getitem__(self, query: str) -> dict[str, float]:
        """Return the documents of a query with their numbers, in order."""
        self._refuse_unknown(query)
        return self._documents(query)

    def __contains__(self, query: object) -> bool:
        return isinstance(query, str) and query in self._by_query

    def get(self, key: object, default: object = None) -> Any:
        """Return the documents of a query, or the default if there are none."""
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
