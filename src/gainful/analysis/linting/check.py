"""`check`: find errors in judgments and runs before evaluating them."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from math import isfinite
from typing import Unpack

import numpy as np

from gainful import arguments
from gainful.analysis.linting.findings import Finding, Findings, ids_text
from gainful.analysis.linting.rules import (
    CheckedTable,
    Draft,
    GradeRange,
    Look,
    RuledDraft,
    all_rules,
    drafts_of,
)
from gainful.errors import InputError, taken_warnings
from gainful.matching.chunks_to_documents import Chunks, read_chunks
from gainful.matching.input import BadRow, Input
from gainful.matching.keyword_options import ReadingOptions, takes
from gainful.matching.reader import open_input, opened_session, sample_of
from gainful.measures.policy import Policy
from gainful.message_texts import counted, shown
from gainful.rows import mistakes
from gainful.rows.duckdb_engine import EngineError, Session
from gainful.rows.files import are_the_same
from gainful.rows.grades_scores_or_ranks import JUDGMENTS, RUN
from gainful.rows.identifiers import UNTYPED, decided_type
from gainful.rows.input_types import Judgments
from gainful.rows.mistakes import Rule
from gainful.rows.runs_by_name import Runs, read_runs
from gainful.rows.table_source import (
    Source,
    guarded,
    is_whole,
    read_into,
    ready,
    stored_rows,
)
from gainful.rows.text_formats import Row, rows

_DEEPEST = 100_000  # the engine keeps this many scores per query in memory
_KNOWN = "query IS NOT NULL AND doc IS NOT NULL"
_FINITE = "coalesce(isfinite(number), false)"
UNREADABLE, NOT_FINITE = "unreadable-row", "not-finite"


@takes(ReadingOptions)
def check(
    judgments: Judgments,
    runs: Runs | None = None,
    *,
    cutoff: int = 10,
    scale: tuple[float, float] | None = None,
    chunks: str | Mapping[str, str] | Callable[[str], str] | None = None,
    **options: Unpack[ReadingOptions],
) -> Findings:
    """Find errors and probable mistakes in judgments and runs.

    Args:
        judgments: `{query: {doc: grade}}`, the path of a file, a data frame or an Arrow object.
        runs: name → run, each `{query: {doc: score}}` or one of the other types. Or paths of files,
            a folder or a pattern, with the names from `gainful.inputs.find_runs`. None checks only
            the judgments.
        cutoff: the rank down to which lists are checked.
        scale: the lowest and the highest grade; grades outside are errors.
        chunks: the map from chunks to documents, as in `evaluate`: the delimiter before
            the number of a chunk, a dict from chunk to document, or a function. A document has the
            highest score of its chunks.
        **options: see `ReadingOptions`.

    Input that can't be read at all, such as a missing or a binary file, raises an error instead of
    producing a finding.

    >>> judgments = {"q1": {"a": 3, "b": 9}, "q2": {"c": 0}}
    >>> findings = check(judgments, {"mine": {"q1": {"a": 0.5, "b": 0.5}}}, scale=(0, 3))
    >>> for finding in findings:
    ...     print(finding.severity, finding.rule, finding.input, finding.count)
    error grade-off-scale judgments 1
    warning no-relevant-document judgments 1
    warning missing-query mine 1
    warning constant-score mine 1
    note short-list mine 1
    >>> findings.summary
    '1 error, 3 warnings, 1 note in judgments, mine'
    >>> chunked = {"mine": {"q1": {"a#1": 0.7, "a#2": 0.5, "b#1": 0.2}}}
    >>> [finding.rule for finding in check({"q1": {"a": 3, "b": 2}}, chunked, cutoff=2, chunks="#")]
    ['grades']
    """
    arguments.whole(cutoff, "cutoff", least=1, most=_DEEPEST)
    expected = _read_scale(scale)
    named_runs = {} if runs is None else read_runs(runs, judgments, least=0)
    folding = read_chunks(chunks, Policy())
    with opened_session(options) as (session, columns):
        with taken_warnings() as warned:
            opened = open_input(judgments, JUDGMENTS, columns, session, checked=False)
        judged, drafts = _checked(opened, JUDGMENTS.name, cutoff, warned)
        if judged.size:
            look = Look(session, judged, judged, judged, cutoff, expected)
            drafts += drafts_of(look, "input", "judgments")
        types = [(opened.query_type, opened.doc_type)]
        mistaken: dict[str, Draft] = {}  # mistakes in the judgments, by rule, each from one run
        for name, run in named_runs.items():
            with taken_warnings() as warned:
                opened_run = open_input(run, RUN, columns, session, checked=False)
            # The judgments stay last; ids of chunks are not ids of documents.
            types.insert(-1, (opened_run.query_type, UNTYPED if folding else opened_run.doc_type))
            readable = opened_run.beside(opened, f"run {name!r}")
            if folding is not None and not readable.has_ids:
                raise InputError("chunks", "documents with ids", readable.holds)
            table, of_run = _checked(readable, name, cutoff, warned)
            drafts += [*of_run, *_drafts_of_run(judged, table, readable, cutoff, folding)]
            same = are_the_same(judgments, run)
            if same and opened.taken_from == opened_run.taken_from:
                message = f"judgments and run {name!r} are the same {same}"
                drafts.append(("run-as-judgments", Draft(judged, 1, message)))
                continue
            sample = sample_of(opened, opened_run, columns)
            for rule in mistakes.MISTAKES:
                for slip in rule.find(sample) if rule.find and rule.name not in mistaken else ():
                    mistaken[rule.name] = Draft(judged, 1, slip.odd, remedy=slip.remedy)
        findings = _settled([*drafts, *mistaken.items()])
    query_type, doc_type = (decided_type(of_inputs) for of_inputs in zip(*types, strict=True))
    looked_at = (JUDGMENTS.name, *named_runs)
    return Findings(findings, looked_at, cutoff, expected, query_type, doc_type)


def _drafts_of_run(
    judged: CheckedTable, run: CheckedTable, opened: Input, cutoff: int, chunks: Chunks | None
) -> list[RuledDraft]:
    """Return findings for a run, and for the run together with the judgments."""
    session, lists = opened.session, run
    drafts: list[RuledDraft] = []
    if run.size and chunks is not None:
        lists = _folded(session, run, chunks, cutoff)
    look = Look(
        session, judged, run, lists, cutoff, in_order=opened.in_order, has_ids=opened.has_ids
    )
    if run.size:
        drafts += drafts_of(look, "input", "run")
    if judged.size and (run.size or opened.bare_queries()):
        drafts += drafts_of(look, *look.in_common)
    for table in dict.fromkeys((*lists.stored, *run.stored)):
        session.drop(table)
    return drafts


def _checked(
    opened: Input, name: str, cutoff: int, warned: list[str]
) -> tuple[CheckedTable, list[RuledDraft]]:
    """Read an input; return findings for unreadable rows and for warnings raised on opening it."""
    table, drafts = _check_input(opened, name, cutoff)
    for warning in warned:
        message = warning.removeprefix(f"{opened.name}: ").removesuffix(".")
        drafts.append(("doubtful-reading", Draft(table, 1, message)))
    return table, drafts


def _read_scale(scale: object) -> GradeRange | None:
    if scale is None:
        return None
    if isinstance(scale, tuple | list) and len(scale) == 2:
        low, high = map(arguments.as_float, scale)
        if isfinite(low) and isfinite(high) and low <= high:
            return low, high
    raise InputError("scale", "the lowest and the highest grade, such as (0, 3)", shown(scale))


def _check_input(opened: Input, name: str, cutoff: int) -> tuple[CheckedTable, list[RuledDraft]]:
    """Read judgments or a run; text that the engine can't read is read row by row."""
    source, session = opened.table_to_check(), opened.session
    if source is not None and source.file is None:
        return _by_engine(session, source, name, cutoff)
    if source is not None:
        with suppress(EngineError, InputError):  # reading row by row finds all bad rows
            return _by_engine(session, ready(source, session), name, cutoff)
    checked, drafts = _by_row(opened, name, cutoff, source)
    only_empty_lists = opened.kind.name == RUN.name and opened.bare_queries()
    if not (checked.size or drafts or only_empty_lists):
        raise InputError(checked.source, opened.kind.least, "none")
    return checked, drafts


