"""`evaluate_recommendations` and `evaluate_recommendation_runs`: read, order, measure."""

from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np

from gainful import arguments
from gainful.array_types import Floats, Ints
from gainful.errors import InputError
from gainful.evaluation.evaluate import naming_run
from gainful.evaluation.request import warn_of_ratings
from gainful.evaluation.scores_by_run import RunScores
from gainful.inputs.duckdb_engine import Session
from gainful.inputs.grades_scores_or_ranks import HISTORY, JUDGMENTS, RUN, Kind
from gainful.inputs.id_types import decided_type
from gainful.inputs.run_and_judgment_columns import Columns, read_columns
from gainful.inputs.runs_by_name import Runs, read_runs
from gainful.inputs.spark_frames import refuse_spark
from gainful.matching.keyword_options import ReadingOptions, takes
from gainful.matching.open_input import open_input
from gainful.matching.reader import opened_session
from gainful.measures.notation import Measures
from gainful.recommending.coded_rows import CodedRows, Codes, RankedLists, rank_rows, read_rows
from gainful.recommending.item_tables import read_items, read_vectors
from gainful.recommending.measure_values import expanded, value_of_run, values_of_users
from gainful.recommending.notation import RecommendationMeasure, read_measures
from gainful.recommending.recommendation_scores import RecommendationScores, scores_of
from gainful.recommending.sources import Sources, interactions_of

_USUAL_CUTOFF = 10
_NOBODY: Ints = np.zeros(0, np.int64)
_Values = dict[RecommendationMeasure, Floats | float]


@takes(ReadingOptions)
def evaluate_recommendations(
    run: object,
    measures: Measures | None = None,
    *,
    items: object = None,
    vectors: object = None,
    history: object = None,
    judgments: object = None,
    expected: object = None,
    separator: str | None = None,
    **options: Unpack[ReadingOptions],
) -> RecommendationScores:
    """Measure recommendations beyond relevance: coverage, novelty, diversity, calibration and more.

    Items with equal scores stand by id, descending. Lists shorter than a cutoff are taken as they are. A
    user of whom a measure is not defined has no value of it, and is counted in `coverage`.

    Args:
        run: `{user: {item: score}}`, higher is better, `{user: [item, …]}`, the path of a file, a
            data frame, an Arrow object.
        measures: one measure or several, of `recommendation_catalogue()`; all that can be measured
            with what is given, at cutoff 10, if None.
        items: the catalogue: ids alone, `{item: category}`, `{item: [category, …]}`, or a table with
            an item and columns of categories; an item may have several rows.
        vectors: `{item: [number, …]}`, a pair (ids, array), or a table of numbers.
        history: past interactions, `{user: {item: count}}`, `{user: [item, …]}`, or a table with a
            user, an item and perhaps a count.
        judgments: `{user: {item: grade}}`, or any of the others: what is relevant.
        expected: a run, of what a simple recommender shows, for Serendipity; the most popular items
            of the history if None.
        separator: what stands between several categories in one cell, such as "|". If None, cells are
            split at |, ; or commas where they look like several categories, with a warning.
        **options: see `ReadingOptions`; columns may also name those of the history, history.query,
            history.doc and count, and the ids in the other tables, items.doc and vectors.doc.

    >>> run = {"u": ["a", "b"], "v": ["a", "c"]}
    >>> items = {"a": "jazz", "b": "jazz", "c": "rock", "d": "folk"}
    >>> found = evaluate_recommendations(run, ["Coverage@2", "ILD@2"], items=items)
    >>> found["Coverage@2"], found.per_query["ILD@2"]
    (0.75, [0.0, 1.0])
    """
    given = _Given(items, vectors, history, judgments, expected, separator)
    (found,) = _evaluated({"run": run}, measures, given, options).values()
    return found


@takes(ReadingOptions)
def evaluate_recommendation_runs(
    runs: Runs,
    measures: Measures | None = None,
    *,
    items: object = None,
    vectors: object = None,
    history: object = None,
    judgments: object = None,
    expected: object = None,
    separator: str | None = None,
    **options: Unpack[ReadingOptions],
) -> RunScores:
    """Measure several runs, with items and interactions that are read once.

    What comes back is a dict of scores, which `gainful.comparison.compare_scores` compares.

    Args:
        runs: name → run, or the paths of files, of a folder or a pattern, as
            `gainful.inputs.find_runs` names them.
        measures: as in `evaluate_recommendations`, like all that follow.
        items: the catalogue.
        vectors: of items.
        history: past interactions.
        judgments: what is relevant.
        expected: a run, of what a simple recommender shows.
        separator: what stands between several categories in one cell.
        **options: see `ReadingOptions`.

    >>> runs = {"same": {"u": ["a"], "v": ["a"]}, "other": {"u": ["a"], "v": ["b"]}}
    >>> evaluate_recommendation_runs(runs, "Personalisation@1")
    RunScores(same: Personalisation@1 0.0000; other: Personalisation@1 1.0000)
    """
    given = _Given(items, vectors, history, judgments, expected, separator)
    named = read_runs(runs, judgments, engine=options.get("engine"))
    return RunScores(_evaluated(named, measures, given, options))


