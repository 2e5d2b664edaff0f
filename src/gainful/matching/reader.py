"""`Reader` and `open_input`: open judgments and runs of any kind once, under one policy.

Code for a single kind of input is imported where it is chosen, so that commands start faster.
"""

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from gainful import arguments
from gainful.arithmetic.cores import at_most, cached_property
from gainful.array_types import AnyArray
from gainful.errors import InputError, warn
from gainful.matching.chunks_to_documents import Chunks, read_chunks, refuse_in_place
from gainful.matching.input import DictInput, Fetch, Input, Judgments, TableInput
from gainful.matching.match import steps_of
from gainful.matching.matched import Matched, tell_marks
from gainful.measures.policy import Policy, folding, resolved
from gainful.rows import mistakes
from gainful.rows.duckdb_engine import Session
from gainful.rows.files import (
    LocalFile,
    are_the_same,
    is_address,
    judgments_in_folder,
    kept_file,
    parts_of,
    path_of,
    refuse_open_file,
    unpacked,
)
from gainful.rows.grades_scores_or_ranks import JUDGMENTS, RUN, Kind, RunInOrder
from gainful.rows.identifiers import UNTYPED, IdType, decided_type, in_order, type_of_ids
from gainful.rows.input_types import Run, TableLike
from gainful.rows.mistakes import Sample
from gainful.rows.run_and_judgment_columns import (
    Columns,
    asked_columns,
    columns_in,
    kind_by_columns,
)
from gainful.rows.table_source import (
    Source,
    is_lasting,
    plain_rows,
    source_of_arrays,
    with_events,
    with_events_in_text,
)
from gainful.rows.text_formats import Layout, recognise

if TYPE_CHECKING:
    from gainful.matching.engine_rows import Documents
    from gainful.matching.span_inputs import SpanInputs
    from gainful.matching.spark.plan import RunWithJudgments
    from gainful.rows.shapes import Records

Table = TypeVar("Table")
_NONE: Mapping[str, object] = MappingProxyType({})
SPAN_OPTIONS = ("documents", "offsets", "chunk_table")
"""The options with which judgments are evidence, and runs consist of parts of documents."""