def _by_engine(
    session: Session, source: Source, name: str, cutoff: int
) -> tuple[CheckedTable, list[RuledDraft]]:
    raw, view = session.name("checked"), session.name("rows")
    columns = guarded(session, source, f"SELECT * FROM ({source.select}) LIMIT 0")
    ranked = source.kind is RUN and "rank" in columns
    rank = "rank" if ranked else "CAST(NULL AS DOUBLE) AS rank"
    select = f"SELECT query, doc, number + 0.0 AS number, {rank} FROM {{rows}}"
    of_source = select.format(rows=f"({source.select})")
    if source.rescans:
        # Input that is cheap to read again isn't copied; its rows have no numbers.
        session.execute(f"CREATE TEMP VIEW {raw} AS {of_source}")
    elif source.file is None:
        read_into(session, source, raw, select)
    else:
        count = session.rows(f"CREATE TEMP TABLE {raw} AS {of_source}")[0][0]
        if not is_whole(source, count):
            raise InputError(source.name, f"{source.rows} rows", f"{count}")
    counts = f"SELECT count(*) AS n, count_if({_KNOWN} AND {_FINITE}) AS good FROM {raw}"
    size, good = (int(column[0]) for column in guarded(session, source, counts).values())
    if not size:
        raise InputError(source.name, source.kind.least, "none")
    numbered = f"SELECT *, {0 if source.rescans else 'rowid + 1'} AS row FROM {raw}"
    keep = f" WHERE {_KNOWN} AND {_FINITE}" if good < size else ""
    session.execute(f"CREATE TEMP VIEW {view} AS SELECT * FROM ({numbered}){keep}")
    groups = _grouped(session, view, cutoff)
    checked = CheckedTable(
        name,
        source.kind,
        view,
        groups,
        good,
        ranked,
        (groups,) if source.rescans else (groups, raw),
        source.name,
        source.file,
        None if source.file is None else source.layout,
        # If no white space had to be normalised, each line is a row.
        by_line=source.layout.format == "trec" and source.rows is not None,
    )
    return checked, [*_bad_rows(session, checked, numbered)] if good < size else []


