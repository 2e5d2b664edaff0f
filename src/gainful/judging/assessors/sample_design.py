"""`SampleDesign`: the queries or documents sampled for people to judge, and its file."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gainful.arithmetic.cores import cached_property
from gainful.array_types import Ints
from gainful.errors import InputError, warn
from gainful.message_texts import counted, shown
from gainful.output.rendering.table_formats import Cell, Table, as_text
from gainful.output.writing.result_base import Result
from gainful.rows.duckdb_engine import Session
from gainful.rows.files import opened, path_of, plain_file
from gainful.rows.identifiers import UNTYPED, IdType, in_order

Unit = tuple[str, ...]
"""A query, or a query and a document of it."""

QUERIES, DOCUMENTS = "queries", "documents"
ALLOCATIONS: Mapping[str, str] = {
    "proportional": "in proportion to its size",
    "equal": "the same number as every other stratum",
}
"""The number drawn from each stratum."""
ALL = "(all)"
"""The name of the single stratum if there are no strata."""
_FORMAT = "gainful sample 1"
FEWEST = 2
"""The fewest queries of a stratum, for a variance."""
_SHOWN = 20  # rows printed
_IDS = {QUERIES: 1, DOCUMENTS: 2}  # the number of ids of each unit


@dataclass(frozen=True, slots=True)
class SampledStratum:
    """A stratum of the population.

    Attributes:
        name: its name.
        population: (N,) its units, by id.
        drawn: (n,) its drawn units.
    """

    name: str
    population: tuple[Unit, ...]
    drawn: tuple[Unit, ...]

    @property
    def probability(self) -> float:
        """The probability of each unit to be drawn, n/N."""
        return len(self.drawn) / len(self.population)


@dataclass(frozen=True, eq=False, repr=False)
class SampleDesign(Result):
    """A random sample for people to judge and its design, for `calibrate`.

    `write("design.json")` keeps everything; the other formats contain only the sample. There is no
    date in it: the same call gives the same file.

    Attributes:
        kind: `queries` or `documents`.
        strata: the strata, each with its population and sample.
        by: the kind of strata; empty if there are none.
        allocation: the allocation to strata, `proportional` or `equal`.
        seed: the seed of the draw.
        depth: for documents, the rank down to which they were taken from runs; otherwise None.
        query_type: the original type of query ids, before conversion to text.
        doc_type: the original type of document ids.
    """

    kind: str
    strata: tuple[SampledStratum, ...]
    by: str = ""
    allocation: str = "proportional"
    seed: int = 0
    depth: int | None = None
    query_type: IdType = field(default=UNTYPED, compare=False)
    doc_type: IdType = field(default=UNTYPED, compare=False)

    @cached_property
    def population(self) -> tuple[Unit, ...]:
        """The population, by id."""
        return tuple(_ordered(unit for stratum in self.strata for unit in stratum.population))

    @cached_property
    def drawn(self) -> tuple[Unit, ...]:
        """The sample, by id."""
        return tuple(_ordered(unit for stratum in self.strata for unit in stratum.drawn))

    @property
    def queries(self) -> tuple[str, ...]:
        """The drawn queries, or the queries of drawn documents."""
        return tuple(dict.fromkeys(unit[0] for unit in self.drawn))

    @cached_property
    def stratum_of(self) -> Mapping[Unit, str]:
        """The name of each unit's stratum."""
        return {unit: stratum.name for stratum in self.strata for unit in stratum.population}

    @cached_property
    def probability_of(self) -> Mapping[Unit, float]:
        """The probability of each unit to be drawn."""
        return {unit: stratum.probability for stratum in self.strata for unit in stratum.population}

    @property
    def summary(self) -> str:
        """The counts in one line."""
        noun = ("query", "queries") if self.kind == QUERIES else ("document",)
        text = f"{counted(len(self.drawn), *noun)} of {len(self.population):,}, drawn at random, seed {self.seed}"
        if len(self.strata) > 1:
            text += f"; {len(self.strata)} strata by {self.by}, {self.allocation}"
        return text

    def table(self) -> Table:
        """Return the sample: each unit with its stratum and its probability."""
        strata = len(self.strata) > 1
        ids = ["query", "doc"][: _IDS[self.kind]]
        rows: list[list[Cell]] = [
            [*unit, *([self.stratum_of[unit]] if strata else []), self.probability_of[unit]]
            for unit in self.drawn
        ]
        columns = [*ids, *(["stratum"] if strata else []), "probability"]
        return Table(columns, rows, notes=[self.summary])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in the file."""

        def plain(units: Sequence[Unit]) -> list[Any]:
            return [unit[0] if self.kind == QUERIES else list(unit) for unit in units]

        return {
            "format": _FORMAT,
            "kind": self.kind,
            "seed": self.seed,
            "allocation": self.allocation,
            "by": self.by,
            "depth": self.depth,
            "size": len(self.drawn),
            "strata": [
                {
                    "name": stratum.name,
                    "probability": stratum.probability,
                    "drawn": plain(stratum.drawn),
                    "population": plain(stratum.population),
                }
                for stratum in self.strata
            ],
        }

    def to_json(self) -> str:
        """Return everything as JSON, as in the file."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False)

    def _id_types(self) -> Mapping[str, IdType]:
        types = {"query": self.query_type, "doc": self.doc_type}
        return {name: types[name] for name in ["query", "doc"][: _IDS[self.kind]]}

    def __str__(self) -> str:
        table = self.table()
        more = len(table.rows) - _SHOWN
        notes = [f"… and {more} more", *table.notes] if more > 0 else table.notes
        return as_text(Table(table.columns, table.rows[:_SHOWN], table.digits, notes=notes))

    def __repr__(self) -> str:
        return f"SampleDesign({self.summary})"


