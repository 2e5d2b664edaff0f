"""`QuerySample`: what each query stands for (weights), and which move together (clusters), by query id."""

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from gainful import arguments
from gainful.arithmetic.number_arrays import as_array, as_numbers
from gainful.arithmetic.statistics.query_sampling import FEW_CLUSTERS, Sampling
from gainful.array_types import Bools, Floats, Ints
from gainful.errors import InputError
from gainful.evaluation.coverage import digest_of
from gainful.evaluation.means_of_queries import BY_ID, id_before
from gainful.evaluation.measuring import aggregate_of
from gainful.evaluation.scores import Scores
from gainful.message_texts import counted, did_you_mean, shown
from gainful.rows.arrays import named_lists
from gainful.rows.identifiers import examples
from gainful.rows.input_types import SAMPLING
from gainful.rows.run_and_judgment_columns import read_columns
from gainful.rows.side_table_columns import QUERIES
from gainful.rows.side_table_reader import InputTable, read_table

_NAMES: Mapping[str, tuple[str, ...]] = {
    "weights": ("weight", "weights", "value"),
    "clusters": ("cluster", "clusters", "value"),
    "strata": ("stratum", "strata", "value"),
    "arrival": ("arrival", "date", "time", "added", "value"),
}
"""The names that tell the column of an option apart in a table with several."""

LARGEST_WEIGHT = 1e100


@dataclass(frozen=True, slots=True, eq=False)
class QuerySample:
    """How the queries of an evaluation were drawn.

    Attributes:
        weights: what each query counts; None if all count the same, or strata decide.
        clusters: the cluster of each query, as a function of its id; None if queries are independent.
        strata: the stratum of each query, as a function of its id; None without strata.
        arrival: when each query was added, as numbers; None if ids are in that order.
        population: how many queries each stratum has in the traffic; None if weights say it.
    """

    weights: Mapping[str, float] | None = None
    clusters: Callable[[str], str] | None = None
    strata: Callable[[str], str] | None = None
    arrival: Mapping[str, float] | None = None
    population: Mapping[str, float] | None = None

    def of(self, queries: Sequence[str], once: Bools | None = None) -> Sampling:
        """Return the sampling of queries, in their order; a query without a weight is an error.

        Args:
            queries: (q,) the ids.
            once: (q,) which of them are added to a sum without their weight; none if None.
        """
        clusters, strata = self.clusters, self.strata
        numbers = None if clusters is None else _numbered(clusters(query) for query in queries)
        parts = None if strata is None else [strata(query) for query in queries]
        weights = self._weights_of(queries, parts)
        once = None if once is None or weights is None or not once.any() else once
        if once is None and weights is not None and (weights == weights[0]).all():
            weights = (
                None  # weights that are all the same are none, so that they don't change a bit
            )
        arrival = None
        if self.arrival is not None:
            refuse_missing(queries, self.arrival, "arrival", "a time for every query", "query")
            arrival = np.array([self.arrival[query] for query in queries])
        places = None if parts is None else _numbered(parts)
        if numbers is not None and parts is not None:
            _refuse_split_clusters(numbers, parts, queries)
        return Sampling(weights, numbers, places, arrival, once)

    def _weights_of(self, queries: Sequence[str], parts: Sequence[str] | None) -> Floats | None:
        if self.population is not None and parts is not None:
            drawn = {part: parts.count(part) for part in dict.fromkeys(parts)}
            refuse_missing(drawn, self.population, "population", "every stratum", "stratum")
            return np.array([self.population[part] / drawn[part] for part in parts])
        if self.weights is None:
            return None
        refuse_missing(queries, self.weights, "weights", "a weight for every query", "query")
        weights = np.array([self.weights[query] for query in queries])
        if not weights.any():
            raise InputError("weights", "a weight above 0 among the queries", "only 0")
        return weights

    def columns(self, queries: Sequence[str]) -> dict[str, list[Any]]:
        """Return the weight, the cluster and so on of each query, by the name of the option."""
        labels = {"clusters": self.clusters, "strata": self.strata}
        columns: dict[str, list[Any]] = {
            name: [label(query) for query in queries]
            for name, label in labels.items()
            if label is not None
        }
        weights = self._weights_of(queries, columns.get("strata"))
        if weights is not None:
            columns["weights"] = weights.tolist()
        if self.arrival is not None:
            columns["arrival"] = [self.arrival[query] for query in queries]
        return columns

    @classmethod
    def of_columns(
        cls, queries: Sequence[str], columns: Mapping[str, Sequence[Any]]
    ) -> "QuerySample":
        """Return the sample with these columns.

        >>> sample = QuerySample.of_columns(["q1", "q2"], {"clusters": ["ann", "bob"]})
        >>> sample.columns(["q2"])
        {'clusters': ['bob']}
        """
        by_query = {
            name: dict(zip(queries, column, strict=True)) for name, column in columns.items()
        }
        clusters, strata = (
            partial(_label_in, by_query[name], name) if name in by_query else None
            for name in ("clusters", "strata")
        )
        return cls(by_query.get("weights"), clusters, strata, by_query.get("arrival"))

    def weighed(self, scores: Scores) -> Scores:
        """Return scores whose means follow the weights; sums, and values of whole runs, don't depend on them."""
        weighed = replace(scores, sample=self)
        means = {
            str(measure): aggregate_of(
                measure,
                weighed.counted_values(measure).tolist(),
                weighed.counted_sampling(measure),
            )
            for measure in scores.measures
            if measure.has_users
        }
        return replace(weighed, means={**scores.means, **means})

    def signature(self, queries: Sequence[str]) -> str:
        """Return the hashes of the weights, clusters and strata of queries, for a signature."""
        sampling = self.of(queries)
        return "".join(
            f" {name}={digest_of([array.tobytes()])}"
            for name in ("weights", "clusters", "strata", "arrival")
            if (array := getattr(sampling, name)) is not None
        )

    def notes(
        self, queries: Sequence[str], units: tuple[str, str] = ("query", "queries")
    ) -> list[str]:
        """Return what the sample means for how sure a mean over these queries is; `units` are their name."""
        sampling, count = self.of(queries), len(queries)
        notes = []
        if sampling.weights is not None:
            effective = Sampling(sampling.weights).effective(count)
            notes.append(
                f"weighted: {counted(count, *units)} determine a mean as well as "
                f"{effective:.1f} of equal weight would (effective number)"
            )
        if sampling.clusters is not None:
            clusters = sampling.units(count)
            few = f"; with fewer than {FEW_CLUSTERS}, intervals may be too short"
            notes.append(
                f"{counted(count, *units)} in {counted(clusters, 'cluster')}, which count as "
                f"independent{few if clusters < FEW_CLUSTERS else ''}"
            )
        if sampling.strata is not None:
            strata = np.unique(sampling.strata).size
            notes.append(f"drawn from {counted(strata, 'stratum', 'strata')}")
        return notes


