"""`fuse` and `write_fused`: combine several runs into one."""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple, Unpack

import numpy as np

from gainful import arguments
from gainful.analysis.fusion.candidate_documents import Candidates
from gainful.analysis.fusion.fused_run import Fused, summary_of
from gainful.analysis.fusion.fused_scores import fused_scores
from gainful.analysis.fusion.reading_runs import Gathered, gather
from gainful.analysis.fusion.settings import Settings, read_settings
from gainful.arithmetic.cores import in_parallel
from gainful.array_types import Bools, Floats, Ints
from gainful.errors import InputError, warn
from gainful.matching.keyword_options import ReadingOptions, takes
from gainful.matching.reader import Reader, reading
from gainful.measures.policy import Policy
from gainful.message_texts import counted, shown
from gainful.output.writing.output_files import DOCUMENTS, read_naming
from gainful.output.writing.runs_and_judgments import (
    OrderedRows,
    read_tag,
    write_ranked,
    write_rows,
)
from gainful.output.writing.trec_run_lines import RankedIds
from gainful.rows.grades_scores_or_ranks import RUN
from gainful.rows.identifiers import examples, in_order
from gainful.rows.input_types import Run
from gainful.rows.runs_by_name import Runs, read_runs

_NAME = "runs"  # the argument's name in messages


@takes(ReadingOptions)
def fuse(
    runs: Runs | Sequence[Run],
    method: str = "rrf",
    *,
    k: float | None = None,
    p: float | None = None,
    weights: Sequence[float] | None = None,
    normalise: str | None = None,
    depth: int | None = None,
    top: int | None = None,
    ties: str = "auto",
    **options: Unpack[ReadingOptions],
) -> Fused:
    """Fuse several runs into one, whose scores combine the documents' scores or ranks in the runs.

    A document that a run did not return gets nothing from that run: it adds nothing to a sum, and minimum,
    median and mean are over the runs that returned the document. With Borda, such documents share the
    remaining points. A query that only some runs contain is fused from these runs. Equal fused scores are
    sorted by document id, descending.

    Args:
        runs: a dict from names to runs, or a list of runs. Each run is `{query: {doc: score}}`, the path
            of a file, a data frame or an Arrow object. Alternatively the paths of several files, or the
            path of a folder or a pattern, whose files are named as by `gainful.inputs.find_runs`.
        method: rrf, sum, mnz, anz, min, max, med, borda, isr, log_isr or rbc; `gainful.fusion.methods()`
            defines them.
        k: the parameter of rrf; 60 if None.
        p: the parameter of rbc, above 0 and below 1; 0.8 if None.
        weights: one non-negative weight for each run, in the same order; all equal if None.
        normalise: how methods that use scores make them comparable: minmax (used if None), zscore, sum,
            rank or none; `gainful.fusion.normalisations()` defines them.
        depth: use each run only down to this rank, as if it returned nothing below.
        top: keep only this number of documents for each query, the best ones.
        ties: how documents with equal scores in a run are ranked. doc: by id, descending; doc_ascending:
            by id, ascending; average: each has the mean of their ranks; auto: in the displayed order
            for responses of search services, otherwise like doc.
        **options: see `ReadingOptions`.

    >>> one, two = {"q": {"a": 9, "b": 8, "c": 7}}, {"q": {"c": 0.5, "a": 0.4}}
    >>> fused = fuse([one, two])
    >>> {doc: round(score, 5) for doc, score in fused["q"].items()}
    {'a': 0.03252, 'c': 0.03227, 'b': 0.01613}
    >>> list(fuse([one, two], "sum", weights=[1, 3])["q"])
    ['c', 'a', 'b']
    """
    fusion = _fusion(runs, method, k, p, weights, normalise, depth, top, ties)
    with _fusing(fusion, options) as (reader, fused):
        docs = fused.gathered.docs(fused.rows)
        inputs = fusion.runs.values()
        types = reader.query_type(*inputs), reader.doc_type(*inputs)
    return Fused(
        fusion.settings,
        (*fusion.runs,),
        fused.gathered.candidates.queries,
        fused.offsets,
        docs,
        fused.scores,
        fused.notes,
        *types,
    )