@dataclass(frozen=True)
class Reader:
    """Opens judgments and runs, and provides what measures need.

    Attributes:
        given: the caller's judgments.
        policy: the caller's policy, with `fold` decided.
        session: the engine's session.
        columns: column names by role, and the query ids of lists of lists.
        chunks: how to fold chunks into documents.
        of_dialect: whether the policy is a tool's, which orders the ties of every run by id.
        spans: reads judgments and runs as parts of documents; None if they are whole documents.
    """

    given: object
    policy: Policy
    session: Session
    columns: Columns
    chunks: Chunks | None
    of_dialect: bool = False
    spans: "SpanInputs | None" = None
    _opened: dict[tuple[str, int], tuple[object, Input]] = field(default_factory=dict)
    _tables: dict[str, Any] = field(default_factory=dict)  # additional tables, by what they contain

    def under(self, policy: Policy) -> "Reader":
        """Return a reader of the same inputs under another policy; nothing is reopened."""
        decided = folding(policy, self.chunks is not None)
        return replace(self, policy=decided, chunks=read_chunks(self.chunks, decided))

    @cached_property
    def judgments(self) -> Judgments:
        """The judgments, opened."""
        return Judgments(self._open(self.given, JUDGMENTS), self.policy)

    def open_judgments(self) -> None:
        """Open the judgments before any run, so that errors about them don't name a run."""
        _ = self.judgments

    def once(self, what: str, read: Callable[[], Table]) -> Table:
        """Return the contents of additional tables, which are read once for all runs."""
        if what not in self._tables:
            self._tables[what] = read()
        table: Table = self._tables[what]
        return table

    def run(self, given: object) -> Input:
        """Return a run, opened once."""
        return self._open(given, RUN)

    def name_runs(self, runs: Mapping[str, Run]) -> None:
        """Remember the names of runs, by which tables of chunks may be given."""
        if self.spans is not None:
            self.spans.names.update({id(run): name for name, run in runs.items()})

    def forget(self, run: Run) -> None:
        """Release a run that is no longer needed."""
        _, opened = self._opened.pop((RUN.name, id(run)), (None, None))
        if opened is not None:
            opened.release()
        if self.spans is not None:
            self.spans.forget(run)

    def _open(self, given: object, kind: Kind) -> Input:
        key = kind.name, id(given)
        if key not in self._opened:
            opened = (
                open_input(given, kind, self.columns, self.session)
                if self.spans is None
                else self.spans.opened(given, kind, self.policy)
            )
            # The input is kept as well, so that no other object gets its id.
            self._opened[key] = given, opened
        return self._opened[key][1]

    @property
    def has_ids(self) -> bool:
        """Whether documents have ids, unlike labels with qid:."""
        return self.judgments.given.has_ids

    def query_type(self, *runs: Run) -> IdType:
        """Return the type of query ids in results: the type in the first typed run, or else in the judgments."""
        return decided_type(each.query_type for each in self._inputs(runs))

    def doc_type(self, *runs: Run) -> IdType:
        """Return the type of document ids in results, like `query_type`.

        A run of chunks has ids of chunks, so only the judgments count.
        """
        return decided_type(each.doc_type for each in self._inputs(() if self.chunks else runs))

    def _inputs(self, runs: Iterable[object]) -> list[Input]:
        """Return some runs, opened, and the judgments, if there are any."""
        judgments = [] if self.given is None else [self.judgments.given]
        return [*map(self.run, runs), *judgments]

    def decided(self, run: Run) -> Policy:
        """Return the policy with the tie rule decided for a run."""
        opened = self.run(run)
        return resolved(self.policy, opened.has_ids, self._is_in_order(opened))

    def _is_in_order(self, run: Input) -> bool:
        return run.in_order and not self.of_dialect

    def match(self, run: Run, depth: int | None = None) -> tuple[Matched, Policy]:
        """Match a run down to a depth; also return the policy with the tie rule decided."""
        opened, judgments = self.run(run), self.judgments
        opened.refuse_unfit(judgments.given)
        decided = self.decided(run)
        matched = opened.match(judgments, decided, depth, self.chunks)
        judgments.look_for_marks(matched)
        self._warn_of_ranks(opened)  # after the run has been found valid
        self._warn_of_mistakes(opened)
        return matched, decided

    def warn_if_same(self, run: Run) -> None:
        """Warn if a run and the judgments are the same file or object."""
        if run is not self.given and not isinstance(run, str | os.PathLike):
            return
        same = are_the_same(self.given, run)
        if same and self.judgments.given.taken_from == self.run(run).taken_from:
            warn(f"judgments and run are the same {same}.", "input.swapped")

    def _warn_of_ranks(self, run: Input) -> None:
        """Warn once if the scores of a run look like ranks."""
        if not run.is_looked_at:
            run.is_looked_at = True
            run.warn_of_ranks()

    def _warn_of_mistakes(self, run: Input) -> None:
        """Warn once about each mistake that a sample shows."""
        given, warned = self.judgments.given, self.judgments.warned
        sample = sample_of(given, run, self.columns)
        for rule in mistakes.MISTAKES:
            if rule.find is not None and rule.warned and rule.name not in warned:
                for slip in rule.find(sample):
                    warned.add(rule.name)
                    warn(f"judgments, run: {slip.odd}. {slip.remedy}", "input.swapped")

    def warn_of_marks(self) -> None:
        """Warn if −1 is the only negative grade, and the policy doesn't define its meaning.

        A run must have been matched before. If the caller gave the grades of words, −1 is one of them.
        """
        marks = self.judgments.marks if self.policy.negative == "auto" else None
        if marks is not None and self.columns.option("grade_words") is None:
            tell_marks(marks)

    def is_on_spark(self, runs: Iterable[object]) -> bool:
        """Return whether the judgments or any of some runs are on Spark."""
        opened = [self.judgments.given, *map(self.run, runs)]
        return any(each.spark is not None for each in opened)

    def on_spark(self, run: Run, depth: int | None = None) -> "RunWithJudgments":
        """Bring judgments and a run to Spark, if one of them is there.

        The other one is on this machine, and therefore small.
        """
        opened, judgments = self.run(run), self.judgments
        sessions = (judgments.given.spark, opened.spark)
        session = next(each for each in sessions if each is not None)
        # Imported here because runs on this machine don't need it.
        from gainful.matching.spark.plan import Plan, RunWithJudgments, refuse_orders
        from gainful.rows.spark_frames import errors_of_spark, functions

        with errors_of_spark():
            functions()  # raises if Spark isn't installed
            decided = self.decided(run)
            refuse_orders(decided)
            judged = judgments.on_spark(session)
            rows = opened.returned_on_spark(session, self.policy)
            lowest = judged.facts().lowest if decided.absent == "lowest" else math.inf
            plan = Plan(decided, depth, self.chunks, lowest)
            self._warn_of_mistakes(opened)
            return RunWithJudgments(judged, rows, plan)

    def documents(self, run: Run, query: str) -> "tuple[Documents, Documents]":
        """Return the judgments and the run of one query as dicts, with the ids of all queries.

        Other queries may be empty.
        """
        judged = self.judgments.given.documents(self.policy, query=query)
        opened = self.run(run)
        returned = opened.documents(self.policy, query=query)
        self._warn_of_ranks(opened)
        return judged, returned

    def returned(self, run: Run, depth: int | None = None) -> dict[str, Mapping[str, float]]:
        """Return the scores of every query's documents under the policy.

        With a depth, documents below it may be left out.
        """
        from gainful.matching import dict_matching

        refuse_in_place(self.policy, "Pools, lists and fused runs consist of whole documents.")
        opened = self.run(run)
        cut = None if self._changes_scores else depth
        documents = opened.documents(self.policy, depth=cut)
        decided = self.decided(run)
        scores: dict[str, Mapping[str, float]] = RunInOrder() if self._is_in_order(opened) else {}
        for query, found in dict_matching.queries_of(documents, "run").items():
            scores[query] = dict_matching.returned_of(found, query, decided, self.chunks)
        self._warn_of_ranks(opened)
        return scores

    def judged_and_returned(
        self, run: Run
    ) -> "Iterator[tuple[str, Mapping[str, float], Mapping[str, float]]]":
        """Yield each judged query in a run with its grades and scores under the policy."""
        from gainful.matching import dict_matching

        decided = self.decided(run)
        judged = dict_matching.queries_of(self.judgments.documents, "judgments")
        returned = self.returned(run)
        for query in in_order(judged.keys() & returned.keys()):
            grades = dict_matching.judged_of(judged[query], query, decided)
            yield (
                query,
                *dict_matching.treat_unjudged(decided.unjudged, query, grades, returned[query]),
            )

    @property
    def _changes_scores(self) -> bool:
        """Return whether documents above a depth are known only after all documents have been read."""
        policy = self.policy
        changed = bool(steps_of(policy)) or policy.precision != "double"
        # The engine returns the rows of a cut in any order.
        return changed or policy.ties == "order" or self.chunks is not None

    def lists(self, run: Run, depth: int | None = None) -> dict[str, list[str]]:
        """Return the documents of every query of a run in rank order, down to a depth.

        Equal scores are ordered by the policy, or by id, descending, if it doesn't order them.
        """
        from gainful.matching.ranked_documents import by_score

        ties = self.decided(run).ties
        return {
            query: by_score(scores, depth, ties)
            for query, scores in self.returned(run, depth).items()
        }

    def id_array(self, run: Run) -> tuple[list[str], AnyArray] | None:
        """Return a run as `lists` would, as an array with a row for each query; None if it isn't one."""
        plain = not steps_of(self.policy, once=True) and self.chunks is None
        return self.run(run).id_array() if plain else None

    def judged_of(self, queries: Sequence[str]) -> Fetch:
        """Read some queries of the judgments; return a function that returns any of them."""
        return self.judgments.given.choose(queries, self.policy)

    def returned_of(self, run: Run, queries: Sequence[str]) -> Fetch:
        """Read some queries of a run; return a function that returns any of them."""
        return self.run(run).choose(queries, self.policy)