def read_sample(
    options: Mapping[str, Any], metadata: InputTable | None = None
) -> QuerySample | None:
    """Read the options of `SamplingOptions`; None without any.

    Args:
        options: the options of a call.
        metadata: the table of slices, whose columns the options may name.

    >>> sample = read_sample({"weights": {"q1": 3, "q2": 1}})
    >>> sample.of(["q2", "q1"]).mean(np.array([1.0, 0.2]))
    0.4
    """
    passed = {name: options[name] for name in SAMPLING if options.get(name) is not None}
    if not passed:
        return None
    keys = read_columns(options.get("columns"))
    weights, population = None, None
    if "weights" in passed:
        weights = _weights(*_column("weights", passed["weights"], metadata, keys))
    if "population" in passed:
        population = _population(passed["population"])
        if "strata" not in passed:
            raise InputError("population", "strata=… with it", "no strata")
        if weights is not None:
            raise InputError("population", "weights or a population, not both", "both")
    labels = {
        name: _labels(name, passed[name], metadata, keys)
        for name in ("clusters", "strata")
        if name in passed
    }
    return QuerySample(
        weights,
        labels.get("clusters"),
        labels.get("strata"),
        _arrival(*_column("arrival", passed["arrival"], metadata, keys))
        if "arrival" in passed
        else None,
        population,
    )


