"""The tables that contain logs, and their columns: every shape becomes a table with a row per shown document.

A log is a table with a row per shown document, a row per list, or a row per event (impressions, clicks
and other actions), with a second table of the lists that were shown; or counts of impressions and clicks.
`shown_rows` recognises the shape by the columns, and writes the SQL for the table that becomes a
`ClickLog`.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict

from gainful import arguments
from gainful.errors import InputError
from gainful.message_texts import shown
from gainful.rows.duckdb_engine import (
    Engine,
    Session,
    file_quoted,
    name_quoted,
    quoted,
    reading_table,
)
from gainful.rows.files import LocalFile, path_of
from gainful.rows.input_types import TableLike
from gainful.rows.keys_of_several_columns import columns_of_key, joined_columns, keys_in_sql
from gainful.rows.parquet_and_frame_tables import (
    described_columns,
    readable,
    registered,
    table_or_text,
)
from gainful.rows.run_and_judgment_columns import find_column, no_column, plain_name
from gainful.rows.spark_frames import counted_on_spark, is_spark

IMPRESSIONS = ("impression", "impressions", "view", "view_item_list", "shown", "display", "serve")
"""The usual names of the action that means a document was shown."""
_JSON = (b"{", b"[")
_MINUTE = 60.0
_UNITS = (("1e17", "1e9"), ("1e14", "1e6"), ("1e11", "1e3"))  # of times, as parts of a second
_BLANK_IN_ID = r"[,;|].*[^,;|\s]\s+[^,;|\s]|[^,;|\s]\s+[^,;|\s].*[,;|]"
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
_FILE, _ROW = "file_index", "file_row_number"  # columns that the engine adds to Parquet files


class LogOptions(TypedDict, total=False):
    """The options of all functions that read a log.

    Attributes:
        lists: the lists that were shown, if the log contains only events: a table with a row per list.
        columns: the names of columns that aren't recognised, by role, such as {"doc": "sku", "list": "search"}.
        actions: the weight of each action that counts as a click, such as
            {"click": 1, "add_to_cart": 3, "purchase": 5}; only clicks if None.
        first_position: the position of the first document, 0 or 1; the lowest in the log if None.
        session_gap: the minutes without a row after which a user's next session begins, for logs
            without sessions.
        most_clicks: sessions with more clicks than this are left out as probable bots; None keeps all sessions.
        engine: the resources that DuckDB may use to read the log.
    """

    lists: TableLike
    columns: Mapping[str, str]
    actions: Mapping[str, float]
    first_position: int
    session_gap: float
    most_clicks: int
    engine: Engine


ROLES: Mapping[str, tuple[str, ...]] = {
    "list": ("list_id", "search_id", "impression_id", "request_id", "serp_id", "ranking_id",
             "recommendation_id", "slate_id", "list", "query_id"),
    "session": ("session_id", "session", "visit_id", "visit"),
    "user": ("user_id", "user", "client_id", "visitor_id", "customer_id", "member_id"),
    "query": ("user_query", "query_text", "search_query", "search_term", "query", "keywords", "question", "query_id", "qid"),
    "doc": ("object_id", "doc_id", "document_id", "item_id", "product_id", "docid", "doc", "document", "item", "product",
            "sku", "asin", "url"),
    "position": ("position", "ordinal", "rank", "pos", "slot", "position_ordinal"),
    "clicks": ("clicked", "click", "clicks", "is_click", "is_clicked", "num_clicks"),
    "action": ("action_name", "action", "event", "event_type", "event_name"),
    "time": ("timestamp", "time", "event_time", "created_at", "datetime", "date"),
    "propensity": ("propensity", "pscore", "logging_probability"),
    "impressions": ("impressions", "views", "impression_count", "num_impressions"),
    "shown": ("query_response_hit_ids", "shown", "shown_ids", "results", "result_ids", "ranking", "hits", "documents", "doc_ids",
              "item_ids", "items"),
    "clicked": ("clicked_ids", "clicked_docs", "clicked_documents", "clicked_items", "clicked_positions", "clicked", "clicks"),
    "team": ("team", "ranker", "source", "arm"),
}  # fmt: skip
"""The usual column names of each role, the least ambiguous first, as `plain_name` spells them."""


@dataclass(frozen=True, slots=True)
class LogTable:
    """A table of a log in the engine.

    Attributes:
        name: its name in messages.
        relation: its SQL, starting with FROM.
        columns: the columns with a role, by role.
        types: the engine's types of all columns, by name.
        own_names: the caller's column names, by role.
        files: the number of Parquet files that it is in, where the engine can look rows up by their numbers; 0 otherwise.
    """

    name: str
    relation: str
    columns: Mapping[str, str]
    types: Mapping[str, str]
    own_names: Mapping[str, str] = field(default_factory=dict)
    files: int = 0

    def has(self, *roles: str) -> bool:
        """Return whether there is a column for each of these roles."""
        return all(role in self.columns for role in roles)

    def text(self, role: str) -> str:
        """Return SQL for a column as text; NULL if the table lacks the column."""
        if role not in self.columns:
            return "CAST(NULL AS VARCHAR)"
        return f"CAST({name_quoted(self.columns[role])} AS VARCHAR)"

    def number(self, role: str) -> str:
        """Return SQL for a column as a number, where true counts 1; NULL if the table lacks the column."""
        if role not in self.columns:
            return "CAST(NULL AS DOUBLE)"
        column = name_quoted(self.columns[role])
        if self.types[self.columns[role]] == "VARCHAR":
            truth = f"CASE WHEN lower({column}) IN ('true', 'yes') THEN 1 WHEN lower({column}) IN ('false', 'no') THEN 0 END"
            return f"coalesce(TRY_CAST({column} AS DOUBLE), {truth})"
        return f"TRY_CAST({column} AS DOUBLE)"

    def has_type(self, role: str, *types: str) -> bool:
        """Return whether there is a column of this role with one of these types."""
        return self.types.get(self.columns.get(role, "")) in types

    def position(self) -> str:
        """Return SQL for the position: a whole number, or a number that may have decimals."""
        if self.has_type("position", *_WHOLE):
            return name_quoted(self.columns["position"])
        return f"CAST({self.number('position')} AS FLOAT)"

    def is_clicked(self) -> str:
        """Return SQL for whether the document of a row was clicked, as 1 or 0."""
        clicks = f"coalesce(nullif({self.number('clicks')}, 'nan'::DOUBLE), 0) > 0"
        if self.has_type("clicks", "BOOLEAN", *_WHOLE):
            clicks = f"coalesce({name_quoted(self.columns['clicks'])} > 0, false)"
        return f"CAST({clicks} AS TINYINT)"

    def seconds(self, role: str = "time") -> str:
        """Return SQL for a time in seconds since 1970; NULL if the table lacks the column."""
        if role not in self.columns:
            return "CAST(NULL AS DOUBLE)"
        column = name_quoted(self.columns[role])
        as_number = f"TRY_CAST({column} AS DOUBLE)"
        if self.types[self.columns[role]].startswith(("TIMESTAMP", "DATE")):
            return f"epoch({column})"
        # Larger numbers than these are taken as nano-, micro- and milliseconds.
        units = " ".join(
            f"WHEN {as_number} > {least} THEN {as_number} / {unit}" for least, unit in _UNITS
        )
        moment = f"epoch(TRY_CAST({column} AS TIMESTAMP))"
        if self.types[self.columns[role]] != "VARCHAR":
            moment = as_number
        return f"CASE {units} ELSE coalesce({as_number}, {moment}) END"

    def items(self, role: str) -> str:
        """Return SQL for a column with several ids as a list of texts.

        Texts are JSON arrays, or ids with commas, semicolons, bars or blanks between them; if a shown list has both
        blanks and others of these, blanks are part of the ids.
        """
        column = name_quoted(self.columns[role])
        if self.types[self.columns[role]].endswith("]"):
            return f"CAST({column} AS VARCHAR[])"
        array = f"CASE WHEN json_valid({column}) THEN CASE WHEN json_type({column}) = 'ARRAY' THEN from_json({column}, '[\"VARCHAR\"]') END END"
        if self.has_type("shown", "VARCHAR"):
            both = f"regexp_matches({name_quoted(self.columns['shown'])}, '{_BLANK_IN_ID}')"
            has_blanks = f"(SELECT coalesce(bool_or({both}), false) {self.relation})"
        else:
            has_blanks = "false"
        even = rf"CASE WHEN {has_blanks} THEN {column} ELSE regexp_replace({column}, '\s+', ',', 'g') END"
        parts = f"regexp_split_to_array(trim({even}, '[](), '), '[,;|]')"
        bare = f"list_transform({parts}, lambda id: trim(id, ' ''\"'))"
        return f"coalesce({array}, list_filter({bare}, lambda id: id <> ''))"


@contextmanager
def opened_table(
    given: TableLike, name: str, columns: Mapping[str, str], session: Session
) -> Iterator[LogTable]:
    """Open a table of any kind in the engine, with the roles of its columns."""
    with reading_table(name):
        if isinstance(given, str | os.PathLike):
            source, files = _file_relation(path_of(given), session)
        else:
            source, files = _relation(given, name, session), 0
        relation, types = _flattened(source, session, name)
        keys = joined_columns([text for text in columns.values() if isinstance(text, str)])
        joined = keys_in_sql(keys, types, lambda sql: session.rows(f"{sql} {relation}"))
        if joined:
            parts = {part for key in keys for part in columns_of_key(key)}
            relation = f"FROM (SELECT * EXCLUDE ({', '.join(map(name_quoted, parts))}), {joined} {relation})"
            types = dict(described_columns(relation, session, name))
        if relation != source or {_FILE, _ROW} & {*types}:
            files = 0
        yield LogTable(name, relation, _roles([*types], columns, name), types, columns, files)


def _relation(given: Any, name: str, session: Session) -> str:
    if isinstance(given, list | tuple):
        if not given or not all(isinstance(row, Mapping) for row in given):
            raise InputError(name, "a list of dicts, one per row", shown(given))
        try:
            lines = [json.dumps(dict(row), default=str) for row in given]
        except Exception:  # noqa: BLE001 - a value may raise anything when it is written
            raise InputError(name, "dicts of texts and numbers", shown(given)) from None
        with session.written_aside("records") as (path, file):
            file.write("\n".join(lines).encode())
        return f"FROM read_json({file_quoted(path, session)}, format='newline_delimited')"
    table = readable(given, name)
    if len(getattr(given, "columns", "some")) == 0:
        raise InputError(name, "a table with columns", "none")
    if table is None:
        expected = "the path of a file, a data frame, a DuckDB relation or a list of dicts"
        raise InputError(name, expected, type(given).__name__)
    return f"FROM {registered(session, given, table, 'log', name)}"


def _file_relation(name: str, session: Session) -> tuple[str, int]:
    """Return SQL for the table in a file or at an address, and the number of its Parquet files."""
    file = table_or_text(name, session)
    if not isinstance(file, LocalFile):
        return file.relation, len(file.parts) if file.files else 0
    with file.path.open("rb") as opened:
        head = opened.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    if not head:
        raise InputError(name, "a log with at least one row", "an empty file")
    quoted_path = file_quoted(file.path, session)
    if head.startswith(_JSON):
        return f"FROM read_json({quoted_path}, sample_size=-1)", 0
    return f"FROM read_csv({quoted_path}, header=true, all_varchar=true, sample_size=2000)", 0


def _flattened(relation: str, session: Session, name: str) -> tuple[str, dict[str, str]]:
    """Return a relation whose columns aren't nested, with the types of its columns.

    Index exports wrap each record in `_source`, and search responses in `hits.hits`; the attributes of
    UBI's events are nested.
    """
    types = dict(described_columns(relation, session, name))
    if "hits" in types and types["hits"].startswith("STRUCT("):
        relation = f"FROM (SELECT unnest(hits.hits) AS hit {relation})"
        relation = f"FROM (SELECT unnest(hit) {relation})"
        types = dict(described_columns(relation, session, name))
    if "_source" in types and types["_source"].startswith("STRUCT("):
        relation = f"FROM (SELECT unnest(_source) {relation})"
        types = dict(described_columns(relation, session, name))
    structs = [
        column
        for column, kind in types.items()
        if kind.startswith("STRUCT(") and not kind.endswith("]")
    ]
    if structs:
        parts = ", ".join(f"unnest({name_quoted(column)}, recursive := true)" for column in structs)
        without = ", ".join(map(name_quoted, structs))
        relation = f"FROM (SELECT * EXCLUDE ({without}), {parts} {relation})"
        types = dict(described_columns(relation, session, name))
    return relation, types


def _roles(names: Sequence[str], asked: Mapping[str, str], where: str) -> dict[str, str]:
    """Return the column of each role that the table has, found by the caller's name or by the least ambiguous usual name.

    In flattened tables, the last part of a name such as event_attributes.object.object_id counts, if it is unique.
    """
    ends = [name.rpartition(".")[2] for name in names]
    parts = [end if ends.count(end) == 1 else name for name, end in zip(names, ends, strict=True)]
    for role, column in asked.items():
        arguments.text(column, f"columns, {shown(role)}", "the name of a column")
        arguments.choice(role, "columns", ROLES, expected=f"roles among {', '.join(ROLES)}")
    places: dict[str, int] = {}
    for role in sorted(ROLES, key=lambda role: role not in asked):
        wanted = asked.get(role)
        if wanted is not None and wanted not in names:
            continue  # it may be in another table of this log
        for alias in ROLES[role]:
            searched = parts if wanted is None else names
            place = find_column(role, (alias,), searched, wanted, where, taken={*places.values()})
            if place is not None:
                places[role] = place
                break
    return {role: names[place] for role, place in places.items()}


# --- from the shapes of logs to rows of shown documents


@dataclass(frozen=True, slots=True)
class Shape:
    """A log as a table with a row per shown document.

    Attributes:
        name: what each row of the log describes, for messages.
        select: SQL with the columns list, query, doc, position, value (whether the document was clicked, or the
            weight of its action), owner (the user or session to resample), propensity and team; for counts shown and
            clicked instead of value.
        has_lists: whether the list of each row is known.
        has_owners: whether lists have a session or a user.
        has_counts: whether the rows are counts.
        files: the number of Parquet files, if there are columns file and row, with numbers from 0, by which the engine
            can look up rows; 0 otherwise.
        oddities: anything odd that was noticed so far.
    """

    name: str
    select: str
    has_lists: bool = True
    has_owners: bool = False
    has_counts: bool = False
    has_propensities: bool = False
    has_teams: bool = False
    files: int = 0
    oddities: tuple["Oddity", ...] = ()


@dataclass(frozen=True, slots=True)
class Oddity:
    """Something unusual in a log, and how it was treated.

    Attributes:
        count: how often it occurs.
        what: its description, in the plural.
        treatment: how it was treated, such as "left out".
    """

    count: int
    what: str
    treatment: str

    def __str__(self) -> str:
        return f"{self.what[0].upper()}{self.what[1:]}: {self.count:,} ({self.treatment})"


def shown_rows(log: TableLike, options: LogOptions, session: Session) -> Shape:
    """Return the rows of shown documents in a log of any shape.

    Args:
        log: the log.
        options: how to read it.
        session: the engine's session.
    """
    columns = options.get("columns") or {}
    lists_given = options.get("lists")
    if is_spark(log):
        log, columns = _counted_on_spark(log, columns), {}
    with opened_table(log, "log", columns, session) as table:
        _refuse_unknown_columns(table, columns, has_other=lists_given is not None)
        events = table.has("action") or lists_given is not None
        if not events:
            table = _with_query(table)
        if events:
            if lists_given is None:
                return _events(table, None, options, session)
            with opened_table(lists_given, "lists", columns, session) as lists:
                return _events(table, lists, options, session)
        if table.has("query", "doc", "impressions", "clicks"):
            _refuse_actions(options, "counts")
            return _counts(table, session)
        if table.has("shown") and not table.has("doc"):
            _refuse_actions(options, "a row per list")
            both = {"clicked": table.columns.get("clicks", "")} | dict(table.columns)
            return _lists(
                replace(table, columns={role: name for role, name in both.items() if name}),
                options,
                session,
            )
        if table.has("clicked") and not table.has(
            "clicks"
        ):  # what the column of this shape is called
            named = dict(table.columns)
            named["clicks"] = named.pop("clicked")
            table = replace(table, columns=named)
        if table.has("query", "doc", "clicks"):
            return _rows(table, options, session)
        raise _unknown_shape(table)


def _counted_on_spark(frame: Any, columns: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return counts of a data frame with a row per shown document, or with counts."""
    roles = _roles(getattr(frame, "columns", []), columns, "log")
    missing = {"query", "doc", "clicks"} - {*roles}
    if missing or "action" in roles:
        raise InputError(
            "log", "a Spark data frame with a row per shown document, or with counts: the columns query, doc and clicked",
            ", ".join(map(repr, roles.values())) or "none of them",
            "Name the columns: columns doc=…. Write other logs to Parquet, and pass their path.",
        )  # fmt: skip
    return counted_on_spark(frame, roles)


