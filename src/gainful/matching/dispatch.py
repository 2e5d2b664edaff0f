"""Which matcher takes which kind of input."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import Any

from gainful.errors import InputError
from gainful.inputs.arrays import read_lists
from gainful.inputs.columns import read_columns
from gainful.inputs.engine import Engine, Progress, Session
from gainful.inputs.kinds import JUDGMENTS, RUN
from gainful.inputs.letor import Labels, Predictions, refuse_other_length
from gainful.inputs.lines import Lines, read_lines
from gainful.inputs.mistaken_ranks import warn_of_ranks, warn_of_ranks_in_arrays
from gainful.inputs.source import Source
from gainful.inputs.sources import open_source
from gainful.inputs.spark import as_they_are, errors_of_spark, functions, is_spark
from gainful.inputs.texts import ready
from gainful.matching import arrays, lines, mappings, tables
from gainful.matching.folding import Chunks, read_chunks
from gainful.matching.judged import Judged, prepare
from gainful.matching.mappings import judged_of, returned_of, sorted_numbers
from gainful.matching.matched import Matched
from gainful.matching.negative import marks_among, tell_marks
from gainful.matching.ranking import by_score
from gainful.matching.records import Selection, documents_in, table_of
from gainful.matching.spark.judged import (
    SparkJudged,
    documents_on_spark,
    frame_of,
    judged_from,
    judged_in,
)
from gainful.matching.spark.plan import Plan, refuse_orders
from gainful.matching.spark.sides import Sides
from gainful.measures.policy import Policy

Documents = Mapping[Any, Mapping[Any, float]]


@dataclass(frozen=True)
class Reader:
    """Reads judgments once, and matches runs of any kind with them.

    Attributes:
        judgments: a dict of dicts, a path, a data frame, an Arrow object.
        policy: as the caller gives it.
        session: of the engine.
        columns: names of columns, by what they hold.
        chunks: how to fold chunks to documents.
    """

    judgments: object
    policy: Policy
    session: Session
    columns: Mapping[str, str]
    chunks: Chunks | None
    _kept: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def _opened(self) -> Source | Documents | Labels | Predictions:
        return open_source(self.judgments, JUDGMENTS, self.columns, self.session)

    @cached_property
    def _judged(self) -> Judged:
        """The judgments as a table."""
        opened = self._opened
        if isinstance(opened, Mapping):
            opened = table_of(opened, JUDGMENTS, self.policy, self.session)
        assert isinstance(opened, Source)  # noqa: S101 - lists are matched apart
        return prepare(self.session, ready(opened, self.session), self.policy)

    @cached_property
    def all_judged(self) -> Documents:
        """The judgments as a dict of dicts."""
        opened = self._opened
        if isinstance(opened, Mapping):
            return opened
        if isinstance(opened, Labels | Predictions):
            raise InputError("judgments", "documents with ids", _named(opened))
        return documents_in(self.session, ready(opened, self.session), self.policy)

    @property
    def has_ids(self) -> bool:
        """Whether documents have ids, which labels with qid: have not."""
        return not isinstance(self._opened, Labels | Predictions)

    @cached_property
    def _has_empty_queries(self) -> bool:
        """Whether a dict has queries without documents, which no table can hold."""
        opened = self._opened
        return isinstance(opened, Mapping) and not all(opened.values())

    def match(self, run: object, depth: int | None = None) -> tuple[Matched, Policy]:
        """Match a run down to a depth; also return the policy with the rule for ties decided."""
        opened = self._open_run(run)
        matched, decided = self._match(opened, depth)
        self._kept.setdefault("matched", matched)
        warn_of_ranks(opened, self.session)  # when nothing is wrong with it
        return matched, decided

    def warn_of_marks(self) -> None:
        """Warn where −1 is the only negative grade, and the policy does not say what it means.

        A run has been matched before.
        """
        if self.policy.negative != "auto":
            return
        spark: SparkJudged | None = self._kept.get("spark")
        tell_marks(marks_among([self._kept["matched"]]) if spark is None else spark.marks)

    def _open_run(self, run: object) -> Source | Documents | Labels | Predictions:
        return open_source(run, RUN, self.columns, self.session)

    def _match(
        self, opened: Source | Documents | Labels | Predictions, depth: int | None
    ) -> tuple[Matched, Policy]:
        if isinstance(self._opened, Labels | Predictions) or isinstance(
            opened, Labels | Predictions
        ):
            return self._match_lists(opened, depth)
        decided = self.policy.resolved(ids=True)
        if isinstance(opened, Source) and self._has_empty_queries:
            opened = documents_in(self.session, ready(opened, self.session), self.policy)
        if isinstance(opened, Mapping):
            return mappings.match(self.all_judged, opened, decided, depth, self.chunks), decided
        assert isinstance(opened, Source)  # noqa: S101 - all other kinds are above
        matched = self._match_lines(opened, decided, depth)
        if matched is None:
            table = ready(opened, self.session)
            matched = tables.match(self.session, self._judged, table, decided, depth, self.chunks)
        return matched, decided

    @errors_of_spark()
    def on_spark(self, run: object, depth: int | None = None) -> tuple[Sides, Policy]:
        """Bring judgments and a run to Spark, where at least one is; also return the policy decided.

        The other is on this machine, and so small beside it.
        """
        functions()  # says how to get Spark
        frame = self.judgments if is_spark(self.judgments) else run
        assert is_spark(frame)  # noqa: S101 - one of the two is
        refuse_orders(self.policy)
        decided = self.policy.resolved(ids=True)
        judged = self._judged_on_spark(frame.sparkSession)
        if is_spark(run):
            rows = as_they_are(run, RUN, self.columns)
        else:
            rows = frame_of(self._all_of(run), RUN, frame.sparkSession, self.policy)
            rows = rows.withColumn("given", rows["number"].cast("string"))
        return Sides(judged, rows, Plan(decided, depth, self.chunks, judged.lowest)), decided

    def _judged_on_spark(self, session: Any) -> SparkJudged:
        if "spark" not in self._kept:
            if is_spark(self.judgments):
                self._kept["spark"] = judged_in(self.judgments, self.columns, self.policy)
            else:
                self._kept["spark"] = judged_from(self.all_judged, session, self.policy)
        found: SparkJudged = self._kept["spark"]
        return found

    def _all_of(self, run: object) -> Documents:
        """Return a run that is on this machine as a dict of dicts."""
        opened = self._open_run(run)
        if isinstance(opened, Labels | Predictions):
            raise InputError("run", "documents with ids", _named(opened))
        if isinstance(opened, Source):
            found: Documents = documents_in(self.session, ready(opened, self.session), self.policy)
        else:
            found = opened
        warn_of_ranks(opened, self.session)
        return found

    @cached_property
    def _judged_lines(self) -> Lines | None:
        return _lines(self._opened)

    def _match_lines(self, run: Source, policy: Policy, depth: int | None) -> Matched | None:
        """Match clean TREC files without the engine; None where it has to."""
        usual = (policy.unjudged, policy.duplicates, policy.drop_self) == ("zero", "error", "no")
        usual = usual and policy.negative != "unjudged"
        if not usual or self.chunks is not None or run.layout.format != "trec":
            return None
        if self._judged_lines is None:
            return None
        found = _lines(run, depth, single=policy.precision == "single")
        return None if found is None else lines.match(self._judged_lines, found, policy, depth)

    def _match_lists(self, run: object, depth: int | None) -> tuple[Matched, Policy]:
        labels = self._opened
        if not isinstance(labels, Labels) or not isinstance(run, Predictions):
            raise InputError(
                "judgments and run",
                "labels with qid: and a file of predictions, or neither",
                f"{_named(labels)} and {_named(run)}",
                "Labels come first, then the predictions, line by line: documents have no ids.",
            )
        refuse_other_length(labels, run)
        if self.chunks is not None:
            raise InputError("chunks", "documents with ids", "labels with qid:")
        decided = self.policy.resolved(ids=False)
        lists = read_lists(labels.labels, run.scores, query=labels.queries)
        warn_of_ranks_in_arrays(lists)
        return arrays.match_down_to(lists, decided, depth), decided

    def documents(self, run: object, query: str) -> tuple[Documents, Documents]:
        """Return the judgments and the run of one query as dicts, with the ids of all queries.

        Queries other than the one asked for may stand without documents.
        """
        found: list[Documents] = []
        for given, kind in ((self.judgments, JUDGMENTS), (run, RUN)):
            if is_spark(given):
                refuse_orders(self.policy)
                found.append(documents_on_spark(given, kind, self.columns, self.policy, query))
                continue
            opened = self._opened if kind is JUDGMENTS else self._open_run(given)
            if isinstance(opened, Labels | Predictions):
                raise InputError(
                    kind.name, "documents with ids", _named(opened), "Explain the grades instead."
                )
            source = opened
            if isinstance(opened, Source):
                table = ready(opened, self.session)
                opened = documents_in(self.session, table, self.policy, query)
            found.append(opened)
            if kind is RUN:
                warn_of_ranks(source, self.session)
        return found[0], found[1]

    def returned(self, run: object, depth: int | None = None) -> dict[str, Mapping[str, float]]:
        """Return the scores of every query's documents, as the policy has them.

        With a depth, those that stand below it may be left out.
        """
        opened = self._open_run(run)
        if isinstance(opened, Labels | Predictions):
            raise InputError("run", "documents with ids", _named(opened))
        source = opened
        if isinstance(opened, Source):
            table = ready(opened, self.session)
            cut = None if self._changes_scores else depth
            opened = documents_in(self.session, table, self.policy, depth=cut)
        decided = self.policy.resolved(ids=True)
        scores = {}
        for query, found in mappings.queries_of(opened, "run").items():
            scores[query] = returned_of(found, query, decided, self.chunks)
            sorted_numbers(scores[query], "score", "run", query)  # says what is no number
        warn_of_ranks(source, self.session)
        return scores

    def selected(
        self, run: object, queries: Sequence[str]
    ) -> Callable[[Sequence[str]], Mapping[str, Mapping[Any, float]]]:
        """Read some queries of a run, or of the judgments where it is None.

        Returns:
            A function that hands out the documents of some of them; what is not there is left out.
        """
        opened = self._opened if run is None else self._open_run(run)
        if isinstance(opened, Labels | Predictions):
            raise InputError(
                JUDGMENTS.name if run is None else RUN.name, "documents with ids", _named(opened)
            )
        if isinstance(opened, Source):
            table = ready(opened, self.session)
            return Selection(self.session, table, self.policy, queries).documents
        known = mappings.queries_of(opened, JUDGMENTS.name if run is None else RUN.name)
        return lambda some: {query: known[query] for query in some if query in known}

    @property
    def _changes_scores(self) -> bool:
        """Whether who stands above a depth is known only when all documents were read."""
        policy = self.policy
        usual = (policy.duplicates, policy.drop_self, policy.precision) == ("error", "no", "double")
        # The engine hands over what it has cut in any order.
        return not usual or policy.ties == "order" or self.chunks is not None

    def lists(self, run: object, depth: int | None = None) -> dict[str, list[str]]:
        """Return the documents of every query of a run in rank order, down to a depth.

        Documents with equal scores stand by id, descending.
        """
        return {
            query: by_score(scores, depth) for query, scores in self.returned(run, depth).items()
        }

    @property
    def lowest_grade(self) -> float:
        """The lowest of all grades."""
        if is_spark(self.judgments):
            return self._judged_on_spark(self.judgments.sparkSession).lowest
        if isinstance(self._opened, Mapping):
            pools = (
                sorted_numbers(judged_of(found, query, self.policy), "grade", "judgments", query)
                for query, found in mappings.queries_of(self._opened, "judgments").items()
            )
            return min((float(pool[0]) for pool in pools if pool.size), default=inf)
        return self._judged.lowest


@contextmanager
def reading(
    judgments: object,
    policy: Policy,
    *,
    columns: object = None,
    chunks: object = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Iterator[Reader]:
    """Open judgments for as long as runs are matched with them."""
    names, folding = read_columns(columns), read_chunks(chunks, policy)
    with Session(engine, progress) as session:
        yield Reader(judgments, policy, session, names, folding)
    if names is not columns:  # else they are checked where they were read
        names.refuse_unused()


def _lines(opened: object, depth: int | None = None, *, single: bool = False) -> Lines | None:
    """Read a source as lines, if it is a clean TREC file that fits arrays."""
    if not isinstance(opened, Source) or opened.file is None or opened.layout.format != "trec":
        return None
    layout, kind = opened.layout, opened.kind
    if kind.ascending or (layout.names, layout.places) != (kind.fields, kind.places):
        return None  # columns were named, by which the engine reads
    path, delimiter = opened.file.path, layout.delimiter
    return read_lines(path, kind, delimiter, depth, single=single)


def _named(opened: object) -> str:
    if isinstance(opened, Labels):
        return "labels with qid:"
    if isinstance(opened, Predictions):
        return "predictions"
    return "documents with ids"