def _column(
    name: str, value: object, metadata: InputTable | None, keys: Mapping[str, str]
) -> tuple[InputTable, str]:
    """Return the table and the column of an option: of the slices, or of a table of its own."""
    if isinstance(value, str) and metadata is not None and value in metadata.columns:
        return metadata, value
    if isinstance(value, str) and not {*value} & {*"./\\-"} and not os.path.exists(value):  # noqa: PTH110 - also of a name too long for a path
        raise _unknown_column(name, value, metadata)
    table = read_table(value, QUERIES, name, keys=keys)
    parts = [part.strip() for part in table.called.get("query", "").split(",")]  # of a key
    columns = [column for column in table.columns if column not in parts]
    usual = [column for column in columns if column.lower() in _NAMES[name]]
    several = columns if len(columns) > 1 else []
    if several and len(usual) != 1:
        raise InputError(
            table.name,
            f"one column besides the query, or one named {_NAMES[name][0]}",
            f"{len(several)}: {', '.join(several[:6])}",
            f"Name it: slices=…, {name}={several[0]!r}; on the command line --slices FILE --{name} {several[0]}.",
        )
    return table, usual[0] if several else columns[0]


def _unknown_column(name: str, value: str, metadata: InputTable | None) -> InputError:
    """Return an error about a word that is neither a file nor a column of the slices."""
    if metadata is None:
        remedy = f"For a column, also pass its table: slices=…; on the command line --slices FILE --{name} {value}."
        return InputError(name, "a file, or the name of a column of slices", shown(value), remedy)
    expected = f"a file, or a column of {metadata.name}: {', '.join(metadata.columns)}"
    return InputError(name, expected, shown(value), did_you_mean(value, metadata.columns))


def _weights(table: InputTable, column: str) -> dict[str, float]:
    numbers = table.numbers(column)
    weights: dict[str, float] = {}
    for row, (query, weight) in enumerate(zip(table["query"], numbers.tolist(), strict=True)):
        if not 0 <= weight <= LARGEST_WEIGHT:
            found = "none" if weight != weight else f"{weight:g}"
            large = f"a weight from 0 to {LARGEST_WEIGHT:g}"
            expected = large if weight > 0 else "a non-negative weight"
            raise InputError(f"{table.where(row)}, query {query!r}", expected, found)
        weights[query] = weight
    return weights


def _label_by(label: Callable[[str], object], name: str, query: str) -> str:
    """Return the label that a user's function gives a query."""
    try:
        return str(label(query))
    except (TypeError, ValueError) as problem:
        found = f"{type(problem).__name__} for {query!r}: {problem}"
        raise InputError(name, "a function from the id of a query to its label", found) from problem


def _labels(
    name: str, value: object, metadata: InputTable | None, keys: Mapping[str, str]
) -> Callable[[str], str]:
    """Return a function from the id of a query to its label."""
    if isinstance(value, str) and value.startswith(BY_ID) and len(value) > len(BY_ID):
        return partial(id_before, value.removeprefix(BY_ID))
    if callable(value):
        return partial(_label_by, value, name)
    table, column = _column(name, value, metadata, keys)
    texts = dict(zip(table["query"], table.texts(column), strict=True))
    labels: dict[str, str] = {query: label for query, label in texts.items() if label is not None}
    return partial(_label_in, labels, name)


def _label_in(labels: Mapping[str, str], name: str, query: str) -> str:
    one = {"clusters": "a cluster", "strata": "a stratum"}[name]
    refuse_missing([query], labels, name, f"{one} for every query", "query")
    return labels[query]


def _arrival(table: InputTable, column: str) -> dict[str, float]:
    """Return when queries were added: numbers, or the places of texts in their order."""
    if table.is_numeric(column):
        times = table.numbers(column).tolist()
    else:
        texts = table.texts(column)
        places = {text: float(at) for at, text in enumerate(sorted({*filter(None, texts)}))}
        times = [math.nan if text is None else places[text] for text in texts]
    known = zip(table["query"], times, strict=True)
    return {query: time for query, time in known if time == time}


def _population(value: object) -> dict[str, float]:
    if not isinstance(value, Mapping):
        raise InputError("population", "a dict {stratum: number of queries}", shown(value))
    expected = "a number above 0"
    return {
        str(part): arguments.number(
            size, f"population, {part!r}", expected, lambda number: number > 0
        )
        for part, size in value.items()
    }