def _with_query(table: LogTable) -> LogTable:
    """Return a table in which query_id is the query, unless another column contains the query."""
    columns = dict(table.columns)
    if "query" not in columns and plain_name(columns.get("list", "")) == "query_id":
        columns["query"] = columns.pop("list")
    return replace(table, columns=columns)


def _refuse_unknown_columns(
    table: LogTable, columns: Mapping[str, str], *, has_other: bool
) -> None:
    for role, name in columns.items():
        if name not in table.types and not has_other:
            raise no_column(role, [*table.types], table.name, name)


def _lacking(role: str, table: LogTable) -> InputError:
    return no_column(role, [*table.types], table.name, advice=f"Name it: columns {role}=….")


def _unknown_shape(table: LogTable) -> InputError:
    return InputError(
        table.name,
        "a row per shown document (session, query, document, position, clicked), a row per list (query, shown, "
        "clicked), events with an action, or counts (query, document, impressions, clicks)",
        f"the columns {', '.join(map(repr, table.types))}",
        "Name the columns by their roles, such as columns doc=sku; the roles are "
        + ", ".join(ROLES)
        + ".",
    )


def _counts(table: LogTable, session: Session) -> Shape:
    shown_, clicked = table.number("impressions"), table.number("clicks")
    select = (
        f"SELECT {table.text('query')} AS query, {table.text('doc')} AS doc, {table.position()} AS position, "
        f"{shown_} AS shown, {clicked} AS clicked {table.relation}"
    )
    wrong = f"SELECT query, doc, shown, clicked FROM ({select}) WHERE (clicked >= 0 AND clicked <= shown AND shown < 1e15) IS NOT TRUE LIMIT 1"
    with reading_table(table.name):
        odd = session.rows(wrong)
    if odd:
        query, doc, impressions, clicks = odd[0]
        raise InputError(
            f"{table.name}, query {query!r}, document {doc!r}",
            "from 0 clicks to as many as impressions",
            f"{clicks} clicks and {impressions} impressions",
            "If a document can be clicked several times in a list, count the list only once.",
        )
    return Shape("counts of a document", select, has_lists=False, has_counts=True)


