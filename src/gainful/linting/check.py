"""`check`: find what is wrong in judgments and runs, before anything is measured."""

from math import isfinite
from typing import Unpack

from gainful import arguments
from gainful.errors import InputError
from gainful.inputs.columns import read_columns
from gainful.inputs.engine import Session
from gainful.inputs.id_types import decided_type
from gainful.inputs.judgments_or_run import JUDGMENTS, RUN
from gainful.inputs.several_runs import Runs, read_runs
from gainful.linting.draft_findings import Draft, settled, unread_rows
from gainful.linting.findings import Findings
from gainful.linting.input_rules import (
    GradeRange,
    look_at_documents,
    look_at_grades,
    look_at_scores,
)
from gainful.linting.pair_rules import look_at_pair
from gainful.linting.readable_rows import CheckedTable, check_input
from gainful.matching.input import Input
from gainful.matching.keyword_options import ReadingOptions, takes
from gainful.matching.open_input import open_input
from gainful.matching.reader import opened_session
from gainful.message_texts import shown

_DEEPEST = 100_000  # the engine keeps so many scores of each query at once


@takes(ReadingOptions)
def check(
    judgments: object,
    runs: Runs | None = None,
    *,
    cutoff: int = 10,
    scale: tuple[float, float] | None = None,
    **options: Unpack[ReadingOptions],
) -> Findings:
    """Find what is wrong, or probably not meant, in judgments and runs.

    Args:
        judgments: `{query: {doc: grade}}`, the path of a file, a data frame, an Arrow object.
        runs: name → run, each `{query: {doc: score}}` or any of the others. Or the paths of files,
            of a folder or a pattern, as `gainful.inputs.find_runs` names them; None for none.
        cutoff: the rank down to which the lists matter.
        scale: the lowest and the highest grade; those outside are errors.
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
    """
    arguments.whole(cutoff, "cutoff", least=1, most=_DEEPEST)
    expected = _read_scale(scale)
    given = {} if runs is None else read_runs(runs, judgments, least=0)
    with opened_session(options) as session:
        names = read_columns(
            options.get("columns"), options.get("queries"), options.get("assessors")
        )
        opened = open_input(judgments, JUDGMENTS, names, session, checked=False)
        judged, drafts = _checked(session, opened, JUDGMENTS.name, cutoff)
        if judged.size:
            drafts += look_at_documents(session, judged)
            drafts += look_at_grades(session, judged, expected)
        types = [(opened.query_type, opened.doc_type)]
        for name, run in given.items():
            found = open_input(run, RUN, names, session, checked=False)
            types.insert(-1, (found.query_type, found.doc_type))  # the judgments stay the last
            readable = found.beside(opened, f"run {name!r}")
            drafts += _look_at_run(session, judged, readable, name, cutoff)
        findings = settled(drafts)
    names.refuse_unused()
    query_type, doc_type = (decided_type(each) for each in zip(*types, strict=True))
    looked_at = (JUDGMENTS.name, *given)
    return Findings(findings, looked_at, cutoff, expected, query_type, doc_type)


def _look_at_run(
    session: Session, judged: CheckedTable, opened: Input, name: str, cutoff: int
) -> list[Draft]:
    run, drafts = _checked(session, opened, name, cutoff)
    if run.size:
        drafts += look_at_documents(session, run)
        drafts += look_at_scores(session, run, cutoff)
        if judged.size:
            drafts += look_at_pair(session, judged, run, cutoff)
    for table in run.stored:
        session.drop(table)
    return drafts


def _checked(
    session: Session, opened: Input, name: str, cutoff: int
) -> tuple[CheckedTable, list[Draft]]:
    """Read an input, and say which of its rows cannot be read."""
    table, unread = check_input(session, opened, name, cutoff)
    return table, unread_rows(table, unread)


def _read_scale(scale: object) -> GradeRange | None:
    if scale is None:
        return None
    if isinstance(scale, tuple | list) and len(scale) == 2:
        low, high = map(arguments.as_float, scale)
        if isfinite(low) and isfinite(high) and low <= high:
            return low, high
    raise InputError("scale", "the lowest and the highest grade, such as (0, 3)", shown(scale))