def sample_of(judgments: Input, run: Input, columns: Columns) -> Sample:
    """Return the first rows of judgments and a run, which may show that they are swapped."""
    named = JUDGMENTS.number in asked_columns(JUDGMENTS, columns)
    taken_from, ranked = judgments.taken_from, judgments.ranked
    return Sample(judgments.first_rows, run.first_rows, taken_from, ranked, named)


@contextmanager
def opened_session(options: Mapping[str, Any]) -> Iterator[tuple[Session, Columns]]:
    """Open the engine for some `ReadingOptions`, limited to the cores that it allows.

    Also yields the columns, which are rejected in the end if no input has used them.
    """
    given, progress = options.get("columns"), options.get("progress")
    columns = columns_in(options)
    if progress is not None:
        arguments.function(progress, "progress")
    with Session(options.get("engine"), progress) as session, at_most(session.engine.threads):
        session.column_names = columns
        yield session, columns
        session.tell(1.0)
    if columns is not given:  # otherwise, they are checked where they were read
        columns.refuse_unused()


@contextmanager
def reading(
    judgments: TableLike | None,
    policy: Policy,
    options: Mapping[str, Any] = _NONE,
    *,
    evidence: bool = False,
) -> Iterator[Reader]:
    """Yield a reader of judgments, which opens each input on first use.

    Args:
        judgments: the caller's judgments.
        policy: the caller's, or a dialect's.
        options: `MeasuringOptions`; only columns, queries, chunks, engine, progress and the presence
            of a dialect matter here, and documents, offsets and chunk_table, with which judgments are
            evidence.
        evidence: whether judgments are evidence in any case.
    """
    chunks = options.get("chunks")
    decided = folding(policy, chunks is not None)
    with opened_session(options) as (session, columns):
        rule = None if chunks is None and decided.fold == "none" else read_chunks(chunks, decided)
        of_dialect = options.get("dialect") is not None
        spans = None
        if evidence or any(options.get(name) is not None for name in SPAN_OPTIONS):
            # Imported here because most judgments are of whole documents.
            from gainful.matching.span_inputs import SpanInputs

            open_run = partial(open_input, kind=RUN, columns=columns, session=session)
            spans = SpanInputs(options, columns, session, open_run)
        with _showing_words(judgments, columns, session):
            yield Reader(judgments, decided, session, columns, rule, of_dialect, spans)