def _refuse_actions(options: LogOptions, found: str) -> None:
    """Reject weights of actions for a log that doesn't say which actions there were."""
    if options.get("actions") is not None:
        raise InputError(
            "actions", "events, or a row per shown document with a column for each action", found,
            "Leave out the actions: the log has one number of clicks, whichever column contains it.",
        )  # fmt: skip


def _lists(table: LogTable, options: LogOptions, session: Session) -> Shape:
    if not table.has("query", "clicked"):
        missing = "query" if not table.has("query") else "clicked"
        raise _lacking(missing, table)
    clicked, ids = table.items("clicked"), table.items("shown")
    # Clicks are ids or positions; they are positions if none of them is a shown id.
    row = session.name("lists")
    with reading_table(table.name):
        session.execute(
            f"CREATE TEMP TABLE {row} AS SELECT row_number() OVER () AS list, {table.text('query')} AS query, "
            f"{ids} AS shown, coalesce({clicked}, []) AS clicked, {_owner(table)} AS owner, {table.text('team')} AS team "
            f"{table.relation}"
        )
        ((by_id, total),) = session.rows(
            f"SELECT coalesce(sum(len(list_filter(clicked, lambda c: list_contains(shown, c)))), 0), "
            f"coalesce(sum(len(clicked)), 0) FROM {row}"
        )
        positions = total and not by_id
        first = _first_position(options)
        if positions:
            ((least,),) = session.rows(
                f"SELECT min(TRY_CAST(c AS INT)) FROM (SELECT unnest(clicked) AS c FROM {row})"
            )
            if least is None:
                raise InputError(table.name, "in clicked, ids of shown documents or their positions", "neither", "Check the columns shown and clicked.")  # fmt: skip
            if first is None:
                first = min(max(least, 0), 1)
            elif least < first:
                raise InputError(f"{table.name}, clicked", "positions from 1", f"{least}", "Set first_position to 0.")  # fmt: skip
    first = 1 if first is None else first
    is_clicked = (
        "list_contains(clicked, CAST(position AS VARCHAR))"
        if positions
        else "list_contains(clicked, doc)"
    )
    flat = f"SELECT list, query, clicked, owner, team, unnest(shown) AS doc, generate_subscripts(shown, 1) - {1 - first} AS position FROM {row}"
    select = (
        f"SELECT hash(list) AS list, query, doc, position, CAST({is_clicked} AS TINYINT) AS value, "
        f"coalesce(owner, hash(list)) AS owner, CAST(NULL AS DOUBLE) AS propensity, team FROM ({flat})"
    )
    with reading_table(table.name):
        ((matched,),) = session.rows(f"SELECT coalesce(sum(value), 0) FROM ({select})")
        ((repeats,),) = session.rows(
            f"SELECT coalesce(sum(len(clicked) - len(list_distinct(clicked))), 0) FROM {row}"
        )
        ((empty,),) = session.rows(f"SELECT count(*) FROM {row} WHERE coalesce(len(shown), 0) = 0")
    stray = int(total - repeats - matched)
    oddities = (
        Oddity(int(repeats), "repeated clicks on a document of a list", "counted once"),
        Oddity(max(stray, 0), "clicks on documents that weren't shown", "left out"),
        Oddity(empty, "lists without documents", "left out"),
    )
    return Shape(
        "a list",
        select,
        has_owners=_has_owner(table),
        has_teams=table.has("team"),
        oddities=oddities,
    )


