"""Measures as frozen, hashable, always valid values, and the catalogue of their families.

The catalogue is the only source of names, parameters, defaults, definitions, ranges and citations; the notation, the
command line, the help and the documentation all read it.
"""

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gainful import arguments
from gainful.arguments import choice
from gainful.errors import MeasureError
from gainful.measures.catalogue import (
    average_precision_and_kin,
    cumulated_gain,
    evidence,
    model_answers,
    precision_and_counts,
    recommendations,
    subtopics,
    time_and_sessions,
    user_models,
)
from gainful.measures.discount import refuse_idle_base
from gainful.measures.measure_family import (
    ALWAYS,
    EVIDENCE,
    GRADES,
    ITEMS,
    NEEDS,
    NEVER,
    RUN,
    SUBTOPICS,
    Family,
)
from gainful.measures.name_suggestions import (
    suggest,
    suggest_recommendation_measure,
    suggest_subtopic_measure,
)
from gainful.message_texts import shown

CATALOGUE: tuple[Family, ...] = (
    *cumulated_gain.FAMILIES,
    *precision_and_counts.FAMILIES,
    *average_precision_and_kin.FAMILIES,
    *user_models.FAMILIES,
    *subtopics.FAMILIES,
    *recommendations.FAMILIES,
    *model_answers.FAMILIES,
    *evidence.FAMILIES,
    *time_and_sessions.FAMILIES,
)

_BY_NAME = {entry.name: entry for entry in CATALOGUE}
_SIGNS = (("α", "alpha"), ("ω", "omega"), ("♯", "sharp"), ("#", "sharp"), ("-", "_"), (" ", "_"))


def catalogue(*, needs: str | None = None) -> tuple[Family, ...]:
    """Return every family of measures with its definition, range, citation and parameters.

    Args:
        needs: "grades", "subtopics", "items", "nuggets", "abstentions", "confidence", "evidence",
            "lengths" or "sessions", for the families that need these; all if None.

    >>> [family.name for family in catalogue()][:4], [family.name for family in catalogue(needs="items")][:2]
    (['CG', 'DCG', 'IDCG', 'nDCG'], ['Coverage', 'Gini'])
    """
    if needs is None:
        return CATALOGUE
    choice(needs, "needs", NEEDS, error=MeasureError)
    return tuple(entry for entry in CATALOGUE if entry.needs == needs)


def family(name: object, needs: str | None = None) -> Family:
    """Return the catalogue entry of a family by its name, ignoring case.

    Measures that need more than grades are also found by other tools' spellings.

    >>> family("ndcg").title, family("D#-nDCG").name, family("catalog-coverage").name
    ('Normalised discounted cumulated gain', 'Dsharp_nDCG', 'Coverage')
    """
    if isinstance(name, str):
        entry = _BY_NAME.get(name)
        if entry is None or needs not in (None, entry.needs):
            entry = _by_spelling(needs).get(plain_name(name))
        if entry is not None:
            return entry
    if needs == SUBTOPICS:
        expected = "a measure for queries with subtopics"
        hint = suggest_subtopic_measure(name, catalogue(needs=SUBTOPICS), catalogue(needs=GRADES))
    elif needs == ITEMS:
        expected = "a measure of recommendations"
        hint = suggest_recommendation_measure(name, catalogue(needs=ITEMS))
    else:
        expected = "a measure from the catalogue"
        hint = suggest(name, families_like(name))
    raise MeasureError("measure", expected, shown(name), hint)


def families_like(name: object) -> tuple[Family, ...]:
    """Return the families among which an unknown name is probably a misspelling.

    >>> [entry.name for entry in families_like("evidence_recal")][:1], [entry.name for entry in families_like("ndgc")][:1]
    (['evidence_recall'], ['CG'])
    """
    of_evidence = isinstance(name, str) and plain_name(name).startswith(EVIDENCE)
    return catalogue(needs=EVIDENCE if of_evidence else GRADES)


def needs_more(name: str) -> bool:
    """Return whether a name means only a measure that needs more than grades.

    >>> [needs_more(name) for name in ("alpha-nDCG", "HitRate", "hit_rate", "nope")]
    [True, True, False, False]
    """
    entry = _BY_NAME.get(name)
    if entry is None and plain_name(name) not in _graded_names():
        entry = _by_spelling(None).get(plain_name(name))
    return entry is not None and entry.needs != GRADES


def _graded_names() -> frozenset[str]:
    return frozenset(
        plain_name(name) for entry in catalogue(needs=GRADES) for name in spelled(entry)
    )


def plain_name(name: str) -> str:
    """Return a name in lower case, with signs such as α spelled out.

    >>> plain_name("α-nDCG")
    'alpha_ndcg'
    """
    plain = name.casefold()
    for sign, letters in _SIGNS:
        plain = plain.replace(sign, letters)
    return plain


def _by_spelling(needs: str | None) -> dict[str, Family]:
    """Return families by plain name; families that need only grades take precedence."""
    graded = {entry.name.casefold(): entry for entry in CATALOGUE if entry.needs == GRADES}
    others = {
        plain_name(name): entry
        for entry in CATALOGUE
        if entry.needs != GRADES and needs in (None, entry.needs)
        for name in spelled(entry)
    }
    return others | graded if needs in (None, GRADES) else others