@takes(ReadingOptions)
def write_fused(
    runs: Runs | Sequence[Run],
    path: str | os.PathLike[str],
    method: str = "rrf",
    *,
    k: float | None = None,
    p: float | None = None,
    weights: Sequence[float] | None = None,
    normalise: str | None = None,
    depth: int | None = None,
    top: int | None = None,
    ties: str = "auto",
    format: str | None = None,  # noqa: A002 - the word of the vocabulary
    tag: str = "fused",
    **options: Unpack[ReadingOptions],
) -> tuple[str, ...]:
    """Fuse runs into a file, which is replaced only when it is complete.

    The file contains the same run as the result of `fuse`. The run is never in Python as a whole, so
    large files take less time and memory.

    Args:
        runs: as in `fuse`.
        path: the path of the file to write; `-` is standard output.
        method: as in `fuse`, with all that follows.
        k: the parameter of rrf.
        p: the parameter of rbc.
        weights: one weight for each run.
        normalise: how scores are made comparable.
        depth: use each run only down to this rank.
        top: keep only this number of documents for each query.
        ties: how documents with equal scores in a run are ranked.
        format: trec, csv, tsv, jsonl or parquet; inferred from the name if None, as in `write_run`.
        tag: the last field of the lines of a TREC file.
        **options: see `ReadingOptions`.

    Returns:
        A line with the settings and the counts, then the notes.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp(), "fused.run")
    >>> write_fused([{"q": {"a": 2, "b": 1}}, {"q": {"b": 5}}], file, k=1)
    ('rrf, k=1: 2 documents of 1 query, from 2 runs',)
    >>> print(file.read_text(), end="")
    q Q0 b 1 0.8333333333333333 fused
    q Q0 a 2 0.5 fused
    """
    naming = read_naming(path, format, DOCUMENTS)
    word = read_tag(tag)
    fusion = _fusion(runs, method, k, p, weights, normalise, depth, top, ties)
    with _fusing(fusion, options) as (_, fused):
        ranked = _ranked(fused, naming.format, word)
        if ranked is None:
            write_rows(_ordered(fused), path, naming, word)
        else:
            session = fused.gathered.session
            write_ranked(ranked, path, naming, word, name=_NAME, session=session)
    count = fused.offsets.size - 1
    return summary_of(fusion.settings, fused.rows.size, count, len(fusion.runs)), *fused.notes


def _ranked(fused: "_FusedRows", format: str, tag: str) -> RankedIds | None:  # noqa: A002
    """Return the fused run for a TREC file; None if the engine must write it."""
    ids, queries = fused.gathered.ids, fused.gathered.candidates.queries
    if format != "trec" or ids is None or ids.have_blanks or "\0" in tag:
        return None
    return RankedIds(queries, fused.offsets, ids, fused.rows, fused.scores)


def _ordered(fused: "_FusedRows") -> OrderedRows:
    """Return the fused run as a table on the engine."""
    gathered, session = fused.gathered, fused.gathered.session
    sizes = np.diff(fused.offsets)
    rank = np.arange(1, fused.rows.size + 1) - np.repeat(fused.offsets[:-1], sizes)
    table, queries = session.name("fused"), gathered.candidates.queries
    if gathered.table:
        # For each row of the table: its position in the fused run (−1 if left out), score and rank.
        size = gathered.candidates.owner.size
        place = np.full(size, -1, np.int64)
        place[fused.rows] = np.arange(fused.rows.size)
        by_row = {"place": place, "number": np.zeros(size), "rank": np.zeros(size, np.int64)}
        by_row["number"][fused.rows], by_row["rank"][fused.rows] = fused.scores, rank
        placed = session.register("placed", by_row)
        session.execute(
            f"CREATE TEMP TABLE {table} AS SELECT query, doc, number, rank FROM "
            f"(FROM {gathered.table} POSITIONAL JOIN {placed}) JOIN {gathered.codes} USING (code) "
            "WHERE place >= 0 ORDER BY place"
        )
    else:
        names = np.empty(len(queries), object)
        names[:] = queries
        table = session.register(
            "fused",
            {
                "query": np.repeat(names, sizes),
                "doc": gathered.docs(fused.rows),
                "number": fused.scores,
                "rank": rank,
            },
        )
    return OrderedRows(session, RUN, _NAME, table, queries)


@dataclass(frozen=True, slots=True)
class _Fusion:
    """Runs by name, the settings of their fusion, and the number of documents to keep."""

    runs: dict[str, Run]
    settings: Settings
    top: int | None


@dataclass(frozen=True, slots=True)
class _FusedRows:
    """A fused run before its ids are read.

    Attributes:
        gathered: the runs that were read.
        rows: (n,) the rows of `gathered` in the fused run, in its order.
        offsets: (q+1,) the first row of each query.
        scores: (n,) fused scores.
        notes: remarks, such as queries that some runs lack.
    """

    gathered: Gathered
    rows: Ints
    offsets: Ints
    scores: Floats
    notes: tuple[str, ...]


def _fusion(
    runs: Runs | Sequence[Run],
    method: object,
    k: object,
    p: object,
    weights: object,
    normalise: object,
    depth: object,
    top: object,
    ties: object,
) -> _Fusion:
    named = read_runs(runs, numbered=True)
    settings = read_settings(
        len(named), method, k=k, p=p, weights=weights, normalise=normalise, depth=depth, ties=ties
    )
    most = None
    if top is not None:
        most = arguments.whole(top, "top", least=1, most=arguments.MOST_DOCUMENTS)
    return _Fusion(named, settings, most)


