"""Measures that need more than grades: their values for `evaluate`, and evaluations of recommendations."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from itertools import compress
from typing import Any, Unpack, cast

import numpy as np

from gainful import arguments
from gainful.array_types import Bools
from gainful.errors import InputError, MeasureError
from gainful.evaluation import (
    evidence,
    model_answers,
    recommending,
    subtopics,
    time_and_sessions,
)
from gainful.evaluation.coverage import (
    Coverage,
    Evidence,
    coverage_sentences,
    query_sentences,
)
from gainful.evaluation.query_samples import read_sample
from gainful.evaluation.request import naming_run, warn_of_ratings
from gainful.evaluation.scores import RunScores, Scores, measure_matched
from gainful.matching.keyword_options import (
    ItemTables,
    ReadingOptions,
    TableOptions,
    takes,
)
from gainful.matching.matched import without_judgments
from gainful.matching.reader import Reader, opened_session
from gainful.measures.measure import (
    Measure,
    ValuesOfRun,
    catalogue,
    with_values_of_run,
)
from gainful.measures.measure_family import (
    ABSTENTIONS,
    CONFIDENCE,
    EVIDENCE,
    GRADES,
    ITEMS,
    LENGTHS,
    NUGGETS,
    SESSIONS,
    SUBTOPICS,
)
from gainful.measures.measures_by_need import read_measures_of
from gainful.measures.name_suggestions import suggest
from gainful.measures.notation import Measures
from gainful.measures.policy import Policy
from gainful.message_texts import counted
from gainful.output.rendering.table_formats import Table
from gainful.rows.grades_scores_or_ranks import JUDGMENTS, RUN
from gainful.rows.identifiers import IdType, decided_type
from gainful.rows.input_types import Judgments, Run, SamplingOptions, TableLike
from gainful.rows.run_and_judgment_columns import columns_in
from gainful.rows.runs_by_name import Runs, read_runs
from gainful.rows.side_table_columns import QUERIES
from gainful.rows.side_table_reader import read_table
from gainful.rows.spark_frames import refuse_spark


def with_values_of_tables(
    measures: Sequence[Measure], options: Mapping[str, Any], reader: Reader, run: Run
) -> dict[Measure, Measure]:
    """Return the measures that need more than grades among some, each with its values for a run."""
    _refuse_without_tables(measures, options)
    values: dict[Measure, ValuesOfRun] = {}
    for needs, compute in BY_NEED.items():
        wanted = [one for one in measures if one.family.needs == needs]
        if wanted:
            if reader.is_on_spark([run]):
                expected = f"a run on this machine, for a measure of {needs}"
                raise InputError(str(wanted[0]), expected, "a Spark data frame")
            values |= compute(wanted, options, reader, run)
    return {measure: with_values_of_run(measure, known) for measure, known in values.items()}


def _of_items(
    measures: Sequence[Measure], options: Mapping[str, Any], reader: Reader, run: Run
) -> dict[Measure, ValuesOfRun]:
    read = partial(recommending.read_sources, options, reader.columns, reader.session)
    sources = reader.once("items", lambda: read(reader.judgments.given))
    return recommending.values_of_run(
        measures, recommending.lists_of_run(reader, run, sources), sources
    )


BY_NEED: Mapping[
    str,
    Callable[[Sequence[Measure], Mapping[str, Any], Reader, Run], dict[Measure, ValuesOfRun]],
] = {
    SUBTOPICS: subtopics.values_of_run,
    ITEMS: _of_items,
    NUGGETS: model_answers.values_of_nuggets,
    ABSTENTIONS: model_answers.values_of_distraction,
    CONFIDENCE: model_answers.values_of_abstention,
    EVIDENCE: evidence.values_of_run,
    LENGTHS: time_and_sessions.values_of_walks,
    SESSIONS: time_and_sessions.values_of_sessions,
}
"""The functions that compute measures that need more than grades."""


_REQUIRED_TABLES: Mapping[str, str] = {
    SUBTOPICS: "the judgments of subtopics",
    NUGGETS: "the nuggets of each query, and the documents that support them",
    ABSTENTIONS: "the probability that the reading model abstains, for each passage",
    CONFIDENCE: "the confidence in each query",
    SESSIONS: "the session of each query",
}
"""The contents of the table that measures of a need require; its keyword is the name of the need."""
_WAYS_TO_PASS = {
    SUBTOPICS: "subtopics=…, or --subtopic-judgments.",
    CONFIDENCE: "confidence=… (a table, or max, std or diff1 of the scores), or --confidence.",
}


def _refuse_without_tables(measures: Sequence[Measure], options: Mapping[str, object]) -> None:
    """Reject measures whose tables are missing, and suggest tables, or another measure."""
    passed = {name for name in TableOptions.__annotations__ if options.get(name) is not None}
    for measure in measures:
        family = measure.family
        needs = family.needs
        if needs in _REQUIRED_TABLES and needs not in passed:
            expected = _REQUIRED_TABLES[needs]
            options_to_give = _WAYS_TO_PASS.get(needs, f"{needs}=…, or --{needs}.")
        elif needs == ITEMS and family.requires not in ("", JUDGMENTS.name) and not passed:
            expected = f"{family.requires}, in addition to the run"
            options_to_give = "items=…, history=… or vectors=…, or --items, --history or --vectors."
        else:
            continue
        hint = suggest(family.name, catalogue(needs=GRADES))
        meant = f"{hint.partition('?')[0]}? Otherwise pass" if hint.startswith("Did") else "Pass"
        raise MeasureError(str(measure), expected, "none", f"{meant} {options_to_give}")


_USUAL_CUTOFF = 10
_SHOWN = 6  # measures with users left out, in a sentence
# What a user needs in order to have a value; users without one are left out of the mean.
_NEEDED_BY_USERS: Mapping[str, str] = {
    "Novelty": "a list",
    "Popularity": "a list",
    "ILD": "two known items in the list",
    "Serendipity": "judgments",
    "HitRate": "a relevant item in the segment",
    "Miscalibration": "a list and a history in known categories",
    "Exposure": "an item of a known group in the list",
    "AWRF": "an item of a known group in the list, and a target",
    "EE_L": "a list and a relevant item (sampled lists share one value)",
    "EE_D": "a list (sampled lists share one value)",
    "EE_R": "a list and a relevant item (sampled lists share one value)",
}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ListCoverage(Coverage):
    """The coverage of measures of recommendations, in addition to `Coverage`, with users as queries.

    Attributes:
        catalogue: the number of items that could be shown; None if unknown.
        shown: the number of different items shown down to the depth.
        unknown: how many of them are not in the table of items, the vectors, the history.
        without: the number of users without a value, by measure.
        left_out: measures without any value, unless the caller named them.
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

    def _empty_sentence(self, _answers: Mapping[str, object] | None) -> str:
        """Describe which means leave out how many users, and why."""
        parts = []
        for measure, count in (self.without or {}).items():
            needed = _NEEDED_BY_USERS.get(measure.partition("(")[0].partition("@")[0], "a value")
            parts += [f"{measure}: {counted(count, 'user')} without {needed}"] if count else []
        if len(parts) > _SHOWN:  # such as a hit rate for each of many segments
            parts[_SHOWN:] = [counted(len(parts) - _SHOWN, "more measure")]
        return f"Left out of the mean of {'; of '.join(parts)}."

    def _sentences(self, _answers: Mapping[str, object] | None, *, of_run: bool) -> str:
        """Describe which users have no list or no judgments, and how many items are shown."""
        said = query_sentences(
            self.judged, self.judged - self.evaluated, None, ("user", "users"), "got no list"
        )
        if self.extra:
            have = "has" if len(self.extra) == 1 else "have"
            said.append(f"{counted(len(self.extra), 'user')} {have} no judgments.")
        if self.empty and of_run:
            said.append(self._empty_sentence(_answers))
        within = "the lists" if self.depth is None else f"the top {self.depth}"
        of = "" if self.catalogue is None else f" (the catalogue contains {self.catalogue:,})"
        unknown = "".join(
            f"; {count:,} of them {'is' if count == 1 else 'are'} not in the {name}"
            for name, count in (self.unknown or {}).items()
            if count
        )
        verb = "appears" if self.shown == 1 else "appear"
        said.append(f"{counted(self.shown, 'item')} {verb} in {within}{of}{unknown}.")
        if self.left_out:
            said.append(f"Measures without a value: {', '.join(self.left_out)}.")
        return " ".join(said)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RecommendationScores(Scores):
    """Means over users, the values of each user, and the values of the run as a whole.

    It is like `Scores`, with users in place of queries. For a measure with per-user values,
    `means` contains the mean over users; for any other measure, the value of the run. `run_values`
    contains only the latter, which have no column in `per_query` and no interval.
    """

    _called = "RecommendationScores"
    _units = "user", "users"

    @property
    def coverage(self) -> ListCoverage:
        """The counts of users and items, and the users without a list or a judgment."""
        return cast("ListCoverage", self.evidence.covered)

    def table(self) -> Table:
        """Return the values, each with its basis: a number of users, or the run."""
        counting = zip(self.measures, self.evidence.counting, strict=True)
        of = [
            f"mean of {counted(count, 'user')}" if measure.has_users else "the run"
            for measure, count in counting
        ]
        rows = [[*row, text] for row, text in zip(super().table().rows, of, strict=True)]
        covered = coverage_sentences(self.coverage, self.policy.answers())
        notes = [*self.sample_notes, covered]
        return Table(["measure", "value", "of"], rows, notes=notes)

    def to_dict(self) -> dict[str, Any]:
        """Return the values, the values of the run as a whole again, and their coverage."""
        return super().to_dict() | {"run_values": self.run_values}