def _has_owner(table: LogTable) -> bool:
    return table.has("user") or table.has("session")


def _owner(table: LogTable) -> str:
    """Return SQL for the owner of a list: the user, or else the session; NULL if neither is known."""
    roles = [role for role in ("user", "session") if table.has(role)]
    if not roles:
        return "CAST(NULL AS UBIGINT)"
    owner = f"coalesce({', '.join(map(table.text, roles))})"
    return f"CASE WHEN {owner} IS NOT NULL THEN hash({owner}) END"


def _first_position(options: LogOptions) -> int | None:
    """Return the position of first documents, if the caller knows it."""
    asked = options.get("first_position")
    if asked is None:
        return None
    return arguments.whole(asked, "first_position", least=0, most=1, expected="0 or 1")


def _weights(options: LogOptions) -> dict[str, float]:
    """Return the weight of each action that counts as a click."""
    actions = options.get("actions")
    if actions is None:
        return {"click": 1.0}
    if not isinstance(actions, Mapping) or not actions:
        raise InputError(
            "actions",
            "a dict {action: weight}, such as {'click': 1, 'purchase': 5}",
            shown(actions),
        )
    return {
        arguments.text(name, "actions", "the name of an action"): arguments.number(
            weight,
            f"actions, {name}",
            "a weight from 1e-9 to 1e9",
            lambda number: 1e-9 <= number <= 1e9,
        )
        for name, weight in actions.items()
    }