@contextmanager
def _fusing(fusion: _Fusion, options: Mapping[str, object]) -> Iterator[tuple[Reader, _FusedRows]]:
    """Read the runs and fuse them, with the reader still open."""
    if len(fusion.runs) == 1:
        warn(
            f"runs: {shown(next(iter(fusion.runs)))} is the only run: there is nothing to fuse it with."
        )
    with reading(None, Policy(), options) as reader:
        gathered = gather(reader, fusion.runs, fusion.settings.ties)
        reader.columns.refuse_unused()  # before a file is replaced
        candidates = gathered.candidates
        order = fused_order(candidates, fusion.settings, fusion.top)
        bare = [reader.run(run).bare_queries() for run in fusion.runs.values()]
        lacking = not_even_bare(candidates.queries, order.lacking, bare)
        notes = notes_of(candidates.queries, lacking, [*fusion.runs])
        notes += empty_notes(set().union(*bare), candidates)
        yield reader, _FusedRows(gathered, order.rows, order.offsets, order.scores, notes)


class FusedOrder(NamedTuple):
    """The documents of the fused run, in its order.

    Attributes:
        rows: (n,) rows of the candidates.
        offsets: (q+1,) the first row of each query.
        scores: (n,) fused scores.
        lacking: (m, q) which runs have no document for a query.
    """

    rows: Ints
    offsets: Ints
    scores: Floats
    lacking: Bools


def fused_order(candidates: Candidates, settings: Settings, top: int | None = None) -> FusedOrder:
    """Fuse the scores of candidates and sort them, in parts, on all cores."""

    def work(part: tuple[int, Candidates]) -> FusedOrder:
        return _fused_part(*part, settings, top)

    try:
        parts = in_parallel(work, candidates.parts())
    except InputError:
        seen, _ = looked_at(candidates, settings)
        fused_scores(seen, settings)  # raises the error for the first query of all parts
        raise
    sizes = np.concatenate([np.diff(part.offsets) for part in parts])
    return FusedOrder(
        np.concatenate([part.rows for part in parts]),
        np.concatenate(([0], np.cumsum(sizes))),
        np.concatenate([part.scores for part in parts]),
        np.concatenate([part.lacking for part in parts], axis=1),
    )


def _fused_part(first: int, part: Candidates, settings: Settings, top: int | None) -> FusedOrder:
    seen, kept = looked_at(part, settings)
    scores = fused_scores(seen, settings)
    order = seen.order(scores)
    offsets = seen.offsets
    if top is not None:
        sizes = np.diff(offsets)
        order = order[np.arange(order.size) - np.repeat(offsets[:-1], sizes) < top]
        offsets = np.concatenate(([0], np.cumsum(np.minimum(sizes, top))))
    rows = order if kept is None else kept[order]
    return FusedOrder(rows + first, offsets, scores[order], seen.sizes == 0)


def looked_at(candidates: Candidates, settings: Settings) -> tuple[Candidates, Ints | None]:
    """Return the candidates down to the depth, and their rows if some are left out."""
    return (candidates, None) if settings.depth is None else candidates.cut(settings.depth)


def not_even_bare(queries: Sequence[str], lacking: Bools, bare: Sequence[Collection[str]]) -> Bools:
    """Return which runs (m, q) lack a query, not counting queries with an empty list.

    >>> not_even_bare(["q1", "q2"], np.array([[False, True], [True, True]]), [["q2"], []]).tolist()
    [[False, False], [True, True]]
    """
    if not any(bare):
        return lacking
    unknown: Bools = np.array([[query not in ids for query in queries] for ids in map(set, bare)])
    lacks: Bools = lacking & unknown
    return lacks


def notes_of(queries: Sequence[str], lacking: Bools, names: Sequence[str]) -> tuple[str, ...]:
    """Return a note about queries that some runs (m, q) lack.

    >>> notes_of(["q1", "q2"], np.array([[False, False], [False, True]]), ["one", "two"])
    ("1 of 2 queries is not in all runs, and is fused from the others: 'two' lacks 'q2'",)
    """
    partial = int(lacking.any(axis=0).sum())
    if not partial:
        return ()
    lines = [
        f"{shown(name)} lacks {examples(queries[place] for place in np.flatnonzero(row).tolist())}"
        for name, row in zip(names, lacking, strict=True)
        if row.any()
    ]
    some = counted(len(queries), "query", "queries")
    verb = "is" if partial == 1 else "are"
    fused = f"not in all runs, and {verb} fused from the others"
    return (f"{partial:,} of {some} {verb} {fused}: {'; '.join(lines)}",)


def empty_notes(bare: Collection[str], candidates: Candidates) -> tuple[str, ...]:
    """Return a note about queries that have an empty list and no document in any run."""
    unanswered = in_order(set(bare).difference(candidates.queries))
    if not unanswered:
        return ()
    have, are = ("has", "is") if len(unanswered) == 1 else ("have", "are")
    some = counted(len(unanswered), "query", "queries")
    return (f"{some} {have} no document in any run and {are} left out: {examples(unanswered)}",)