def refuse_missing(
    wanted: Iterable[str], known: Mapping[str, object], name: str, expected: str, noun: str
) -> None:
    """Reject ids that a table lacks."""
    missing = [one for one in wanted if one not in known]
    if not missing:
        return
    more = "Weight 0 leaves a query out of the mean." if name == "weights" else ""
    raise InputError(
        name,
        expected,
        f"none for {counted(len(missing), noun, 'queries' if noun == 'query' else 'strata')}: {examples(missing)}",
        more,
    )


def _refuse_split_clusters(clusters: Ints, parts: Sequence[str], queries: Sequence[str]) -> None:
    """Reject a cluster with queries of several strata: it was drawn from one, so its stratum is wrong."""
    first: dict[int, int] = {}
    for at, cluster in enumerate(clusters.tolist()):
        other = first.setdefault(cluster, at)
        if parts[at] != parts[other]:
            raise InputError(
                "strata",
                "one stratum for all queries of a cluster",
                f"{parts[other]!r} for query {queries[other]!r} and {parts[at]!r} for {queries[at]!r}",
            )


def _numbered(labels: Iterable[str]) -> Ints:
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(label, len(numbers)) for label in labels], np.int64)


def columns_of_sample(options: Mapping[str, Any]) -> list[str]:
    """Return the columns of the slices that the options may name, which are no slices themselves."""
    return [value for name in SAMPLING if isinstance(value := options.get(name), str)]


# --- weights and clusters of the lists in arrays


def read_array_sample(
    weights: Any, clusters: Any, labels: Any, *, group: Any = None, query: Any = None
) -> QuerySample | None:
    """Read weights and clusters: by query id, as in `evaluate`, or one for each list or document.

    A query counts with the mean of its documents' weights.

    Args:
        weights: a dict or table by query id, or an array.
        clusters: the same, or a function of the query id.
        labels: the grades of the documents, as in `evaluate_arrays`.
        group: the size of each list.
        query: the query of each document or list.

    >>> sample = read_array_sample([1.0, 3.0, 5.0], None, [1, 0, 1], query=["a", "b", "b"])
    >>> sample.weights
    {'a': 1.0, 'b': 4.0}
    """
    names, owners = named_lists(as_array(labels, "labels").shape, group, query)
    options = {"weights": weights, "clusters": clusters}
    if weights is not None and not _by_id(weights):
        options["weights"] = _weights_of_lists(weights, names, owners)
    if clusters is not None and not _by_id(clusters):
        options["clusters"] = _clusters_of_lists(clusters, names, owners)
    return read_sample(options)


def _by_id(value: object) -> bool:
    by_id = isinstance(value, Mapping | str | os.PathLike) or callable(value)
    return by_id or hasattr(value, "columns")


def _weights_of_lists(weights: Any, names: Sequence[str], owners: Ints | None) -> dict[str, float]:
    numbers = as_numbers(as_array(weights, "weights"), "weights")
    if numbers.size and not (numbers.min() >= 0 and numbers.max() <= LARGEST_WEIGHT):
        raise InputError("weights", "non-negative numbers", shown(weights))
    if _of_documents("weights", numbers.shape, len(names), owners) and owners is not None:
        count = np.maximum(np.bincount(owners, minlength=len(names)), 1)
        numbers = np.bincount(owners, numbers, len(names)) / count
    return dict(zip(names, numbers.tolist(), strict=True))


def _clusters_of_lists(clusters: Any, names: Sequence[str], owners: Ints | None) -> dict[str, str]:
    labels = [str(label) for label in getattr(clusters, "tolist", lambda: clusters)()]
    if not _of_documents("clusters", (len(labels),), len(names), owners) or owners is None:
        return dict(zip(names, labels, strict=True))
    of_lists: dict[str, str] = {}
    for owner, label in zip(owners.tolist(), labels, strict=True):
        if of_lists.setdefault(names[owner], label) != label:
            found = f"{of_lists[names[owner]]!r} and {label!r} in query {names[owner]!r}"
            raise InputError("clusters", "one cluster for all documents of a query", found)
    return of_lists


def _of_documents(name: str, shape: tuple[int, ...], lists: int, owners: Ints | None) -> bool:
    """Return whether there is one value for each document; otherwise there is one for each list."""
    if shape == (lists,):
        return False
    if owners is not None and shape == owners.shape:
        return True
    documents = "" if owners is None else f", or for each of the {owners.size} documents"
    expected = f"one for each of the {lists} lists{documents}"
    raise InputError(name, expected, f"the shape {shape}")
