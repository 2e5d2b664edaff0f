"""`check`: find errors in judgments and runs before evaluating them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from math import isfinite
from typing import Unpack

from gainful import arguments
from gainful.analysis.linting.findings import Finding, Findings, ids_text
from gainful.analysis.linting.looks import CheckedTable, Draft, GradeRange, Look
from gainful.analysis.linting.readable_rows import UNREADABLE, UnreadRows, check_input, folded
from gainful.analysis.linting.rules import all_rules, drafts_of
from gainful.errors import InputError, taken_warnings
from gainful.matching.chunks_to_documents import Chunks, read_chunks
from gainful.matching.input import Input
from gainful.matching.keyword_options import ReadingOptions, takes
from gainful.matching.reader import open_input, opened_session
from gainful.measures.policy import Policy
from gainful.message_texts import counted, shown
from gainful.rows import mistakes
from gainful.rows.duckdb_engine import Session
from gainful.rows.files import are_the_same
from gainful.rows.grades_scores_or_ranks import JUDGMENTS, RUN
from gainful.rows.id_types import UNTYPED, decided_type
from gainful.rows.input_types import Judgments
from gainful.rows.mistakes import Rule, Sample
from gainful.rows.run_and_judgment_columns import asked_columns, read_columns
from gainful.rows.runs_by_name import Runs, read_runs
from gainful.rows.text_formats import Row, rows

_DEEPEST = 100_000  # the engine keeps this many scores per query in memory

RuledDraft = tuple[str, Draft]
"""The name of a rule, and its finding."""


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
    with opened_session(options) as session:
        names = read_columns(
            options.get("columns"), options.get("queries"), options.get("assessors")
        )
        with taken_warnings() as warned:
            opened = open_input(judgments, JUDGMENTS, names, session, checked=False)
        judged, drafts = _checked(session, opened, JUDGMENTS.name, cutoff, warned)
        if judged.size:
            look = Look(session, judged, judged, judged, cutoff, expected)
            drafts += drafts_of(look, "input", "judgments")
        types = [(opened.query_type, opened.doc_type)]
        named = JUDGMENTS.number in asked_columns(JUDGMENTS, names)
        slips: dict[
            str, RuledDraft
        ] = {}  # findings about the judgments from the first run, by rule
        for name, run in named_runs.items():
            with taken_warnings() as warned:
                opened_run = open_input(run, RUN, names, session, checked=False)
            # The judgments stay last; ids of chunks are not ids of documents.
            types.insert(-1, (opened_run.query_type, UNTYPED if folding else opened_run.doc_type))
            readable = opened_run.beside(opened, f"run {name!r}")
            if folding is not None and not readable.has_ids:
                raise InputError("chunks", "documents with ids", readable.holds)
            drafts += _look_at_run(session, judged, readable, name, cutoff, folding, warned)
            same = are_the_same(judgments, run)
            if same and opened.taken_from == opened_run.taken_from:
                odd = f"judgments and run {name!r} are the same {same}"
                drafts.append(("run-as-judgments", Draft(judged, 1, odd)))
                continue
            sample = Sample(
                opened.first_rows, opened_run.first_rows, opened.taken_from, opened.ranked, named
            )
            for rule in mistakes.MISTAKES:
                for slip in () if rule.find is None or rule.name in slips else rule.find(sample):
                    slips[rule.name] = rule.name, Draft(judged, 1, slip.odd, remedy=slip.remedy)
        drafts += slips.values()
        findings = _settled(drafts)
    names.refuse_unused()
    query_type, doc_type = (decided_type(of_inputs) for of_inputs in zip(*types, strict=True))
    looked_at = (JUDGMENTS.name, *named_runs)
    return Findings(findings, looked_at, cutoff, expected, query_type, doc_type)


def _look_at_run(
    session: Session,
    judged: CheckedTable,
    opened: Input,
    name: str,
    cutoff: int,
    chunks: Chunks | None,
    warned: list[str],
) -> list[RuledDraft]:
    run, drafts = _checked(session, opened, name, cutoff, warned)
    lists = run
    if run.size and chunks is not None:
        lists = folded(session, run, chunks, cutoff)
    look = Look(session, judged, run, lists, cutoff, in_order=opened.in_order)
    if run.size:
        drafts += drafts_of(look, "input", "run")
    if judged.size and (run.size or opened.bare_queries()):
        drafts += drafts_of(look, *look.in_common)
    for table in dict.fromkeys((*lists.stored, *run.stored)):
        session.drop(table)
    return drafts


def _checked(
    session: Session, opened: Input, name: str, cutoff: int, warned: list[str]
) -> tuple[CheckedTable, list[RuledDraft]]:
    """Read an input; return findings for unreadable rows and for warnings raised on opening it."""
    table, unread = check_input(session, opened, name, cutoff)
    return table, [*_unread_rows(table, unread), *_doubts(table, warned, opened.name)]


def _read_scale(scale: object) -> GradeRange | None:
    if scale is None:
        return None
    if isinstance(scale, tuple | list) and len(scale) == 2:
        low, high = map(arguments.as_float, scale)
        if isfinite(low) and isfinite(high) and low <= high:
            return low, high
    raise InputError("scale", "the lowest and the highest grade, such as (0, 3)", shown(scale))


def _unread_rows(table: CheckedTable, unread: Iterable[UnreadRows]) -> Iterator[RuledDraft]:
    """Yield findings for unreadable rows of an input."""
    for rows_ in unread:
        counted_rows, bad = counted(rows_.count, "row"), rows_.first
        message = f"{counted_rows} without a finite {table.kind.number}"
        if rows_.rule == UNREADABLE:
            message = f"{counted_rows} cannot be read"
        place = bad.query, bad.doc, bad.row
        yield rows_.rule, Draft(table, rows_.count, message, bad.found, *place, rows_.remedy)


def _doubts(table: CheckedTable, warnings: Iterable[str], name: str) -> Iterator[RuledDraft]:
    """Yield findings for warnings raised on opening an input; each starts with the input's name."""
    for warning in warnings:
        message = warning.removeprefix(f"{name}: ").removesuffix(".")
        yield "doubtful-reading", Draft(table, 1, message)


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
    lines: dict[tuple[str, int], int] = {}
    texts: dict[str, list[Draft]] = {}
    for draft in drafts:
        if draft.row and draft.input.file is not None:
            if draft.input.by_line:
                lines[draft.input.table, draft.row] = draft.row
            else:
                texts.setdefault(draft.input.table, []).append(draft)
    for table, wanted in texts.items():
        lines |= {(table, row): line for row, line in _walked(wanted).items()}
    return lines


def _walked(drafts: list[Draft]) -> dict[int, int]:
    """Map row numbers of the engine to lines of a text, up to the last row needed.

    If a row has unexpected ids, the engine counted rows differently, and no line is better than a
    wrong one.
    """
    table = drafts[0].input
    assert table.file is not None  # noqa: S101 - only texts come here
    assert table.layout is not None  # noqa: S101
    expected = {draft.row: draft for draft in drafts if draft.row is not None}
    lines: dict[int, int] = {}
    content = rows(table.file, table.layout, table.kind)
    for place, row in enumerate(islice(content, max(expected)), 1):
        draft = expected.get(place)
        if draft is None:
            continue
        if not isinstance(row, Row) or (
            draft.query in (None, row.query) and draft.doc in (None, row.doc)
        ):
            lines[place] = row.line
    return lines
