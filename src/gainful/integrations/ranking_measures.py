"""`RankingMeasures`: measures that are set up once, and computed whenever a host has predictions."""

import hashlib
import re
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, cast

import gainful as gf
from gainful import arguments
from gainful.errors import GainfulError, InputError, MeasureError
from gainful.measures.notation import GivenMeasure, Measures
from gainful.measures.policy import GivenPolicy
from gainful.measures.tool_dialect import GivenDialect

DEFAULT = "nDCG@10"
_Value = TypeVar("_Value")


class RankingMeasures:
    """Measures under one policy or dialect, for labels and predictions of the same lists.

    Attributes:
        given: the measures as the caller wrote them.
        names: the name of each measure, without parameters that a dialect adds.
        aggregates: how each measure's values per query are combined, such as mean.
        fingerprint: a hash that is equal for equal measures, in any process.
        called: the host's names for the arguments of `evaluate_arrays`, for messages.
    """

    def __init__(
        self,
        measures: tuple[Measures, ...],
        *,
        policy: GivenPolicy | None,
        dialect: GivenDialect | None,
        called: Mapping[str, str] | None = None,
    ) -> None:
        self.given = flat(measures) or (DEFAULT,)
        self.policy, self.dialect = policy, dialect
        self.called = called or {}
        # Measuring one document reveals invalid arguments early.
        trial = self.scores_if_any([1.0], [0.5])
        if trial is None:  # for example if grade 1 isn't relevant
            trial = self._scores([1.0], [0.5], policy={"empty": "zero"})
        names = tuple(trial.means)
        self.names = names if dialect is None else self._names_without_dialect(names)
        # A dialect may turn two measures into the same one; both names then have its value.
        merged = len(self.names) > len(names)
        self._places = (
            tuple(names.index(self._name_in_dialect(name)) for name in self.names)
            if merged
            else tuple(range(len(names)))
        )
        self.aggregates = tuple(measure.family.aggregate for measure in trial.measures)
        computed = [_description(measure) for measure in trial.measures]
        described = repr((self.names, computed, policy, dialect))
        self.fingerprint = hashlib.sha256(described.encode("utf-8", "replace")).hexdigest()[:16]

    def _names_without_dialect(self, names: tuple[str, ...]) -> tuple[str, ...]:
        try:
            own = gf.evaluate_arrays(labels=[1.0], scores=[0.5], measures=list(self.given))
        except MeasureError:  # names that only the dialect knows
            return names
        return tuple(own.means)

    def _name_in_dialect(self, name: str) -> str:
        scores = gf.evaluate_arrays(
            labels=[1.0],
            scores=[0.5],
            measures=name,
            dialect=self.dialect,
        )
        return next(iter(scores.means))

    def scores(
        self,
        labels: object,
        scores: object,
        *,
        group: object = None,
        query: object = None,
        mask: object = None,
        weights: object = None,
    ) -> "gf.results.Scores":
        """Measure predictions with `evaluate_arrays`."""
        return self._scores(
            labels,
            scores,
            group=group,
            query=query,
            mask=mask,
            weights=weights,
            policy=self.policy,
            dialect=self.dialect,
        )

    def scores_if_any(
        self, labels: object, scores: object, **lists: object
    ) -> "gf.results.Scores | None":
        """Measure predictions; None if the policy leaves out every query."""
        try:
            return self.scores(labels, scores, **lists)
        except InputError as problem:
            if not leaves_none(problem):
                raise
            return None

    def _scores(self, labels: Any, scores: Any, **options: Any) -> "gf.results.Scores":
        try:
            return gf.evaluate_arrays(
                labels=labels, scores=scores, measures=list(self.given), **options
            )
        except InputError as problem:
            raise renamed(problem, self.called) from None

    def named(self, values: Sequence[_Value]) -> dict[str, _Value]:
        """Return the values of the computed measures, by the original names."""
        return {name: values[at] for name, at in zip(self.names, self._places, strict=True)}

    def values(self, scores: "gf.results.Scores") -> dict[str, float]:
        """Return the mean of every measure by its name."""
        return self.named(list(scores.means.values()))

    def written(self) -> str:
        """Return the settings as arguments, for a repr."""
        choices = {"policy": self.policy, "dialect": self.dialect}
        parts = [repr(m) if isinstance(m, str) else repr(str(m)) for m in self.given]
        parts += [f"{name}={value!r}" for name, value in choices.items() if value is not None]
        return ", ".join(parts)


def flat(measures: tuple[Measures, ...]) -> tuple[GivenMeasure, ...]:
    """Return measures that were passed one by one, or as one list.

    >>> flat(("RR", "AP")), flat((["RR", "AP"],))
    (('RR', 'AP'), ('RR', 'AP'))
    """
    several = measures[0] if len(measures) == 1 else measures
    flat_measures = several if isinstance(several, list | tuple) else [several]
    return cast("tuple[GivenMeasure, ...]", tuple(flat_measures))


def metric_names(name: object, defaults: Sequence[str]) -> list[str]:
    """Return the names of metrics: the caller's, one for each measure, or the names of the measures.

    >>> metric_names(None, ["RR", "AP"]), metric_names(["first", "all"], ["RR", "AP"])
    (['RR', 'AP'], ['first', 'all'])
    """
    if name is None:
        return [*defaults]
    names = [name] if isinstance(name, str) else arguments.listed(name, "name", "a list of texts")
    names = [arguments.text(text, "name") for text in names]
    if len(names) != len(defaults):
        raise InputError("name", f"a name for each of {len(defaults)} measures", str(len(names)))
    if len({*names}) != len(names):
        raise InputError("name", "different names", ", ".join(names))
    return names


def _description(measure: "gf.Measure") -> str:
    """Return the notation of a measure, made unique for custom functions, which may share names."""
    text = str(measure)
    try:
        plain = bool(gf.measure(text) == measure)
    except GainfulError:
        plain = False
    return text if plain else f"{text} {uuid.uuid4()}"


def renamed(problem: InputError, called: Mapping[str, str]) -> InputError:
    """Return an error about arguments of `evaluate_arrays` with the host's names for them.

    >>> str(renamed(InputError("labels[3]", "a finite number", "nan"), {"labels": "y_true"}))
    'y_true[3]: expected a finite number, found nan.'
    """
    where, expected = problem.where, problem.expected
    for ours, theirs in called.items():
        where = re.sub(rf"^{ours}\b", theirs, where)
        expected = expected.replace(f"the shape of {ours}", f"the shape of {theirs}")
    return problem.changed(where=where, expected=expected)


def leaves_none(problem: InputError) -> bool:
    """Return whether an error says that missing= and empty= together leave out every query."""
    return problem.choice.startswith("missing=") and " empty=" in problem.choice