def _bad_rows(session: Session, table: CheckedTable, numbered: str) -> Iterator[RuledDraft]:
    """Yield findings for the rows of a table without an id or a finite number."""
    for rule, condition in (
        (UNREADABLE, f"NOT ({_KNOWN})"),
        (NOT_FINITE, f"{_KNOWN} AND NOT {_FINITE}"),
    ):
        bad_rows = session.rows(
            "SELECT count(*) OVER (), row, query, doc, number "
            f"FROM ({numbered}) WHERE {condition} ORDER BY row, query, doc LIMIT 1"
        )
        for count, row, query, doc, number in bad_rows:
            problem = f"no {'query' if query is None else 'document'} id"
            if rule == NOT_FINITE:
                written = "missing" if number is None else table.kind.turned(number)
                problem = f"the {table.kind.number} is {written}"
            yield _unread(table, rule, count, BadRow(row, query, doc, problem))


def _unread(
    table: CheckedTable, rule: str, count: int, first: BadRow, remedy: str = ""
) -> RuledDraft:
    problem = "cannot be read" if rule == UNREADABLE else f"without a finite {table.kind.number}"
    message = f"{counted(count, 'row')} {problem}"
    place = first.query, first.doc, first.row
    return rule, Draft(table, count, message, first.found, *place, remedy)


def _by_row(
    opened: Input, name: str, cutoff: int, source: Source | None
) -> tuple[CheckedTable, list[RuledDraft]]:
    """Read an input row by row: good rows are stored in a table, bad ones are counted."""
    counts: Counter[str] = Counter()
    first: dict[str, BadRow] = {}
    remedies: dict[str, str] = {}

    def good_rows() -> Iterator[Row]:
        for entry in opened.rows_to_check(name):
            if isinstance(entry, Row):
                yield entry
                continue
            rule = NOT_FINITE if entry.is_number else UNREADABLE
            counts[rule] += 1
            first.setdefault(rule, entry)
            remedies[rule] = remedies.get(rule) or entry.remedy

    session = opened.session
    table, size = stored_rows(session, good_rows(), "rows", "number + 0.0")
    groups = _grouped(session, table, cutoff)
    if bare := opened.bare_queries():
        listed = session.register("bare", {"query": np.array(bare, object)})
        session.execute(f"INSERT INTO {groups} (query, n) SELECT query, 0 FROM {listed}")
        session.connection.unregister(listed)
    file, layout = (None, None) if source is None else (source.file, source.layout)
    checked = CheckedTable(
        name,
        opened.kind,
        table,
        groups,
        size,
        opened.kind is RUN and layout is not None and layout.rank is not None,
        (groups, table),
        name if source is None else source.name,
        file,
        layout,
        by_line=file is not None,
    )
    if size:  # if other rows are readable, only the remedy for a header is more than a guess
        headers = [rule for rule, row in first.items() if row.row == counts[rule] == 1]
        remedies = {rule: remedies[rule] for rule in headers}
    return checked, [
        _unread(checked, rule, counts[rule], row, remedies.get(rule, ""))
        for rule, row in first.items()
    ]