class RecommendingOptions(ReadingOptions, ItemTables, SamplingOptions, total=False):
    """How recommendations are read and measured: `ReadingOptions`, `ItemTables`, `SamplingOptions` of users, and these.

    Attributes:
        slices: a table with a row for each user, whose columns `weights` and the like may name.
    """

    slices: TableLike | None


@takes(RecommendingOptions)
def evaluate_recommendations(
    run: Run,
    measures: Measures | None = None,
    *,
    judgments: Judgments | None = None,
    **options: Unpack[RecommendingOptions],
) -> RecommendationScores:
    """Measure recommendations beyond relevance: coverage, novelty, diversity, calibration and more.

    Items with equal scores are ordered by id, descending. Lists shorter than a cutoff are measured
    as they are. Users without a value of a measure are counted in `coverage`.

    Args:
        run: `{user: {item: score}}`, higher is better, `{user: [item, …]}`, the path of a file, a
            data frame, an Arrow object.
        measures: one measure or several, of `recommendation_catalogue()`; all that can be measured
            with the tables, at cutoff 10, if None.
        judgments: the relevant items: `{user: {item: grade}}`, or any judgments that `evaluate`
            accepts.
        **options: the tables (see `ItemTables`): items, vectors, history, expected
            and separator. An item may have several rows and categories. If expected is None,
            Serendipity compares with the most popular items of the history. If separator is None,
            cells that look like several categories are split at |, ; or commas, with a warning.
            Weights and clusters of users: see `SamplingOptions`; they don't affect measures of the run as
            a whole. For the other options, see `ReadingOptions`; columns may also name the columns of the
            history (history.query, history.doc and count) and the ids in other tables (items.doc
            and vectors.doc).

    >>> run = {"u": ["a", "b"], "v": ["a", "c"]}
    >>> items = {"a": "jazz", "b": "jazz", "c": "rock", "d": "folk"}
    >>> scores = evaluate_recommendations(run, ["Coverage@2", "ILD@2"], items=items)
    >>> scores["Coverage@2"], scores.per_query["ILD@2"]
    (0.75, [0.0, 1.0])
    """
    return _evaluated({"run": run}, measures, judgments, options)["run"]