def spelled(entry: Family) -> Iterable[str]:
    """Yield the name of a family, and its other spellings."""
    yield entry.name
    yield from (spelling.name for spelling in entry.spellings)


_DEEPEST = 10**9  # longer than any list or useful table of discounts
_DIGITS = re.compile(r"[0-9]{1,1000}")  # Python refuses to parse integers with thousands of digits


class ValuesOfRun(NamedTuple):
    """A run's values of a measure that needs more than grades.

    `values` has the value of each query, None if nothing is relevant; queries without an entry don't
    count. For measures of the whole run, it is a single value. `hash_of` is a hash of the tables, or a
    function that computes it when it is first needed.
    """

    values: "Mapping[str, float | None] | float"
    hash_of: "str | Callable[[], str]"

    @property
    def digest(self) -> str:
        """The hash of the tables."""
        return self.hash_of if isinstance(self.hash_of, str) else self.hash_of()


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Measure:
    """A measure: a family, its parameters and a cutoff.

    `name` is the name of the family. `settings` contains the value of every parameter, including
    defaults, in catalogue order. `cutoff` is None for the whole list; `k` is another name
    for the argument. Two measures are equal if all three are. For a measure that needs more than
    grades, `of_run` has a run's values, once they are known.

    >>> Measure("nDCG", k=10, gain="exp2")
    Measure('nDCG(gain=exp2)@10')
    >>> Measure("nDCG", gain="linear") == Measure("ndcg", base=2)
    True
    >>> Measure("ILD", k=10, by="genre"), Measure("IA", measure=Measure("nDCG", k=10))
    (Measure('ILD(by=genre)@10'), Measure('IA(nDCG@10)'))
    """

    name: str
    settings: tuple[tuple[str, Any], ...]
    cutoff: int | None
    of_run: ValuesOfRun | None = field(compare=False)

    def __init__(
        self,
        name: str,
        *,
        k: int | None = None,
        cutoff: int | None = None,
        **parameters: object,
    ) -> None:
        _refuse_notation(name)
        entry = family(name)
        cutoff = one_cutoff(k, cutoff)
        given = {name: entry.parameter(name).read(value) for name, value in parameters.items()}
        chosen = {p.name: given.get(p.name, p.default) for p in entry.parameters}
        if "measure" in chosen:  # the measure per subtopic, which has the cutoff
            inner = chosen["measure"] or Measure("nDCG")
            chosen["measure"] = inner = inner if cutoff is None else inner.at(cutoff)
            cutoff = inner.cutoff
        else:
            refuse_wrong_cutoff(entry, cutoff)
        if "base" in chosen:
            refuse_idle_base(chosen["discount"], chosen["base"])
        _refuse_scaled_ideal(entry, chosen)
        self._set(entry.name, tuple(chosen.items()), cutoff)

    def _set(
        self,
        name: str,
        settings: tuple[tuple[str, object], ...] = (),
        cutoff: int | None = None,
        **others: object,
    ) -> None:
        """Set the attributes; the class is frozen except for its constructors."""
        cutoff = None if cutoff is None else read_cutoff(cutoff)
        parts = {"name": name, "settings": settings, "cutoff": cutoff, "of_run": None}
        for part, value in (parts | others).items():
            object.__setattr__(self, part, value)

    @property
    def family(self) -> Family:
        """The catalogue entry of this measure."""
        return _BY_NAME.get(self.name) or family(self.name)

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The value of every parameter by name."""
        return dict(self.settings)

    @property
    def reach(self) -> int | None:
        """The deepest rank that the value depends on; None if the whole list matters.

        >>> Measure("nDCG", cutoff=10).reach, Measure("nDCG", cutoff=10, ideal="retrieved").reach
        (10, None)
        """
        settings = dict(self.settings)
        inner: Measure | None = settings.get("measure")
        if inner is not None:
            return inner.reach
        return None if settings.get("ideal") == "retrieved" else self.cutoff

    @property
    def inner(self) -> "Measure | None":
        """The measure that an intent-aware measure or nAUC is computed from; else None."""
        found: Measure | None = dict(self.settings).get("measure")
        return found

    @property
    def has_users(self) -> bool:
        """Whether every query or user has a value, rather than only the run as a whole."""
        return self.family.aggregate != RUN

    @property
    def inside(self) -> tuple["Measure", ...]:
        """The measures in a formula or a baseline measure; any other measure itself.

        >>> from gainful.measures.notation import parse
        >>> parse("2*AP - RR(baseline)").inside, parse("P@5").inside
        ((Measure('AP'), Measure('RR')), (Measure('P@5'),))
        """
        return (self,)

    @property
    def of_baseline(self) -> tuple["Measure", ...]:
        """The measures that must be computed for the baseline, each once.

        >>> from gainful.measures.notation import parse
        >>> parse("AP - AP(baseline)").of_baseline, parse("AP - RR").of_baseline
        ((Measure('AP'),), ())
        """
        return ()

    def changes(self, *names: str) -> bool:
        """Return whether the measure has one of these parameters, and its value is not the default.

        >>> Measure("nDCG", depth="all").changes("ideal", "depth"), Measure("P").changes("depth")
        (True, False)
        """
        for name in names:
            arguments.text(name, "changes", "the name of a parameter")
        given = zip(self.family.parameters, self.settings, strict=True)
        return any(p.name in names and value != p.default for p, (_, value) in given)

    def at(self, cutoff: int | None) -> "Measure":
        """Return the same measure at another cutoff.

        >>> Measure("nDCG").at(5)
        Measure('nDCG@5')
        """
        if self.inner is not None:
            return Measure(self.name, measure=self.inner.at(cutoff))
        refuse_wrong_cutoff(self.family, cutoff)
        # Skip validation: everything else is valid already, and a curve has thousands of cutoffs.
        measure = object.__new__(Measure)
        measure._set(self.name, self.settings, cutoff)
        return measure

    def having(self, **parameters: object) -> "Measure":
        """Return the same measure with other parameters.

        >>> Measure("nDCG", cutoff=5).having(gain="exp2")
        Measure('nDCG(gain=exp2)@5')
        """
        return type(self)(self.name, cutoff=self.cutoff, **{**self.parameters, **parameters})

    def __matmul__(self, cutoff: int) -> "Measure":
        """Return the same measure at a cutoff, `measure @ 10`."""
        return self.at(cutoff)

    def __str__(self) -> str:
        if self.inner is not None:
            return f"{self.name}({self.inner})"
        written = ", ".join(
            f"{parameter.name}={parameter.write(value)}"
            for parameter, (_, value) in zip(self.family.parameters, self.settings, strict=True)
            if value != parameter.default
        )
        text = f"{self.name}({written})" if written else self.name
        return text if self.cutoff is None else f"{text}@{self.cutoff}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}('{self}')"


def _refuse_notation(name: object) -> None:
    """Reject notation such as nDCG@10 where only a name is expected."""
    if isinstance(name, str) and ("@" in name or "(" in name):
        raise MeasureError(
            "measure",
            "the name of a measure, such as Measure('nDCG', k=10)",
            shown(name),
            f"To read the notation, use gainful.measure({shown(name)}).",
        )


def one_cutoff(k: int | None, cutoff: int | None) -> int | None:
    """Return the cutoff, which may be passed as `k` or `cutoff`."""
    if k is not None and cutoff is not None:
        raise MeasureError("cutoff", "one cutoff, as k or as cutoff", "both", "Leave one out.")
    return cutoff if k is None else k


def read_cutoff(value: object) -> int:
    """Read a cutoff: a positive integer, as a number or as text.

    >>> read_cutoff("10")
    10
    """
    expected = f"a whole number from 1 to {_DEEPEST:,} as the cutoff"
    if isinstance(value, str) and _DIGITS.fullmatch(value.strip()):
        cutoff = int(value.strip())  # `str.strip` removes more kinds of white space than `int`
    elif isinstance(value, bool | str):
        raise MeasureError("cutoff", expected, shown(value))
    else:
        try:
            cutoff = operator.index(value)  # type: ignore[arg-type]
        except TypeError:
            raise MeasureError("cutoff", expected, shown(value)) from None
    if not 1 <= cutoff <= _DEEPEST:
        raise MeasureError("cutoff", expected, shown(value))
    return cutoff


def _refuse_scaled_ideal(entry: Family, settings: dict[str, Any]) -> None:
    """Reject norm=minmax with a changed ideal, because the worst list contains all judged documents."""
    if settings.get("norm") != "minmax":
        return
    for name in ("ideal", "depth"):
        default = entry.parameter(name).default
        if settings[name] != default:
            raise MeasureError(
                name,
                f"{default} with norm=minmax",
                settings[name],
                "The worst and the best list must contain the same documents and be cut at the same rank.",
            )


def refuse_wrong_cutoff(entry: Family, cutoff: int | None) -> None:
    """Reject a cutoff if the family has none, and a missing cutoff if it needs one."""
    if cutoff is not None and entry.cutoff == NEVER:
        raise MeasureError(entry.name, "no cutoff, which this measure does not have", f"@{cutoff}")
    if cutoff is None and entry.cutoff == ALWAYS:
        raise MeasureError(entry.name, f"a cutoff, such as {entry.name}@10", "none")


def with_values_of_run(measure: Measure, values: ValuesOfRun) -> Measure:
    """Return the same measure with its values for a run."""
    valued = object.__new__(Measure)
    valued._set(measure.name, measure.settings, measure.cutoff, of_run=values)
    return valued


def measures_inside(measures: Iterable[Measure]) -> list[Measure]:
    """Return measures, with formulas and baseline measures replaced by the measures they contain."""
    return [part for measure in measures for part in measure.inside]


def refuse_without_baseline(measures: Iterable[Measure]) -> None:
    """Reject measures that need a baseline."""
    for measure in measures:
        if measure.of_baseline:
            raise MeasureError(
                str(measure),
                "a baseline to measure against",
                "none",
                "Use gf.compare, gf.evaluate_runs(…, baseline=…) or gainful compare.",
            )