def _folded(session: Session, run: CheckedTable, chunks: Chunks, cutoff: int) -> CheckedTable:
    """Turn a run of chunks into a run of documents, each with its highest score and its first row."""
    table = session.name("folded")
    session.execute(
        f"CREATE TEMP TABLE {table} AS SELECT query, document AS doc, max(number) AS number, "
        f"CAST(NULL AS DOUBLE) AS rank, min(row) AS row FROM ({chunks.sql(session, run.table)}) "
        "GROUP BY query, document"
    )
    groups = _grouped(session, table, cutoff)
    session.execute(
        f"INSERT INTO {groups} (query, n) SELECT query, 0 FROM {run.groups} WHERE n = 0"
    )
    return replace(run, table=table, groups=groups, ranked=False, stored=(groups, table))


def _grouped(session: Session, table: str, cutoff: int) -> str:
    groups = session.name("groups")
    session.execute(
        f"CREATE TEMP TABLE {groups} AS SELECT query, count(*) AS n, min(number) AS low, "
        f"max(number) AS high, min(row) AS first, max(number, {cutoff + 1}) AS top "
        f"FROM {table} GROUP BY query"
    )
    return groups


def _settled(drafts: Iterable[RuledDraft]) -> tuple[Finding, ...]:
    """Return the findings with their places, the most severe first."""
    rules = all_rules()
    order = [*rules]
    ordered = sorted(drafts, key=lambda draft: order.index(draft[0]))
    lines = _lines([draft for _, draft in ordered])
    return tuple(_finding(rules[name], draft, lines) for name, draft in ordered)


def _finding(rule: Rule, draft: Draft, lines: dict[tuple[str, int], int]) -> Finding:
    table = draft.input
    ids = ids_text(draft.query, draft.doc)
    place = table.source if ids is None else ids
    if draft.row:
        line = lines.get((table.table, draft.row))
        if line is not None:
            place = f"{table.source}:{line}"
        elif draft.query is None or rule.name == UNREADABLE:
            place = f"{table.source}, row {draft.row}"
    return Finding(
        rule.severity,
        rule.name,
        table.name,
        draft.count,
        draft.message,
        place,
        draft.query,
        draft.doc,
        draft.example,
        draft.remedy or rule.remedy,
    )


def _lines(drafts: list[Draft]) -> dict[tuple[str, int], int]:
    """Return the line numbers of drafts, by table and row."""
    texts: dict[str, dict[int, Draft]] = {}
    for draft in drafts:
        if draft.row and draft.input.file is not None:
            texts.setdefault(draft.input.table, {})[draft.row] = draft
    return {
        (table, row): line for table, wanted in texts.items() for row, line in _lines_in(wanted)
    }


def _lines_in(drafts: dict[int, Draft]) -> Iterator[tuple[int, int]]:
    """Yield rows of the engine with their lines in a text, up to the last row needed.

    If a row has unexpected ids, the engine counted rows differently, and no line is better than a
    wrong one.
    """
    table = next(iter(drafts.values())).input
    if table.by_line or table.file is None or table.layout is None:
        yield from ((row, row) for row in drafts)
        return
    content = islice(rows(table.file, table.layout, table.kind), max(drafts))
    for place, row in enumerate(content, 1):
        draft = drafts.get(place)
        if draft is None:
            continue
        ids = (draft.query, draft.doc)
        if not isinstance(row, Row) or (ids[0] in (None, row.query) and ids[1] in (None, row.doc)):
            yield place, row.line