class _Given:
    """What a caller gives besides runs."""

    def __init__(
        self,
        items: object,
        vectors: object,
        history: object,
        judgments: object,
        expected: object,
        separator: str | None,
    ) -> None:
        self._items, self._vectors, self._separator = items, vectors, separator
        self._history, self._judgments, self._expected = history, judgments, expected
        if separator is not None and items is None:
            raise InputError("separator", "items, whose categories it is between", "none")

    def read(self, columns: Columns, session: Session) -> Sources:
        """Read all of it once."""
        users, items = Codes(), Codes()
        table = vectors = history = judgments = expected = None
        if self._items is not None:
            table = read_items(
                self._items, items, session, columns=columns, separator=self._separator
            )
        if self._vectors is not None:
            vectors = read_vectors(self._vectors, items, session, columns=columns)
        if self._history is not None:
            rows = _rows(self._history, HISTORY, columns, session, users, items)
            history = interactions_of(rows, users, items)
        if self._judgments is not None:
            judgments = _rows(self._judgments, JUDGMENTS, columns, session, users, items)
        if self._expected is not None:
            with naming_expected():
                rows = _rows(self._expected, RUN, columns, session, users, items)
            expected = rank_rows(rows, _NOBODY, users, items)
        return Sources(users, items, table, vectors, history, judgments, expected)


def naming_expected() -> Any:
    """Say of what is wrong with the expected run that it is that one."""
    return naming_run("expected", {"run": None, "expected": None})


def _rows(
    given: object, kind: Kind, columns: Columns, session: Session, users: Codes, items: Codes
) -> CodedRows:
    refuse_spark(given, kind.name)
    opened = open_input(given, kind, columns, session)
    found = read_rows(opened, users, items)
    if kind is RUN:
        opened.warn_of_ranks()
    return found


def _evaluated(
    runs: Mapping[str, object],
    measures: Measures | None,
    given: _Given,
    options: ReadingOptions,
) -> dict[str, RecommendationScores]:
    asked = None if measures is None else read_measures(measures)
    names = read_columns(
        options.get("columns"), options.get("queries"), options.get("assessors"), recommending=True
    )
    arguments.refuse_unnamed(runs, "runs", "a dict {name: run} with at least one run")
    with opened_session(options) as session:
        sources = given.read(names, session)
        read = {}
        for name, run in runs.items():
            with naming_run(name, runs):
                read[name] = _rows(run, RUN, names, session, sources.users, sources.items)
    names.refuse_unused()
    chosen, optional = _chosen(asked, sources)
    judged = _NOBODY if sources.judgments is None else sources.judgments.users
    measured: dict[str, tuple[RankedLists, _Values]] = {}
    for name, rows in read.items():
        with naming_run(name, runs):
            lists = rank_rows(rows, judged, sources.users, sources.items)
            measured[name] = lists, _values(chosen, optional, lists, sources)
    kept = [one for one in chosen if all(one in values for _, values in measured.values())]
    if not kept:
        names_of = ", ".join(map(str, chosen))
        raise InputError("measures", "one with a value in every run", f"none of {names_of}")
    found = {}
    for name, (lists, values) in measured.items():
        left_out = tuple(str(one) for one in chosen if one not in kept)
        found[name] = scores_of(kept, values, lists, sources, left_out=left_out)
        found[name].query_type = decided_type([read[name].user_type])
    if sources.judgments is not None:
        warn_of_ratings(np.unique(sources.judgments.numbers).tolist(), kept, "judgments")
    return found


def _chosen(
    asked: tuple[RecommendationMeasure, ...] | None, sources: Sources
) -> tuple[list[RecommendationMeasure], set[RecommendationMeasure]]:
    """Return the measures, and those of them that are left out where nobody has a value.

    Those are what was not asked for by name: the usual ones, and each segment of several.
    """
    chosen: dict[RecommendationMeasure, None] = {}
    optional = set()
    for each in _usual(sources) if asked is None else asked:
        own = expanded(each, sources)
        chosen |= dict.fromkeys(own)
        if asked is None or own != [each]:
            optional |= {*own} - {*(asked or ())}
    return [*chosen], optional


def _values(
    measures: list[RecommendationMeasure],
    optional: set[RecommendationMeasure],
    lists: RankedLists,
    sources: Sources,
) -> _Values:
    """Measure lists; what is optional and has no value is left out."""
    values: _Values = {}
    for measure in measures:
        try:
            values[measure] = _value(measure, lists, sources)
        except InputError:
            if measure not in optional:
                raise
    return values


def _value(measure: RecommendationMeasure, lists: RankedLists, sources: Sources) -> Floats | float:
    if not measure.has_users:
        return value_of_run(measure, lists, sources)
    own = values_of_users(measure, lists, sources)
    if np.isnan(own).all():
        needs = f"It needs {measure.family.needs}, of the users and items of the run."
        raise InputError(str(measure), "at least one user with a value", "none", needs)
    return own


def _usual(sources: Sources) -> tuple[RecommendationMeasure, ...]:
    """Return all that can be measured with what is given."""
    has_catalogue = sources.table is not None or sources.history is not None
    names = ["Coverage", "Gini", "Entropy"] if has_catalogue else []
    names.append("Personalisation")
    if sources.history is not None:
        names += ["Novelty", "Popularity"]
    if sources.has_categories or sources.vectors is not None:
        names.append("ILD")
    if sources.judgments is not None:
        if sources.history is not None or sources.expected is not None:
            names.append("Serendipity")
        if sources.has_categories:
            names.append("HitRate")
    if sources.has_categories and sources.history is not None:
        names.append("Miscalibration")
    return tuple(one for name in names for one in _at_usual(name, sources))


def _at_usual(name: str, sources: Sources) -> list[RecommendationMeasure]:
    """Return a measure at the usual cutoff: by each column, and by vectors, where it could be any."""
    by: list[str | None] = [None]
    if name in ("ILD", "HitRate", "Miscalibration"):
        by = [*(() if sources.table is None else sources.table.columns)]
        if name == "ILD" and sources.vectors is not None:
            by.append("vectors")
        by = [None] if len(by) == 1 else by
    made = [RecommendationMeasure(name, k=_USUAL_CUTOFF)]
    return made if by == [None] else [one.having(by=column) for one in made for column in by]
