"""Judgments of several judges (`-R qrels_jg`): measures averaged over the judges of a query."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from gainful.array_types import Floats, Ints
from gainful.compat.trec_eval.c_numbers_and_sorting import BAD_INPUT, StoppedError, whole
from gainful.compat.trec_eval.files import read_rows, read_run, text_of
from gainful.compat.trec_eval.measure_names import BY_NAME, AskedMeasure
from gainful.compat.trec_eval.measure_values import columns
from gainful.compat.trec_eval.options import Options
from gainful.compat.trec_eval.ranked_lists import (
    RankedQuery,
    WithoutGradeStrings,
    looked_at,
    match_lists,
    ranked,
    repeated,
    repeated_within,
)
from gainful.matching.matched import Matched
from gainful.rows.duckdb_engine import Session

_FIELDS = 4
# for a single judge
_ALONE = {"map_avgjg": "map", "P_avgjg": "P", "Rprec_mult_avgjg": "Rprec_mult"}


@dataclass(frozen=True, slots=True)
class Grouped(WithoutGradeStrings):
    """Lists with the grades of each judge.

    Attributes:
        queries: all judged queries.
        missing: the queries that the run lacks.
        matched: the list of each query, once per judge.
        owner: (n,) the query of each list.
        tag: the tag of the run.
        faults: errors of queries.
    """

    queries: tuple[str, ...]
    missing: Sequence[bool]
    matched: Matched
    owner: Ints
    tag: str
    faults: Mapping[str, str] = field(default_factory=dict)
    relevant: int = 0  # no measure of several judges uses it

    def values(
        self, places: list[int], asked: Sequence[AskedMeasure], options: Options
    ) -> dict[str, Floats]:
        """Return the values of some queries by name."""
        settings = options.settings
        values = {"num_q": np.ones(len(places))}
        for measure in asked:
            if measure.entry.name not in _ALONE:
                continue
            alone = AskedMeasure(BY_NAME[_ALONE[measure.entry.name]], measure.numbers)
            by_judge = columns(self.matched, [alone], settings, options.version)
            for name, column in zip(measure.names, by_judge.values(), strict=True):
                values[name] = self._averaged(column)[places]
        return values

    def _averaged(self, column: Floats) -> Floats:
        judges = np.bincount(self.owner, minlength=len(self.queries))
        return np.bincount(self.owner, column, minlength=len(self.queries)) / judges


def read_grouped(judgments: Path, run: Path, options: Options, _: Session) -> Grouped:
    """Read the grades of several judges, and rank their documents by a run."""
    judged: dict[bytes, dict[bytes, list[tuple[bytes, int]]]] = {}
    for query, judge, doc, grade in read_rows(judgments, _FIELDS, "get_qrels_jg", options.version):
        judged.setdefault(query, {}).setdefault(judge, []).append((doc, whole(grade)))
    for query in sorted(judged):
        for judge in sorted(judged[query]):
            again = repeated([doc for doc, _ in judged[query][judge]])
            if again is not None:
                message = f"trec_eval.get_qrels: duplicate docs {text_of(again)}"
                raise StoppedError(message, BAD_INPUT)
    retrieved = read_run(run, options.version)
    lists, owner, faults = [], [], {}
    for number, (query, judges) in enumerate(judged.items()):
        docs = ranked(retrieved.documents[query]) if query in retrieved.documents else None
        again = repeated_within(docs, options.most)
        if again is not None:
            faults[text_of(query)] = f"trec_eval.form_res_qrels: duplicate docs {text_of(again)}"
        for judge in sorted(judges):
            lists.append(RankedQuery(text_of(query), judges[judge], docs))
            owner.append(number)
    return Grouped(
        tuple(map(text_of, judged)),
        [query not in retrieved.documents for query in judged],
        looked_at(match_lists(lists), options),
        np.array(owner, np.int64),
        text_of(retrieved.tag),
        faults,
    )
