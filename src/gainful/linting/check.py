"""`check`: find what is wrong in judgments and runs, before anything is measured."""

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Unpack

from gainful import arguments
from gainful.errors import InputError, taken_warnings
from gainful.inputs.duckdb_engine import Session
from gainful.inputs.files import are_the_same
from gainful.inputs.grades_scores_or_ranks import JUDGMENTS, RUN
from gainful.inputs.id_types import UNTYPED, decided_type
from gainful.inputs.run_and_judgment_columns import asked_columns, read_columns
from gainful.inputs.runs_by_name import Runs, read_runs
from gainful.linting.draft_findings import Draft, doubts, settled, unread_rows
from gainful.linting.findings import Findings
from gainful.linting.input_rules import (
    GradeRange,
    look_at_documents,
    look_at_grades,
    look_at_lists,
    look_at_scores,
)
from gainful.linting.pair_rules import look_at_pair
from gainful.linting.readable_rows import CheckedTable, check_input, folded
from gainful.matching.chunks_to_documents import Chunks, read_chunks
from gainful.matching.input import Input
from gainful.matching.keyword_options import ReadingOptions, takes
from gainful.matching.open_input import open_input
from gainful.matching.reader import opened_session
from gainful.matching.swapped_inputs import swapped_inputs
from gainful.measures.policy import Policy
from gainful.message_texts import shown

_DEEPEST = 100_000  # the engine keeps so many scores of each query at once


@takes(ReadingOptions)
def check(
    judgments: object,
    runs: Runs | None = None,
    *,
    cutoff: int = 10,
    scale: tuple[float, float] | None = None,
    chunks: str | Mapping[str, str] | Callable[[str], str] | None = None,
    **options: Unpack[ReadingOptions],
) -> Findings:
    """Find what is wrong, or probably not meant, in judgments and runs.

    Args:
        judgments: `{query: {doc: grade}}`, the path of a file, a data frame, an Arrow object.
        runs: name → run, each `{query: {doc: score}}` or any of the others. Or the paths of files,
            of a folder or a pattern, as `gainful.inputs.find_runs` names them; None for none.
        cutoff: the rank down to which the lists matter.
        scale: the lowest and the highest grade; those outside are errors.
        chunks: how the chunks of a run become documents, as in `evaluate`. It is the delimiter before
            the number of a chunk, a dict from chunk to document, or a function. A document has the
            highest score of its chunks.
        **options: see `ReadingOptions`.

    What cannot be read at all (no file of that name, a binary file) is an exception, not a
    finding.

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
    given = {} if runs is None else read_runs(runs, judgments, least=0)
    folding = read_chunks(chunks, Policy())
    with opened_session(options) as session:
        names = read_columns(
            options.get("columns"), options.get("queries"), options.get("assessors")
        )
        with taken_warnings() as warned:
            opened = open_input(judgments, JUDGMENTS, names, session, checked=False)
        judged, drafts = _checked(session, opened, JUDGMENTS.name, cutoff, warned)
        if judged.size:
            drafts += look_at_documents(session, judged)
            drafts += look_at_grades(session, judged, expected)
        types = [(opened.query_type, opened.doc_type)]
        slip, said = None, JUDGMENTS.number in asked_columns(JUDGMENTS, names)
        for name, run in given.items():
            with taken_warnings() as warned:
                found = open_input(run, RUN, names, session, checked=False)
            # The judgments stay the last; the ids of chunks are not those of documents.
            types.insert(-1, (found.query_type, UNTYPED if folding else found.doc_type))
            readable = found.beside(opened, f"run {name!r}")
            if folding is not None and not readable.has_ids:
                raise InputError("chunks", "documents with ids", readable.holds)
            drafts += _look_at_run(session, judged, readable, name, cutoff, folding, warned)
            same = are_the_same(judgments, run)
            if same and opened.taken_from == found.taken_from:
                odd = f"judgments and run {name!r} are the same {same}"
                drafts.append(Draft("run-as-judgments", judged, 1, odd))
            elif slip is None and not said:
                slip = swapped_inputs(
                    opened.first_rows(), found.first_rows, opened.taken_from, ranked=opened.ranked
                )
        if slip is not None:
            drafts.append(Draft("run-as-judgments", judged, 1, slip.odd, remedy=slip.remedy))
        findings = settled(drafts)
    names.refuse_unused()
    query_type, doc_type = (decided_type(each) for each in zip(*types, strict=True))
    looked_at = (JUDGMENTS.name, *given)
    return Findings(findings, looked_at, cutoff, expected, query_type, doc_type)


def _look_at_run(
    session: Session,
    judged: CheckedTable,
    opened: Input,
    name: str,
    cutoff: int,
    chunks: Chunks | None,
    warned: list[str],
) -> list[Draft]:
    run, drafts = _checked(session, opened, name, cutoff, warned)
    lists = run
    if run.size:
        lists = run if chunks is None else folded(session, run, chunks, cutoff)
        drafts += look_at_documents(session, run, lists)
        drafts += look_at_scores(session, run)
        drafts += look_at_lists(session, lists, cutoff, in_order=opened.in_order)
    if judged.size and (run.size or opened.bare_queries()):
        drafts += look_at_pair(session, judged, lists, cutoff)
    for table in dict.fromkeys((*lists.stored, *run.stored)):
        session.drop(table)
    return drafts


def _checked(
    session: Session, opened: Input, name: str, cutoff: int, warned: list[str]
) -> tuple[CheckedTable, list[Draft]]:
    """Read an input; say which of its rows cannot be read, and what was warned of when it was opened."""
    table, unread = check_input(session, opened, name, cutoff)
    return table, unread_rows(table, unread) + doubts(table, warned, opened.name)


def _read_scale(scale: object) -> GradeRange | None:
    if scale is None:
        return None
    if isinstance(scale, tuple | list) and len(scale) == 2:
        low, high = map(arguments.as_float, scale)
        if isfinite(low) and isfinite(high) and low <= high:
            return low, high
    raise InputError("scale", "the lowest and the highest grade, such as (0, 3)", shown(scale))