def _rows(table: LogTable, options: LogOptions, session: Session) -> Shape:
    oddities = _checked_clicks(table, session)
    if options.get("actions") is not None:
        weights = _weights(options)
        names = {plain_name(name): name for name in table.types}
        columns = {"click": table.columns["clicks"], **names}
        missing = [action for action in weights if plain_name(action) not in columns]
        if missing:
            raise no_column(missing[0], [*table.types], table.name)
        parts = [
            f"{weight!r} * CAST(coalesce({replace(table, columns={'a': columns[plain_name(action)]}).number('a')}, 0) > 0 AS INT)"
            for action, weight in weights.items()
        ]
        value = f"CAST(greatest({', '.join(parts)}) AS FLOAT)"
    else:
        value = table.is_clicked()
    owner = f"hash({table.text('user' if table.has('user') else 'session')})"
    if (
        _has_owner(table)
        and _unknown("user" if table.has("user") else "session", table, session)[0]
    ):
        owner = ""
    table, nameless = _with_lists(table, session)
    oddities += nameless
    relation, list_, has_lists = table.relation, "NULL", True
    if table.has("list"):
        list_ = f"hash({table.text('list')})"
    elif table.has("session"):
        list_ = f"hash(hash({table.text('session')}), hash({table.text('query')}))"
    elif table.has("user", "time"):
        relation, number = _sessions(table, options)
        oddities += _checked_times(table, options, session)
        list_ = f"hash({table.text('user')}, {number}, {table.text('query')})"
    elif table.has("user"):
        list_ = f"hash({table.text('user')}, {table.text('query')})"
    else:
        has_lists = False
    if not _has_owner(table):
        owner = "CAST(NULL AS UBIGINT)"
    elif not owner:  # each list without a user or a session has an owner of its own
        owner = f"coalesce({_owner(table)}, {list_})"
    select = (
        f"SELECT {list_} AS list, {table.text('query')} AS query, {table.text('doc')} AS doc, "
        f"{table.position()} AS position, {value} AS value, {owner} AS owner, "
        f"{table.number('propensity')} AS propensity, {table.text('team')} AS team"
    )
    files = table.files if relation == table.relation else 0
    select += f", {_FILE} AS file, {_ROW} AS row {relation}" if files else f" {relation}"
    return Shape(
        "a shown document", select, has_lists=has_lists, has_owners=_has_owner(table),
        has_propensities=table.has("propensity"), has_teams=table.has("team"), files=files,
        oddities=oddities,
    )  # fmt: skip


