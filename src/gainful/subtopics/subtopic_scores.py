"""`SubtopicScores`: the result of an evaluation of queries with subtopics."""

import hashlib
from collections.abc import Iterable, Sequence

from gainful.array_types import Bools, Floats
from gainful.errors import InputError
from gainful.evaluation.coverage import Coverage
from gainful.evaluation.per_query import PerQuery
from gainful.evaluation.scores import Scores, TieRange, evaluated_measure
from gainful.measures.measure import Measure
from gainful.measures.notation import GivenMeasure, name_of
from gainful.measures.policy import Policy
from gainful.rendering.table_formats import Cell
from gainful.subtopics.notation import SubtopicMeasure, parse
from gainful.subtopics.query_arrays import Topic

_HASH_BYTES = 6


class SubtopicScores(Scores):
    """Means over queries, the values of each query, and what they rest on, as in `Scores`.

    Measures are those for queries with subtopics, in any of their spellings.
    """

    def __init__(
        self,
        *,
        measures: tuple[SubtopicMeasure, ...],
        policy: Policy,
        coverage: Coverage,
        means: dict[str, float],
        queries: tuple[str, ...],
        values: Floats,
        counted: Bools,
        empty: tuple[int, ...],
        topics: Sequence[Topic],
    ) -> None:
        super().__init__(
            measures=measures,
            policy=policy,
            coverage=coverage,
            means=means,
            queries=queries,
            values=values,
            counted=counted,
            empty=empty,
            batches=(),
        )
        self._topics = topics

    @property
    def ties(self) -> dict[str, TieRange]:
        """Refuse: documents with equal scores stand by id, and no other order is measured."""
        raise InputError("ties", "scores of queries without subtopics", "those of subtopics")

    @property
    def per_query(self) -> PerQuery:
        """The values of each query: columns query, and one for each measure."""
        names = tuple(str(measure) for measure in self.measures)
        return _PerQuery(self.queries, names, self.values, self.counted, self.query_type)

    def _measure(self, measure: GivenMeasure) -> Measure:
        return evaluated_measure(measure, self.measures, parse)

    def _hashes(self, reach: int | None) -> tuple[str, str]:
        """Hash what a measure sees: all judgments with their ids, and the lists down to its reach."""
        judgments = (
            f"{topic.query}\n{name}\n{doc}\n{topic.judged[name][doc] + 0.0!r}\n{weight!r}\n"
            for topic in self._topics
            for name in topic.subtopics
            for weight in ([None] if topic.given is None else [topic.given.get(name)])
            for doc in sorted(topic.judged[name])
        )
        run = (
            f"{topic.query}\n{topic.missing}\n" + "".join(f"{doc}\n" for doc in listed)
            for topic in self._topics
            for listed in (topic.documents[:reach],)
        )
        return _hash(judgments), _hash(run)

    def __repr__(self) -> str:
        return f"Subtopic{super().__repr__()}"


class _PerQuery(PerQuery):
    """The same table, whose columns are found by any spelling of their measures."""

    def __getitem__(self, column: GivenMeasure) -> list[Cell]:
        name = name_of(column)
        if name is not None and name not in self.columns and not isinstance(column, Measure):
            column = str(parse(name))
        return super().__getitem__(column)


def _hash(parts: Iterable[str]) -> str:
    digest = hashlib.blake2b(digest_size=_HASH_BYTES)
    for part in parts:
        digest.update(part.encode(errors="surrogatepass"))
    return digest.hexdigest()