def _ordered(units: Any) -> list[Unit]:
    """Return units sorted by query id, then by document id."""
    listed = list(units)
    places = {query: at for at, query in enumerate(in_order({unit[0] for unit in listed}))}
    return sorted(listed, key=lambda unit: (places[unit[0]], unit[1:]))


def draw(
    strata: Mapping[str, Sequence[Unit]], size: int, *, allocation: str, seed: int, least: int
) -> tuple[SampledStratum, ...]:
    """Draw from each stratum without replacement, with equal probabilities within it.

    Args:
        strata: the units of each stratum.
        size: the number of units to draw.
        allocation: a key of `ALLOCATIONS`.
        seed: the same seed draws the same units, whatever their order.
        least: the fewest units drawn from each stratum.
    """
    ordered = {name: _ordered(strata[name]) for name in sorted(strata)}
    sizes = np.array([len(units) for units in ordered.values()], np.int64)
    counts = _allocated(sizes, size, allocation, least)
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed)))
    sampled = []
    for (name, units), count in zip(ordered.items(), counts.tolist(), strict=True):
        chosen = np.sort(rng.permutation(len(units))[:count]).tolist()
        sampled.append(SampledStratum(name, tuple(units), tuple(units[at] for at in chosen)))
    return tuple(sampled)


def _allocated(sizes: Ints, size: int, allocation: str, least: int) -> Ints:
    """Return the number to draw from each stratum (h,), rounding quotas to the right total."""
    quotas = (
        size * sizes / sizes.sum()
        if allocation == "proportional"
        else np.full(sizes.size, size / sizes.size)
    )
    fewest = np.minimum(least, sizes)
    counts: Ints = np.clip(np.floor(quotas).astype(np.int64), fewest, sizes)
    while (short := size - int(counts.sum())) != 0:
        step = 1 if short > 0 else -1
        possible = counts < sizes if step > 0 else counts > fewest
        # The stratum farthest from its quota comes first; among equals, the first one.
        counts[np.argmax(np.where(possible, step * (quotas - counts), -np.inf))] += step
    return counts