@takes(RecommendingOptions)
def evaluate_recommendation_runs(
    runs: Runs,
    measures: Measures | None = None,
    *,
    judgments: Judgments | None = None,
    **options: Unpack[RecommendingOptions],
) -> RunScores:
    """Measure several runs, with tables that are read once.

    The result is a dict of scores, which `gainful.comparison.compare_scores` compares.

    Args:
        runs: name → run, or paths of files, a folder or a pattern, as for
            `gainful.inputs.find_runs`.
        measures: as in `evaluate_recommendations`, like all further arguments.
        judgments: the relevant items.
        **options: the tables and how they are read.

    >>> runs = {"same": {"u": ["a"], "v": ["a"]}, "other": {"u": ["a"], "v": ["b"]}}
    >>> evaluate_recommendation_runs(runs, "Personalisation@1")
    RunScores(same: Personalisation@1 0.0000; other: Personalisation@1 1.0000)
    """
    named = read_runs(runs, judgments, engine=options.get("engine"))
    return RunScores(_evaluated(named, measures, judgments, options))


def _evaluated(
    runs: Mapping[str, Run],
    measures: Measures | None,
    judgments: Judgments | None,
    options: RecommendingOptions,
) -> dict[str, RecommendationScores]:
    asked = None if measures is None else read_measures_of(ITEMS, measures)
    slices, keys = options.get("slices"), columns_in(options)
    table = None if slices is None else read_table(slices, QUERIES, "slices", keys=keys)
    sample = read_sample(options, table)
    arguments.refuse_unnamed(runs, "runs", "a dict {name: run} with at least one run")
    ranked, types = {}, {}
    with opened_session(options) as (session, columns):
        reader = Reader(judgments, Policy(), session, columns, None)
        refuse_spark(judgments, JUDGMENTS.name)
        judged = None if judgments is None else reader.judgments.given
        tables = {name: options.get(name) for name in ItemTables.__annotations__}
        sources = recommending.read_sources(tables, columns, session, judged)
        for name, run in runs.items():
            with naming_run(name, runs):
                refuse_spark(run, RUN.name)
                ranked[name] = recommending.lists_of_run(reader, run, sources)
                types[name] = decided_type([reader.run(run).query_type])
                reader.forget(run)
    chosen, optional = _chosen(asked, sources)
    values: dict[str, dict[Measure, ValuesOfRun]] = {}
    for name, lists in ranked.items():
        with naming_run(name, runs):
            values[name] = recommending.values_of_run(chosen, lists, sources, optional)
    kept = [one for one in chosen if all(one in known for known in values.values())]
    if not kept:
        none = f"none of {', '.join(map(str, chosen))}"
        raise InputError("measures", "one with a value in every run", none)
    if sources.judgments is not None:
        warn_of_ratings(np.unique(sources.judgments.numbers).tolist(), kept, "judgments")
    left_out = tuple(str(one) for one in chosen if one not in kept)
    results = {}
    for name, lists in ranked.items():
        known = tuple(with_values_of_run(one, values[name][one]) for one in kept)
        results[name] = _scores(known, lists, sources, left_out, types[name])
    if sample is None:
        return results
    return {
        name: cast("RecommendationScores", sample.weighed(scores))
        for name, scores in results.items()
    }


