"""`evaluate_recommendations` and `evaluate_recommendation_runs`: `evaluate` without the need of judgments, for users and items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from itertools import compress
from typing import Any, Unpack

import numpy as np

from gainful import arguments
from gainful.errors import InputError
from gainful.evaluation.coverage import Coverage, Evidence
from gainful.evaluation.recommending.measure_values import expanded, values_of_run
from gainful.evaluation.recommending.sources import (
    RankedLists,
    Sources,
    hashes_of_lists,
    ranked_lists,
    read_sources,
)
from gainful.evaluation.request import naming_run, warn_of_ratings
from gainful.evaluation.scores import Scores, as_kind, measure_matched
from gainful.evaluation.scores_by_run import RunScores
from gainful.matching.keyword_options import ReadingOptions, takes
from gainful.matching.matched import without_judgments
from gainful.matching.reader import Reader, opened_session
from gainful.measures.measure import Measure, ValuesOfRun, with_values_of_run
from gainful.measures.measure_family import ITEMS
from gainful.measures.measures_by_need import read_measures_of
from gainful.measures.notation import Measures
from gainful.measures.policy import Policy
from gainful.message_texts import counted as counted_text
from gainful.output.rendering.table_formats import Table
from gainful.rows.grades_scores_or_ranks import JUDGMENTS, RUN
from gainful.rows.id_types import IdType, decided_type
from gainful.rows.input_types import Judgments, Run, TableLike
from gainful.rows.run_and_judgment_columns import read_columns
from gainful.rows.runs_by_name import Runs, read_runs
from gainful.rows.spark_frames import refuse_spark

_USUAL_CUTOFF = 10


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ListCoverage(Coverage):
    """What measures of recommendations rest on, beside what `Coverage` has: queries are users.

    Attributes:
        catalogue: how many items could be shown; None where that is not known.
        shown: how many different items are shown down to the depth.
        unknown: how many of them are not in the table of items, the vectors, the history.
        without: by measure, how many users have no value.
        left_out: measures that were not asked for by name, of which nobody has a value.
    """

    catalogue: int | None = None
    shown: int = 0
    unknown: Mapping[str, int] | None = None
    without: Mapping[str, int] | None = None
    left_out: Sequence[str] = ()

    def to_dict(self) -> dict[str, object]:
        """Return the counts, and the users that are missing, empty or extra."""
        return Coverage.to_dict(self) | {
            "catalogue": self.catalogue,
            "shown": self.shown,
            "unknown": dict(self.unknown or {}),
            "without": dict(self.without or {}),
            "left_out": [*self.left_out],
        }

    def __str__(self) -> str:
        within = "" if self.depth is None else f" down to rank {self.depth}"
        of = "" if self.catalogue is None else f", of {self.catalogue} in the catalogue"
        unknown = "".join(
            f", {count} not in the {name}" for name, count in (self.unknown or {}).items() if count
        )
        text = f"{self.evaluated} of {counted_text(self.judged, 'user')} with a list"
        if self.missing:
            text += f", {len(self.missing)} judged without one"
        if self.extra:
            text += f", {len(self.extra)} without judgments"
        if self.empty:
            text += f", {len(self.empty)} without a value of some measure"
        nothing = f"; no value of {', '.join(self.left_out)}" if self.left_out else ""
        return f"{text}; {counted_text(self.shown, 'item')} shown{within}{of}{unknown}{nothing}"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RecommendationScores(Scores):
    """Means over users, the values of each user, and the values that the run has as a whole.

    It is as `Scores`, with users for queries. `means` has the mean over users of a measure of which
    users have values, and the value of the run of any other. `run_values` has the latter alone. They
    stand in no `per_query`, and have no interval.
    """

    _called = "RecommendationScores"
    _units = "user", "users"

    coverage: ListCoverage

    def table(self) -> Table:
        """Return the values, each with what it is of: so many users, or the run."""
        counting = zip(self.measures, self.evidence.counting, strict=True)
        of = [
            f"mean of {counted_text(count, 'user')}" if each.has_users else "the run"
            for each, count in counting
        ]
        rows = [[*row, text] for row, text in zip(super().table().rows, of, strict=True)]
        return Table(["measure", "value", "of"], rows, notes=[f"coverage  {self.coverage}"])

    def to_dict(self) -> dict[str, Any]:
        """Return the values, those of the run as a whole once more, and what they rest on."""
        return super().to_dict() | {"run_values": self.run_values}


@takes(ReadingOptions)
def evaluate_recommendations(
    run: Run,
    measures: Measures | None = None,
    *,
    items: TableLike | None = None,
    vectors: TableLike | None = None,
    history: TableLike | None = None,
    judgments: Judgments | None = None,
    expected: Run | None = None,
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
    tables = _tables(items, vectors, history, expected, separator)
    return _evaluated({"run": run}, measures, tables, judgments, options)["run"]


@takes(ReadingOptions)
def evaluate_recommendation_runs(
    runs: Runs,
    measures: Measures | None = None,
    *,
    items: TableLike | None = None,
    vectors: TableLike | None = None,
    history: TableLike | None = None,
    judgments: Judgments | None = None,
    expected: Run | None = None,
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
    tables = _tables(items, vectors, history, expected, separator)
    named = read_runs(runs, judgments, engine=options.get("engine"))
    return RunScores(_evaluated(named, measures, tables, judgments, options))


def _tables(*given: object) -> Mapping[str, object]:
    return dict(zip(("items", "vectors", "history", "expected", "separator"), given, strict=True))


def _evaluated(
    runs: Mapping[str, Run],
    measures: Measures | None,
    tables: Mapping[str, object],
    judgments: Judgments | None,
    options: ReadingOptions,
) -> dict[str, RecommendationScores]:
    asked = None if measures is None else read_measures_of(ITEMS, measures)
    columns = read_columns(
        options.get("columns"), options.get("queries"), options.get("assessors"), recommending=True
    )
    arguments.refuse_unnamed(runs, "runs", "a dict {name: run} with at least one run")
    ranked, types = {}, {}
    with opened_session(options) as session:
        reader = Reader(judgments, Policy(), session, columns, None)
        if judgments is not None:
            refuse_spark(judgments, JUDGMENTS.name)
        judged = None if judgments is None else reader.judgments.given
        sources = read_sources(tables, columns, session, judged)
        for name, run in runs.items():
            with naming_run(name, runs):
                refuse_spark(run, RUN.name)
                ranked[name] = ranked_lists(reader.lists(run), sources)
                types[name] = decided_type([reader.run(run).query_type])
                reader.forget(run)
    columns.refuse_unused()
    chosen, optional = _chosen(asked, sources)
    values: dict[str, dict[Measure, ValuesOfRun]] = {}
    for name, lists in ranked.items():
        with naming_run(name, runs):
            values[name] = values_of_run(chosen, lists, sources, optional)
    kept = [one for one in chosen if all(one in known for known in values.values())]
    if not kept:
        found = f"none of {', '.join(map(str, chosen))}"
        raise InputError("measures", "one with a value in every run", found)
    if sources.judgments is not None:
        warn_of_ratings(np.unique(sources.judgments.numbers).tolist(), kept, "judgments")
    left_out = tuple(str(one) for one in chosen if one not in kept)
    results = {}
    for name, lists in ranked.items():
        known = tuple(with_values_of_run(one, values[name][one]) for one in kept)
        results[name] = _scores(known, lists, sources, left_out, types[name])
    return results


def _scores(
    measures: tuple[Measure, ...],
    lists: RankedLists,
    sources: Sources,
    left_out: Sequence[str],
    user_type: IdType,
) -> RecommendationScores:
    """Return the scores of users, whose values the measures know."""
    names = sources.users.names
    users = tuple(names[code] for code in lists.users.tolist())
    cutoffs = [measure.cutoff for measure in measures if measure.cutoff is not None]
    depth = max(cutoffs) if len(cutoffs) == len(measures) else None
    matched = without_judgments(users, lists.lengths)
    scores = measure_matched([matched], measures, Policy().resolved(ids=True), depth)
    without, lacking = {}, set()
    for measure in measures:
        values = None if measure.of_run is None else measure.of_run.values
        if isinstance(values, Mapping):
            valueless = {user for user, value in values.items() if value != value}
            without[str(measure)] = len(valueless)
            lacking |= valueless
    has_list, judged = lists.lengths > 0, np.ones(lists.count, np.bool_)
    if sources.judgments is not None:
        judged = np.isin(lists.users, sources.judgments.users)
    shown = np.unique(lists.down_to(depth).items)
    known = {
        "items": None if sources.table is None else sources.table.items,
        "vectors": None if sources.vectors is None else sources.vectors.items,
        "history": None if sources.history is None else sources.history.items,
    }
    has_catalogue = sources.table is not None or sources.history is not None
    counts = {each.name: getattr(scores.coverage, each.name) for each in fields(Coverage)} | {
        "missing": tuple(compress(users, ~has_list & judged))
        if sources.judgments is not None
        else (),
        "empty": tuple(user for user in users if user in lacking),
        "extra": tuple(compress(users, ~judged)),
        "unjudged": 0,
    }
    coverage = ListCoverage(
        **counts,
        catalogue=sources.catalogue("coverage").size if has_catalogue else None,
        shown=shown.size,
        unknown={
            name: int((~np.isin(shown, items)).sum())
            for name, items in known.items()
            if items is not None
        },
        without=without,
        left_out=left_out,
    )
    evidence = Evidence(
        counting=scores.evidence.counting,
        empty=tuple(without.get(str(measure), 0) for measure in measures),
        kind="those of recommendations",
        hash_of=partial(hashes_of_lists, lists, sources),
    )
    return as_kind(
        scores, RecommendationScores, coverage=coverage, evidence=evidence, query_type=user_type
    )


def _chosen(
    asked: tuple[Measure, ...] | None, sources: Sources
) -> tuple[list[Measure], set[Measure]]:
    """Return the measures, and those of them that are left out where nobody has a value.

    Those are what was not asked for by name: the usual ones, and each segment of several.
    """
    chosen: dict[Measure, None] = {}
    optional = set()
    for each in _usual(sources) if asked is None else asked:
        own = expanded(each, sources)
        chosen |= dict.fromkeys(own)
        if asked is None or own != [each]:
            optional |= {*own} - {*(asked or ())}
    return [*chosen], optional


def _usual(sources: Sources) -> tuple[Measure, ...]:
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


def _at_usual(name: str, sources: Sources) -> list[Measure]:
    """Return a measure at the usual cutoff: by each column, and by vectors, where it could be any."""
    by: list[str | None] = [None]
    if name in ("ILD", "HitRate", "Miscalibration"):
        by = [*(() if sources.table is None else sources.table.columns)]
        if name == "ILD" and sources.vectors is not None:
            by.append("vectors")
        by = [None] if len(by) == 1 else by
    made = [Measure(name, k=_USUAL_CUTOFF)]
    return made if by == [None] else [one.having(by=column) for one in made for column in by]