def _checked_clicks(table: LogTable, session: Session) -> tuple[Oddity, ...]:
    """Reject values that don't say whether a document was clicked, and count the unusual ones."""
    if table.has_type("clicks", "BOOLEAN", *_WHOLE) and _are_flags(table, session):
        return ()
    column, number = table.text("clicks"), table.number("clicks")
    wrong_text = f"CASE WHEN {number} IS NULL OR {number} < 0 THEN nullif(trim({column}), '') END"
    with reading_table(table.name):
        ((wrong, missing, several),) = session.rows(
            "SELECT min(wrong), count(*) FILTER (number IS NULL OR isnan(number)), "
            "count(*) FILTER (number > 1 AND NOT isnan(number)) "
            f"FROM (SELECT {wrong_text} AS wrong, {number} AS number {table.relation})"
        )
    if wrong is not None:
        raise InputError(
            f"{table.name}, column {table.columns['clicks']!r}", "0 or 1, true or false, or the number of clicks", shown(wrong),
            "Another column may say what was clicked: columns clicks=….",
        )  # fmt: skip
    return (
        Oddity(
            int(missing),
            "rows without a value that says whether they were clicked",
            "counted as not clicked",
        ),
        Oddity(int(several), "documents clicked several times in a list", "counted once"),
    )


def _are_flags(table: LogTable, session: Session) -> bool:
    """Return whether all rows say 0 or 1, which the metadata of a Parquet file tell without reading it."""
    column = name_quoted(table.columns["clicks"])
    with reading_table(table.name):
        ((least, most, known, rows),) = session.rows(
            f"SELECT min({column}), max({column}), count({column}), count(*) {table.relation}"
        )
    return bool(known == rows and (rows == 0 or (least >= 0 and most <= 1)))


def _unknown(role: str, table: LogTable, session: Session) -> tuple[int, int]:
    """Return how many rows lack a value in the column of this role, and the number of all rows."""
    column = name_quoted(table.columns[role])
    with reading_table(table.name):
        ((known, total),) = session.rows(f"SELECT count({column}), count(*) {table.relation}")
    return total - known, total


def _with_lists(table: LogTable, session: Session) -> tuple[LogTable, tuple[Oddity, ...]]:
    """Return the rows whose list is known, and how many were left out."""
    for role in ("list", "session", "user"):
        if not table.has(role):
            continue
        count, total = _unknown(role, table, session)
        if not count:
            break
        if count == total:
            raise InputError(
                f"{table.name}, column {table.columns[role]!r}", f"the {role} of each row", "none",
                f"Name the column that contains it: columns {role}=….",
            )  # fmt: skip
        known = (
            f"FROM (SELECT * {table.relation} WHERE {name_quoted(table.columns[role])} IS NOT NULL)"
        )
        return replace(table, relation=known, files=0), (
            Oddity(count, f"rows without a {role}", "left out"),
        )
    return table, ()