def read_design(design: object) -> SampleDesign:
    """Read a design: the result of `sample_queries`, its file, or the file's dict."""
    if isinstance(design, SampleDesign):
        return design
    where = "design"
    if isinstance(design, str | os.PathLike):
        where = path_of(design)
        with Session() as session, opened(str(plain_file(where, session).path)) as file:
            content = file.read()
        try:
            design = json.loads(content)
        except (ValueError, RecursionError):
            raise _no_design(where, "no JSON") from None
    if not isinstance(design, Mapping) or design.get("format") != _FORMAT:
        raise _no_design(where, "something else")
    try:
        read = _from_dict(design)
    except (KeyError, TypeError, ValueError) as problem:
        raise _no_design(where, f"a damaged design ({type(problem).__name__}: {problem})") from None
    _warn_of_chosen(read, where)
    return read


def _no_design(where: str, actual: str) -> InputError:
    hint = "gf.judging.sample_queries(…).write('design.json') and gainful sample --design FILE write one."
    return InputError(where, "the design of a sample", actual, hint)


def _from_dict(content: Mapping[str, Any]) -> SampleDesign:
    kind = content["kind"]
    ids = _IDS[kind]

    def units(rows: Sequence[Any]) -> tuple[Unit, ...]:
        listed = tuple((row,) if ids == 1 else tuple(row) for row in rows)
        for unit in listed:
            if len(unit) != ids or not all(isinstance(part, str) for part in unit):
                raise ValueError(f"{shown(unit)} in it")
        return listed

    strata = tuple(
        SampledStratum(str(row["name"]), units(row["population"]), units(row["drawn"]))
        for row in content["strata"]
    )
    every = [unit for stratum in strata for unit in stratum.population]
    if not every or len({*every}) < len(every):
        raise ValueError("ids that are missing or repeated")
    if any(not {*s.drawn} <= {*s.population} or not s.drawn for s in strata):
        raise ValueError("a stratum with units of another one, or with nothing drawn")
    if content["allocation"] not in ALLOCATIONS or int(content["seed"]) < 0:
        raise ValueError("an invalid allocation or seed")
    depth = content["depth"]
    design = SampleDesign(
        kind,
        strata,
        str(content["by"]),
        str(content["allocation"]),
        int(content["seed"]),
        None if depth is None else int(depth),
    )
    _refuse_miscounted(content, design)
    return design


def _refuse_miscounted(content: Mapping[str, Any], design: SampleDesign) -> None:
    """Reject sizes or probabilities that don't match the sample, and units drawn twice."""
    if len({*design.drawn}) < len(design.drawn):
        raise ValueError("a unit that was drawn twice")
    if content["size"] != len(design.drawn):
        raise ValueError(f"size {shown(content['size'])}, and {len(design.drawn)} drawn")
    for stratum, row in zip(design.strata, content["strata"], strict=True):
        if row["probability"] != stratum.probability:
            raise ValueError(f"probability {shown(row['probability'])}, not {stratum.probability}")


def _warn_of_chosen(design: SampleDesign, where: str) -> None:
    """Warn if the seed does not reproduce the sample.

    This is not an error, since another version of NumPy may draw differently, and the estimates use
    the sample itself.
    """
    again = draw(
        {stratum.name: stratum.population for stratum in design.strata},
        len(design.drawn),
        allocation=design.allocation,
        seed=design.seed,
        least=least_of_each(design.kind, len(design.strata)),
    )
    if {unit for stratum in again for unit in stratum.drawn} != {*design.drawn}:
        warning = f"{where}: the seed {design.seed} does not reproduce this sample. Was the file changed, or drawn with another "
        warn(f"{warning}version of NumPy? Intervals are valid only for a random sample.")


def least_of_each(kind: str, strata: int) -> int:
    """Return the fewest units drawn from each stratum: two queries, since one has no variance."""
    return FEWEST if kind == QUERIES and strata > 1 else 1
