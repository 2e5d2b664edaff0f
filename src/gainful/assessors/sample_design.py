"""`SampleDesign`: which queries or documents were drawn for people to judge, from which, and how; and its file."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gainful.array_types import Ints
from gainful.errors import InputError, warn
from gainful.inputs.cores import cached_property
from gainful.inputs.duckdb_engine import Session
from gainful.inputs.files import opened, path_of, plain_file
from gainful.inputs.id_types import UNTYPED, IdType
from gainful.inputs.identifiers import in_order
from gainful.message_texts import counted, shown
from gainful.rendering.table_formats import Cell, Table, as_text
from gainful.writing.result_base import Result

Unit = tuple[str, ...]
"""A query, or a query and a document of it."""

QUERIES, DOCUMENTS = "queries", "documents"
ALLOCATIONS: Mapping[str, str] = {
    "proportional": "as its share of all",
    "equal": "as many as every other",
}
"""How many are drawn from each stratum."""
ALL = "(all)"
"""The name of the one stratum where there are none."""
_FORMAT = "gainful sample 1"
FEWEST = 2
"""Queries of a stratum: fewer have no spread."""
_SHOWN = 20  # rows that are printed
_IDS = {QUERIES: 1, DOCUMENTS: 2}  # of each unit


@dataclass(frozen=True, slots=True)
class SampledStratum:
    """A part of what was drawn from.

    Attributes:
        name: of the stratum.
        population: (N,) what it consists of, by id.
        drawn: (n,) what was drawn of it.
    """

    name: str
    population: tuple[Unit, ...]
    drawn: tuple[Unit, ...]

    @property
    def probability(self) -> float:
        """The probability of each to be drawn, n/N."""
        return len(self.drawn) / len(self.population)


@dataclass(frozen=True, eq=False, repr=False)
class SampleDesign(Result):
    """What was drawn at random for people to judge, and how, for `calibrate` to read.

    `write("design.json")` keeps all of it; the other formats have what was drawn alone. There is no date in it: the same
    call gives the same file.

    Attributes:
        kind: `queries` or `documents`.
        strata: each with what it consists of, and what was drawn of it.
        by: what the strata are; empty where there are none.
        allocation: how many were drawn from each, `proportional` or `equal`.
        seed: that was drawn with.
        depth: of documents, the rank down to which they were taken from runs; None else.
        query_type: what the ids of queries were, before they were text.
        doc_type: what those of documents were.
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
        """All that could be drawn, by id."""
        return tuple(_ordered(unit for each in self.strata for unit in each.population))

    @cached_property
    def drawn(self) -> tuple[Unit, ...]:
        """What was drawn, by id."""
        return tuple(_ordered(unit for each in self.strata for unit in each.drawn))

    @property
    def queries(self) -> tuple[str, ...]:
        """The queries that were drawn, or of which documents were."""
        return tuple(dict.fromkeys(unit[0] for unit in self.drawn))

    @cached_property
    def stratum_of(self) -> Mapping[Unit, str]:
        """The name of the stratum of each that could be drawn."""
        return {unit: each.name for each in self.strata for unit in each.population}

    @cached_property
    def probability_of(self) -> Mapping[Unit, float]:
        """The probability of each to be drawn."""
        return {unit: each.probability for each in self.strata for unit in each.population}

    @property
    def summary(self) -> str:
        """The counts in a line."""
        noun = ("query", "queries") if self.kind == QUERIES else ("document",)
        text = f"{counted(len(self.drawn), *noun)} of {len(self.population):,}, drawn at random, seed {self.seed}"
        if len(self.strata) > 1:
            text += f"; {len(self.strata)} strata by {self.by}, {self.allocation}"
        return text

    def table(self) -> Table:
        """Return what was drawn: each with its stratum and its probability."""
        strata = len(self.strata) > 1
        ids = ["query", "doc"][: _IDS[self.kind]]
        rows: list[list[Cell]] = [
            [*unit, *([self.stratum_of[unit]] if strata else []), self.probability_of[unit]]
            for unit in self.drawn
        ]
        columns = [*ids, *(["stratum"] if strata else []), "probability"]
        return Table(columns, rows, notes=[self.summary])

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values, as the file has it."""

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
                    "name": each.name,
                    "probability": each.probability,
                    "drawn": plain(each.drawn),
                    "population": plain(each.population),
                }
                for each in self.strata
            ],
        }

    def to_json(self) -> str:
        """Return all of it as JSON, as the file has it."""
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
    """Return units by the ids of their queries, then by those of their documents."""
    found = list(units)
    places = {query: at for at, query in enumerate(in_order({unit[0] for unit in found}))}
    return sorted(found, key=lambda unit: (places[unit[0]], unit[1:]))


def draw(
    strata: Mapping[str, Sequence[Unit]], size: int, *, allocation: str, seed: int, least: int
) -> tuple[SampledStratum, ...]:
    """Draw from each stratum without replacement, every one of it with the same probability.

    Args:
        strata: what each consists of.
        size: how many to draw.
        allocation: a key of `ALLOCATIONS`.
        seed: the same draws the same, whatever order things come in.
        least: how many are drawn from each stratum at least.
    """
    ordered = {name: _ordered(strata[name]) for name in sorted(strata)}
    sizes = np.array([len(units) for units in ordered.values()], np.int64)
    counts = _allocated(sizes, size, allocation, least)
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed)))
    found = []
    for (name, units), count in zip(ordered.items(), counts.tolist(), strict=True):
        chosen = np.sort(rng.permutation(len(units))[:count]).tolist()
        found.append(SampledStratum(name, tuple(units), tuple(units[at] for at in chosen)))
    return tuple(found)


def _allocated(sizes: Ints, size: int, allocation: str, least: int) -> Ints:
    """Return how many to draw from each stratum (h,): the nearest to the quotas that add up."""
    quotas = (
        size * sizes / sizes.sum()
        if allocation == "proportional"
        else np.full(sizes.size, size / sizes.size)
    )
    fewest = np.minimum(least, sizes)
    found: Ints = np.clip(np.floor(quotas).astype(np.int64), fewest, sizes)
    while (short := size - int(found.sum())) != 0:
        step = 1 if short > 0 else -1
        possible = found < sizes if step > 0 else found > fewest
        # The stratum that is farthest from its quota comes first; of several, the first.
        found[np.argmax(np.where(possible, step * (quotas - found), -np.inf))] += step
    return found


def read_design(given: object) -> SampleDesign:
    """Read a design: as `sample_queries` returns it, as its file, or as the dict of that."""
    if isinstance(given, SampleDesign):
        return given
    where = "design"
    if isinstance(given, str | os.PathLike):
        where = path_of(given)
        with Session() as session, opened(str(plain_file(where, session).path)) as file:
            content = file.read()
        try:
            given = json.loads(content)
        except (ValueError, RecursionError):
            raise _no_design(where, "no JSON") from None
    if not isinstance(given, Mapping) or given.get("format") != _FORMAT:
        raise _no_design(where, "something else")
    try:
        found = _from_dict(given)
    except (KeyError, TypeError, ValueError) as problem:
        raise _no_design(
            where, f"one that is damaged ({type(problem).__name__}: {problem})"
        ) from None
    _warn_of_chosen(found, where)
    return found


def _no_design(where: str, found: str) -> InputError:
    hint = "gf.sample_queries(…).write('design.json') and gainful sample --design FILE write one."
    return InputError(where, "the design of a sample", found, hint)


def _from_dict(given: Mapping[str, Any]) -> SampleDesign:
    kind = given["kind"]
    ids = _IDS[kind]

    def units(rows: Sequence[Any]) -> tuple[Unit, ...]:
        found = tuple((row,) if ids == 1 else tuple(row) for row in rows)
        for unit in found:
            if len(unit) != ids or not all(isinstance(each, str) for each in unit):
                raise ValueError(f"{shown(unit)} in it")
        return found

    strata = tuple(
        SampledStratum(str(each["name"]), units(each["population"]), units(each["drawn"]))
        for each in given["strata"]
    )
    every = [unit for each in strata for unit in each.population]
    if not every or len({*every}) < len(every):
        raise ValueError("ids that are missing or repeated")
    if any(not {*each.drawn} <= {*each.population} or not each.drawn for each in strata):
        raise ValueError("a stratum with what is not of it, or with nothing drawn")
    if given["allocation"] not in ALLOCATIONS or int(given["seed"]) < 0:
        raise ValueError("an allocation or a seed that there is not")
    depth = given["depth"]
    found = SampleDesign(
        kind,
        strata,
        str(given["by"]),
        str(given["allocation"]),
        int(given["seed"]),
        None if depth is None else int(depth),
    )
    _refuse_miscounted(given, found)
    return found


def _refuse_miscounted(given: Mapping[str, Any], found: SampleDesign) -> None:
    """Refuse a size, or a probability of a stratum, that is not that of what was drawn, and what was drawn twice."""
    if len({*found.drawn}) < len(found.drawn):
        raise ValueError("something that was drawn twice")
    if given["size"] != len(found.drawn):
        raise ValueError(f"size {shown(given['size'])}, and {len(found.drawn)} drawn")
    for each, told in zip(found.strata, given["strata"], strict=True):
        if told["probability"] != each.probability:
            raise ValueError(f"probability {shown(told['probability'])}, not {each.probability}")


def _warn_of_chosen(found: SampleDesign, where: str) -> None:
    """Warn of what the seed does not draw: something was drawn in another way, or chosen.

    No error, since another version of NumPy may draw otherwise; and the estimates go by what was drawn.
    """
    again = draw(
        {each.name: each.population for each in found.strata},
        len(found.drawn),
        allocation=found.allocation,
        seed=found.seed,
        least=least_of_each(found.kind, len(found.strata)),
    )
    if {unit for each in again for unit in each.drawn} != {*found.drawn}:
        told = f"{where}: the seed {found.seed} does not draw this sample here. Was the file changed, or drawn with another "
        warn(f"{told}version of NumPy? Without chance in what was drawn, no interval holds.")


def least_of_each(kind: str, strata: int) -> int:
    """Return how many are drawn from each stratum at least: of queries two, since one has no spread."""
    return FEWEST if kind == QUERIES and strata > 1 else 1