def _checked_times(table: LogTable, options: LogOptions, session: Session) -> tuple[Oddity, ...]:
    """Reject times that can't be read, and count the unusual ones."""
    columns = f"{table.text('user')} AS user_, {table.text('query')} AS query_, {table.position()} AS place, {table.seconds()} AS moment"
    after = (
        "moment - lag(moment) OVER () AS step, user_ = lag(user_) OVER () AND query_ = lag(query_) OVER () "
        "AND place = lag(place) OVER () + 1 AS is_next"
    )
    with reading_table(table.name):
        ((total, timed, jumps, example),) = session.rows(
            f"SELECT count(*), count(moment), count(*) FILTER (is_next AND abs(step) > {_gap(options)!r}), min(example) FROM "
            f"(SELECT moment, {after}, example FROM (SELECT {columns}, {table.text('time')} AS example {table.relation}))"
        )
    if total and not timed:
        raise InputError(
            f"{table.name}, column {table.columns['time']!r}", "times such as 2026-05-01 10:00:00, or seconds since 1970", shown(example),
            "Write the times in one of these forms, or name another column: columns time=…, or columns session=….",
        )  # fmt: skip
    return (
        Oddity(total - timed, "rows without a readable time", "counted in their user's last session"),
        Oddity(jumps, "jumps of the clock within a list, by more than the gap between sessions", "the list was split"),
    )  # fmt: skip


def _gap(options: LogOptions) -> float:
    """Return the seconds without a row after which a user's next session begins."""
    gap = options.get("session_gap", 30.0)
    return _MINUTE * arguments.number(gap, "session_gap", "minutes above 0", lambda n: n > 0)


def _sessions(table: LogTable, options: LogOptions) -> tuple[str, str]:
    """Return a relation with the number of each row's session of its user, and that column.

    A session ends if the user's next row is later by more than the gap.
    """
    user, seconds = table.text("user"), table.seconds()
    late = f"CAST({seconds} - lag({seconds}) OVER (PARTITION BY {user} ORDER BY {seconds}) > {_gap(options)!r} AS INT)"
    number = "gainful session"
    inner = f"SELECT *, coalesce({late}, 0) AS late, {seconds} AS moment {table.relation}"
    outer = f'SELECT *, sum(late) OVER (PARTITION BY {user} ORDER BY moment) AS "{number}" FROM ({inner})'
    return f"FROM ({outer})", f'"{number}"'


def _events(
    table: LogTable, lists: LogTable | None, options: LogOptions, session: Session
) -> Shape:
    """Return the rows of a log of events; the shown documents come from the lists, or from impressions."""
    if not table.has("doc"):
        raise _lacking("doc", table)
    if not table.has("list") and not table.has("session", "query"):
        raise InputError(
            table.name, "the list of each event: a column such as query_id or search_id, or session and query",
            f"only {', '.join(map(repr, table.types))}", "Name the column: columns list=….",
        )  # fmt: skip
    weights = _weights(options)
    key = _key(table)
    action = f"lower({table.text('action')})" if table.has("action") else "'click'"
    values = " ".join(
        f"WHEN {quoted(name.casefold())} THEN {weight!r}" for name, weight in weights.items()
    )
    events = session.name("events")
    shown_list = session.name("shown")
    impressions = ", ".join(map(quoted, IMPRESSIONS))
    with reading_table(table.name):
        session.execute(
            f"CREATE TEMP TABLE {events} AS SELECT {key} AS list, {table.text('doc')} AS doc, {table.text('query')} AS query, "
            f"{table.number('position')} AS position, {action} AS action, CASE {action} {values} END AS weight, "
            f"{table.seconds()} AS moment, {_owner(table)} AS owner, {table.number('propensity')} AS propensity {table.relation}"
        )
    first, offset = _first_position(options), 0
    if lists is None:
        source = "SELECT CAST(NULL AS VARCHAR) AS list, '' AS doc, CAST(0 AS DOUBLE) AS position WHERE false"
        heads = f"SELECT list, query, owner FROM {events}"
    else:
        ((least,),) = session.rows(f"SELECT min(position) FROM {events} WHERE position >= 0")
        if first is None:
            first = int(least is None or least >= 1)
        source = _shown_of(lists, first)
        offset = (1 - first) * lists.has("shown")
        heads = (
            f"SELECT {_key(lists)} AS list, {lists.text('query')} AS query, {_owner(lists)} AS owner {lists.relation} "
            f"UNION ALL SELECT list, query, owner FROM {events}"
        )
    with reading_table("lists" if lists is not None else table.name):
        session.execute(f"CREATE TEMP TABLE {shown_list} AS {source}")
        # If the results of a list weren't logged, its impressions replace them.
        session.execute(
            f"INSERT INTO {shown_list} SELECT list, doc, position FROM {events} "
            f"WHERE action IN ({impressions}) AND list NOT IN (SELECT list FROM {shown_list} WHERE doc IS NOT NULL AND list IS NOT NULL)"
        )
        ((unplaced,),) = session.rows(
            f"SELECT count(*) FROM {events} WHERE action IN ({impressions}) AND (doc IS NULL OR list IS NULL)"
        )
        session.execute(f"DELETE FROM {shown_list} WHERE doc IS NULL OR list IS NULL")
        ((rows,),) = session.rows(f"SELECT count(*) FROM {shown_list}")
        actions = session.rows(
            f"SELECT action, count(*), count(weight) FROM {events} GROUP BY action ORDER BY 2 DESC, 1"
        )
    _refuse_without(rows, actions, weights, table.name)
    clicks = (
        f"SELECT list, doc, max(weight) AS weight, count(*) AS times, min(moment) AS moment FROM {events} "
        "WHERE weight IS NOT NULL GROUP BY list, doc"
    )
    per_list = f"SELECT list, first(query) FILTER (query IS NOT NULL) AS query, first(owner) FILTER (owner IS NOT NULL) AS owner FROM ({heads}) GROUP BY list"
    select = (
        f"SELECT hash(s.list) AS list, o.query, s.doc, s.position, CAST(coalesce(c.weight, 0) AS FLOAT) AS value, "
        f"coalesce(o.owner, hash(s.list)) AS owner, CAST(NULL AS DOUBLE) AS propensity, CAST(NULL AS VARCHAR) AS team "
        f"FROM {shown_list} s LEFT JOIN ({clicks}) c ON s.list = c.list AND s.doc = c.doc "
        f"LEFT JOIN ({per_list}) o ON s.list = o.list"
    )
    return Shape("an event", select, has_owners=True, oddities=_oddities_of_events(events, shown_list, clicks, impressions, offset, unplaced, session))  # fmt: skip


