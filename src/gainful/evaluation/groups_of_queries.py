"""Groups of queries that may move together, as ids and columns suggest them."""

from collections.abc import Sequence

from gainful.rows.side_table_reader import InputTable

BY_ID = "id:"
"""The beginning of a value of `clusters` that names a delimiter of ids."""
_DELIMITERS = ("_", "-", ":", "/", "#", ".")
_GROUPS = frozenset(["user", "session", "conversation", "document", "template", "group", "cluster"])
_FEWEST_ALIKE = 2  # queries in a group, on average, before their ids are taken for groups
_FEWEST_GROUPS = 5


def id_before(delimiter: str, query: str) -> str:
    """Return the part of an id before its last delimiter; the whole id without one."""
    head, found, _ = query.rpartition(delimiter)
    return head if found else query


def clusters_to_name(queries: Sequence[str], metadata: InputTable | None = None) -> list[str]:
    """Return a hint if queries look like parts of groups that move together; nothing otherwise.

    Args:
        queries: the ids.
        metadata: the table of slices, whose columns may name such groups.

    >>> for hint in clusters_to_name([f"user_{user}_q{number}" for user in range(10) for number in range(3)]):
    ...     print(hint)
    The ids look like 10 groups of queries ('user_0' …). If the queries of a group move together, intervals are too short: name the groups by clusters='id:_', on the command line --clusters id:_.
    """
    columns = () if metadata is None else metadata.columns
    for column in columns:
        if column.lower().removesuffix("_id") in _GROUPS:
            groups = len({*metadata.texts(column)}) if metadata is not None else 0
            if _are_groups(groups, len(queries)):
                what = f"The column {column} has {groups} values"
                return [_hint(what, column)]
    for delimiter in _DELIMITERS:
        if all(delimiter in query for query in queries):
            heads = {id_before(delimiter, query) for query in queries}
            if _are_groups(len(heads), len(queries)):
                what = f"The ids look like {len(heads)} groups of queries ({min(heads)!r} …)"
                return [_hint(what, f"{BY_ID}{delimiter}")]
    return []


def _are_groups(groups: int, queries: int) -> bool:
    return _FEWEST_GROUPS <= groups <= queries / _FEWEST_ALIKE


def _hint(what: str, option: str) -> str:
    return (
        f"{what}. If the queries of a group move together, intervals are too short: "
        f"name the groups by clusters={option!r}, on the command line --clusters {option}."
    )