def _scores(
    measures: tuple[Measure, ...],
    lists: recommending.RankedLists,
    sources: recommending.Sources,
    left_out: Sequence[str],
    user_type: IdType,
) -> RecommendationScores:
    """Return the scores of users from measures with known values."""
    names = [*sources.user_codes]
    users = tuple(names[code] for code in lists.users.tolist())
    cutoffs = [measure.cutoff for measure in measures if measure.cutoff is not None]
    depth = max(cutoffs) if len(cutoffs) == len(measures) else None
    matched = without_judgments(users, lists.lengths)
    scores = measure_matched([matched], measures, Policy().resolved(ids=True), depth)
    without = {
        str(measure): len(users) - count
        for measure, count in zip(measures, scores.evidence.counting, strict=True)
        if measure.has_users
    }
    all_counted: Bools = np.logical_and.reduce(scores.per_query.counted, axis=1)
    complete = {*compress(scores.queries, all_counted)}
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    if sources.judgments is not None:
        judged = np.isin(lists.users, sources.judgments.users)
        missing = tuple(compress(users, judged & (lists.lengths == 0)))
        extra = tuple(compress(users, ~judged))
    shown_items = np.unique(lists.down_to(depth).items)
    tables = {name: getattr(sources, name) for name in ("items", "vectors", "history")}
    usual = {part.name: getattr(scores.coverage, part.name) for part in fields(Coverage)}
    empty = tuple(user for user in users if user not in complete)
    usual |= {"missing": missing, "empty": empty, "extra": extra, "unjudged": 0}
    coverage = ListCoverage(
        **usual,
        catalogue=sources.catalogue("coverage").size if sources.has_catalogue else None,
        shown=shown_items.size,
        unknown={
            name: int((~np.isin(shown_items, table.items)).sum())
            for name, table in tables.items()
            if table is not None
        },
        without=without,
        left_out=left_out,
    )
    evidence = Evidence(
        counting=scores.evidence.counting,
        empty=tuple(without.get(str(measure), 0) for measure in measures),
        covered=coverage,
        hash_of=partial(sources.hashes, lists),
    )
    plain = {field.name: getattr(scores, field.name) for field in fields(scores)}
    return RecommendationScores(**plain | {"evidence": evidence, "query_type": user_type})


def _chosen(
    asked: tuple[Measure, ...] | None, sources: recommending.Sources
) -> tuple[list[Measure], set[Measure]]:
    """Return the measures, and the optional ones, which are left out if nobody has a value.

    Measures that the caller did not name are optional: the usual ones, and each segment of several.
    """
    chosen: dict[Measure, None] = {}
    optional = set()
    for measure in _usual(sources) if asked is None else asked:
        segments = recommending.expanded(measure, sources)
        chosen |= dict.fromkeys(segments)
        if asked is None or segments != [measure]:
            optional |= {*segments} - {*(asked or ())}
    return [*chosen], optional


def _usual(sources: recommending.Sources) -> list[Measure]:
    """Return all that can be measured with the tables, at the usual cutoff, by every column of categories."""
    past, judged = sources.history is not None, sources.judgments is not None
    columns = [] if sources.items is None else [*sources.items.columns]
    possible = {
        "Coverage": sources.has_catalogue,
        "Gini": sources.has_catalogue,
        "Entropy": sources.has_catalogue,
        "Personalisation": True,
        "Novelty": past,
        "Popularity": past,
        "ILD": columns or sources.vectors,
        "Serendipity": judged and (past or sources.expected),
        "HitRate": judged and columns,
        "Miscalibration": past and columns,
    }
    usual: list[Measure] = []
    for name in filter(possible.get, possible):
        measure = Measure(name, k=_USUAL_CUTOFF)
        by = [*columns, "vectors"] if name == "ILD" and sources.vectors else columns
        several = "by" in measure.parameters and len(by) > 1
        usual += [measure.having(by=column) for column in by] if several else [measure]
    return usual