def _shown_of(lists: LogTable, first: int) -> str:
    """Return SQL for the shown documents of a table of lists: a row per list, or per document.

    Args:
        lists: the table.
        first: the position of first documents in the events.
    """
    key = _key(lists)
    if lists.has("shown"):
        return (
            f"SELECT list, unnest(ids) AS doc, CAST(generate_subscripts(ids, 1) - {1 - first} AS DOUBLE) AS position FROM "
            f"(SELECT {key} AS list, {lists.items('shown')} AS ids {lists.relation})"
        )
    if not lists.has("doc", "position"):
        raise _lacking("shown", lists)
    return f"SELECT {key} AS list, {lists.text('doc')} AS doc, {lists.number('position')} AS position {lists.relation}"


def _key(table: LogTable) -> str:
    """Return SQL for the key of a list: its id, or else the session and the query."""
    if table.has("list"):
        return table.text("list")
    if not table.has("session", "query"):
        raise _lacking("list", table)
    return f"concat({table.text('session')}, chr(1), {table.text('query')})"


def _refuse_without(
    rows: int, actions: Sequence[Sequence[Any]], weights: Mapping[str, float], name: str
) -> None:
    """Reject events without impressions, or without clicks."""
    listed = ", ".join(f"{action!r} ({number:,})" for action, number, _ in actions[:6]) or "none"
    if not rows:
        raise InputError(
            name, "the documents that were shown: events with the action impression, or the lists", f"the actions {listed}",
            "Pass the lists that were shown: lists=…, or --lists FILE. Clicks alone don't show which documents users skipped.",
        )  # fmt: skip
    if not any(number for *_, number in actions):
        raise InputError(
            name, f"events with an action that counts as a click: {', '.join(weights)}", f"the actions {listed}",
            "Name the actions that count: actions={'click': 1, …}, or --actions click=1.",
        )  # fmt: skip


def _oddities_of_events(
    events: str,
    shown_list: str,
    clicks: str,
    impressions: str,
    offset: int,
    unplaced: int,
    session: Session,
) -> tuple[Oddity, ...]:
    ((repeats,),) = session.rows(f"SELECT coalesce(sum(times - 1), 0) FROM ({clicks})")
    ((stray,),) = session.rows(
        f"SELECT count(*) FROM ({clicks}) c WHERE NOT EXISTS (SELECT 1 FROM {shown_list} s WHERE s.list = c.list AND s.doc = c.doc)"
    )
    ((early,),) = session.rows(
        f"SELECT count(*) FROM ({clicks}) c JOIN (SELECT list, doc, min(moment) AS moment FROM {events} "
        f"WHERE action IN ({impressions}) GROUP BY list, doc) i USING (list, doc) WHERE c.moment < i.moment"
    )
    ((others,),) = session.rows(
        f"SELECT count(*) FROM {events} WHERE weight IS NULL AND action NOT IN ({impressions})"
    )
    ((elsewhere, compared),) = session.rows(
        f"SELECT coalesce(sum(CAST(e.position - s.position - {offset} NOT IN (0, -1) AS INT)), 0), count(e.position) "
        f"FROM {events} e JOIN {shown_list} s USING (list, doc) WHERE e.weight IS NOT NULL"
    )
    if compared and elsewhere > compared / 2:
        raise InputError(
            "log", "clicks at the positions of the lists", f"{elsewhere:,} of {compared:,} clicks at other positions",
            "Check that lists= and the events belong together, and that the lists are in the order shown.",
        )  # fmt: skip
    return (
        Oddity(int(repeats), "repeated clicks on a document of a list", "counted once"),
        Oddity(int(stray), "clicks on documents that weren't shown", "left out"),
        Oddity(unplaced, "impressions without a list or a document", "left out"),
        Oddity(int(early), "clicks before the impression", "kept"),
        Oddity(
            int(elsewhere),
            "clicks logged at a position other than the list's",
            "the list's position was used",
        ),
        Oddity(int(others), "events with other actions", "left out"),
    )