@contextmanager
def _showing_words(judgments: object, columns: Columns, session: Session) -> Iterator[None]:
    """Add all words in judgments to the error about a word as grade, if they can be read again."""
    try:
        yield
    except InputError as problem:
        known = columns.option("grade_words") is not None
        path = isinstance(judgments, str | os.PathLike) and path_of(judgments) != "-"
        again = path or isinstance(judgments, Mapping) or is_lasting(judgments)
        if problem.code != "rows.grade-word" or known or not again:
            raise
        from gainful.rows.side_table_reader import with_all_words

        asked = asked_columns(JUDGMENTS, columns)
        raise with_all_words(problem, judgments, asked, session) from None


def open_input(
    given: object, kind: Kind, columns: Columns, session: Session, *, checked: bool = True
) -> Input:
    """Open the caller's input.

    Values in JSON that aren't numbers raise an error with their location; unless `checked`, they stay in the
    dict for `check` to report.
    """
    return _Opener(kind, columns, session, checked).open(given)


@dataclass(frozen=True, slots=True)
class _Opener:
    """Opens inputs of a kind, as `open_input` describes."""

    kind: Kind
    columns: Columns
    session: Session
    checked: bool

    def open(self, given: object) -> Input:
        """Open the caller's input."""
        names = asked_columns(self.kind, self.columns).values()
        if any("," in name for name in names) and not isinstance(given, Mapping | LocalFile):
            from gainful.rows.keys_of_several_columns import joined_columns, with_joined_columns

            given = with_joined_columns(given, joined_columns(names), self.session)
        rule = self.columns.option("assessors") if self.kind is JUDGMENTS else None
        if rule is not None:
            return self._assessed(given, rule)
        if self.kind is JUDGMENTS and self.columns.option("grade_words") is not None:
            return self._worded(given)
        if isinstance(given, Mapping):
            opened = self._shape(given, self.kind.name)
            opened.again = given
        elif isinstance(given, str | os.PathLike | LocalFile):
            opened = self._path(given)
        else:
            opened = self._object(given)
        if opened.kind.ignored:
            warn(
                f"{opened.name}: each row counts as grade 1, and the column {opened.kind.ignored!r} is "
                "ignored. Add a column of grades to weight events; or confirm that there are no grades with "
                "columns grade= (None in Python)."
            )
        return opened

    def _assessed(self, given: object, rule: object) -> Input:
        """Open judgments of several assessors, merged by the caller's rule."""
        from gainful.rows.several_assessors import read_assessed
        from gainful.rows.spark_frames import refuse_spark

        refuse_open_file(given, JUDGMENTS.name)
        refuse_spark(given, JUDGMENTS.name)
        judged = read_assessed(given, self.columns, rule, self.session)
        opened = DictInput(judged.documents, JUDGMENTS, JUDGMENTS.name, self.session, judged.types)
        opened.again = judged.documents
        return opened

    def _worded(self, given: object) -> Input:
        """Open judgments whose grades may be words, to which the caller gave grades."""
        from gainful.rows.side_table_columns import JUDGED
        from gainful.rows.side_table_reader import read_graded
        from gainful.rows.spark_frames import is_spark

        refuse_open_file(given, JUDGMENTS.name)
        if is_spark(given):
            from gainful.rows.spark_frames import with_numbers

            words = self.columns.option("grade_words")
            return self._object(with_numbers(given, words, self.columns))
        if isinstance(given, str | os.PathLike):
            given = judgments_in_folder(path_of(given))
        table = read_graded(given, JUDGED, self.columns, self.session)
        types = table.id_types
        if not table.has_columns:  # dicts, in which a query may have no documents
            documents: dict[str, dict[str, float]] = {query: {} for (query,) in table.groups}
            for query, doc, grade in zip(table["query"], table["doc"], table["grade"], strict=True):
                documents[query][doc] = grade
            opened: Input = DictInput(documents, JUDGMENTS, table.name, self.session, types)
        else:
            ids = {role: np.array(table[role], object) for role in ("query", "doc")}
            arrays = {**ids, "number": np.array(table["grade"], np.float64)}
            layout = Layout("typed", assessor=table.called.get("assessor", ""))
            opened = self._arrays(JUDGMENTS, table.name, arrays, layout, types)
        opened.again = given if isinstance(given, str) or is_lasting(given) else None
        return opened

    def _object(self, given: object) -> Input:
        kind = self.kind
        refuse_open_file(given, kind.name)
        from gainful.rows.spark_frames import is_spark

        if is_spark(given):
            from gainful.matching.spark.spark_input import SparkInput

            opened: Input = SparkInput(given, kind, self.columns, self.session)
            opened.again = given
            return opened
        from gainful.matching.id_array_input import IdArrayInput, is_id_array
        from gainful.rows.parquet_and_frame_tables import open_frame, refuse_series, rows_in
        from gainful.rows.records_of_lists import holds_documents

        ids = given if kind is RUN and is_id_array(given) else None
        queries = None if ids is None else self.columns.option("queries")
        refuse_series(given, kind, self.columns)
        if ids is not None and queries is not None and len(queries) == len(ids):
            opened = IdArrayInput(ids, queries, kind, self.session)
        elif any(holds_documents(row, kind, self.columns) for row in rows_in(given, 1)):
            opened = self._shape(rows_in(given), kind.name)
        else:
            table = open_frame(given, kind, self.columns, self.session)
            opened = self._table(given if table is None else table, kind.name)
        opened.again = given if is_lasting(given) else None
        return opened

    def _parquet(self, parts: Sequence[Path], name: str) -> Input:
        from gainful.rows.parquet_and_frame_tables import parquet

        return self._table(parquet(parts, self.kind, self.columns, self.session, name), name)

    def _table(self, table: object, name: str) -> Input:
        """Open a table, or a Python object."""
        if isinstance(table, Source):
            return TableInput(table, self.session)
        return self._shape(table, name)

    def _shape(self, given: object, name: str, *, from_file: bool = False) -> Input:
        """Open a Python object, or the value of a JSON file, whose ids are text, as in all text files."""
        from gainful.rows.search_responses import is_plain

        kind, of_file = self.kind, (UNTYPED, UNTYPED) if from_file else None
        if not from_file and is_plain(given):
            return DictInput(given, kind, name, self.session)
        from gainful.rows.shapes import Records, read_shape

        content = read_shape(given, kind, self.columns, name)
        if content is None:
            raise InputError(
                name,
                f"a dict {{query: {{doc: {kind.number}}}}} or {{query: [doc, …]}}, rows, the path of a "
                "file, or a data frame",
                type(given).__name__,
            )
        if isinstance(content, Records):
            return self._records(content, of_file)
        if not isinstance(content, Mapping):
            types = of_file or content.types
            opened = DictInput(content.documents, kind, name, self.session, types)
            opened.taken_from = content.taken_from
            return opened
        if from_file:
            from gainful.rows.nested_json import checked_documents

            content = checked_documents(content, kind, name, checked=self.checked)
        elif self.checked and content is not given:
            from gainful.matching.dict_matching import refuse_arrays

            for query, inner in content.items():
                refuse_arrays(inner, kind, name, query)
        return DictInput(content, kind, name, self.session, of_file)

    def _path(self, given: str | os.PathLike[str] | LocalFile) -> Input:
        file = given
        if not isinstance(file, LocalFile):
            name = path_of(file)
            if is_address(name):
                from gainful.rows.stored_tables import stored_table

                opened = self._object(stored_table(name))
                opened.again = given
                return opened
            if self.kind.name == JUDGMENTS.name:
                name = judgments_in_folder(name)
            parts = parts_of(name)
            if parts is not None:
                opened = self._parquet(parts, name)
                opened.again = given
                return opened
            file = kept_file(name, self.session)
        opened = self._file(unpacked(file, self.session))
        opened.again = given if file.holder is None else file
        return opened

    def _file(self, file: LocalFile) -> Input:
        kind, session = self.kind, self.session
        layout = recognise(file, kind, self.columns)
        match layout.format:
            case "parquet":
                return self._parquet([file.path], file.name)
            case "json":
                from gainful.rows.nested_json import read_json

                return self._shape(read_json(file), file.name, from_file=True)
            case "letor" | "predictions":
                from gainful.matching.array_matching import LabelInput, PredictionInput
                from gainful.rows import letor

                if layout.format == "predictions":
                    return PredictionInput(letor.read_predictions(file), kind, session)
                labels = letor.read_labels(file)
                mistakes.warn_of_scattered_queries(labels.name, labels.queries)
                return LabelInput(labels, kind, session)
        kind = kind_by_columns(layout.names, kind, self.columns)
        if kind.ignored:
            kind = with_events_in_text(kind, file, layout, session)
        return TableInput(Source(kind, file.name, strict=True, file=file, layout=layout), session)

    def _records(self, found: "Records", types: tuple[IdType, ...] | None) -> Input:
        """Open a list of JSON objects as a table; their ids have the given types, or their own."""
        kind = kind_by_columns((*found.records[0],), self.kind, self.columns)
        if kind.ignored:
            kind = with_events(kind, (record.get(kind.ignored) for record in found.records))
        found = replace(found, kind=kind)
        layout = found.layout(self.columns)
        arrays = found.arrays(layout, self.columns)
        if types is None:
            keys = [layout.names[place] for place in layout.places[:2]]
            types = tuple(type_of_ids(record[key] for record in found.records) for key in keys)
        return self._arrays(kind, found.name, arrays, layout, types)

    def _arrays(
        self,
        kind: Kind,
        name: str,
        arrays: Mapping[str, AnyArray],
        layout: Layout,
        types: tuple[IdType, ...],
    ) -> Input:
        """Open the columns query, doc and number."""
        source = source_of_arrays(kind, name, arrays, self.session, layout, types)
        if not kind.ascending:
            queries, docs = arrays["query"].tolist(), arrays["doc"].tolist()
            source = replace(source, plain=plain_rows(queries, docs, arrays["number"]))
        return TableInput(source, self.session)
