"""One query with subtopics as arrays: what is judged, what was retrieved, what is ideal."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from gainful.array_types import Bools, Floats, Ints
from gainful.errors import InputError
from gainful.inputs.cores import cached_property
from gainful.kernels.subtopics import greedy_order, novelty_gains


@dataclass(frozen=True, eq=False)
class Facets:
    """The subtopics of a query that have a relevant document; the others are ignored.

    Attributes:
        listed: [rank, subtopic] whether a retrieved document is relevant.
        known: [document, subtopic] the same of all judged documents, by id descending.
        weights: (s,) of the subtopics, 1 on average.
    """

    listed: Bools
    known: Bools
    weights: Floats
    _ideals: dict[tuple[float, int], Bools] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many subtopics there are."""
        return self.weights.size

    def gains(self, alpha: float, depth: int | None) -> Floats:
        """Return the gains of the list with novelty, down to a depth."""
        return novelty_gains(self.listed[:depth], self.weights, alpha)

    def ideal_gains(self, alpha: float, depth: int | None) -> Floats:
        """Return the gains of the greedy ideal, down to a depth."""
        useful = self.known[self.known.any(axis=1)]
        deepest = useful.shape[0] if depth is None else min(depth, useful.shape[0])
        if (alpha, deepest) not in self._ideals:
            order = greedy_order(useful, self.weights, alpha, deepest)
            self._ideals[alpha, deepest] = useful[order]
        return novelty_gains(self._ideals[alpha, deepest], self.weights, alpha)


@dataclass(frozen=True, eq=False)
class Topic:
    """A judged query.

    Attributes:
        query: its id.
        judged: subtopic → document → grade.
        documents: those retrieved, in rank order.
        missing: whether the run lacks the query.
        given: weight of each subtopic; None where all are alike.
    """

    query: str
    judged: Mapping[str, Mapping[str, float]]
    documents: list[str]
    missing: bool
    given: Mapping[str, float] | None
    _facets: dict[float, Facets | None] = field(default_factory=dict)

    @cached_property
    def subtopics(self) -> list[str]:
        """The ids of all subtopics, in order."""
        return sorted(self.judged)

    @cached_property
    def known(self) -> list[str]:
        """The judged documents by id, descending: so ties of the greedy ideal go to the larger."""
        return sorted({doc for docs in self.judged.values() for doc in docs}, reverse=True)

    @cached_property
    def grades(self) -> Floats:
        """[document, subtopic] the grades of the judged documents; NaN where there is none."""
        place = {doc: row for row, doc in enumerate(self.known)}
        grades = np.full((len(self.known), len(self.subtopics)), np.nan)
        for column, subtopic in enumerate(self.subtopics):
            for doc, grade in self.judged[subtopic].items():
                grades[place[doc], column] = grade
        return grades

    @cached_property
    def places(self) -> Ints:
        """(n,) the place of each retrieved document among the judged ones; −1 if it has none."""
        place = {doc: row for row, doc in enumerate(self.known)}
        return np.array([place.get(doc, -1) for doc in self.documents], np.int64)

    def facets(self, rel: float) -> Facets | None:
        """Return the subtopics with a document of grade `rel` or a higher one; None without any."""
        if rel not in self._facets:
            relevant = self.grades >= rel  # NaN is not
            chosen: Bools = np.logical_or.reduce(relevant, axis=0)
            self._facets[rel] = None
            if chosen.any():
                known = relevant[:, chosen]
                listed = np.vstack([known, np.zeros((1, known.shape[1]), np.bool_)])[self.places]
                self._facets[rel] = Facets(listed, known, self.weights(chosen))
        return self._facets[rel]

    def weights(self, chosen: Bools) -> Floats:
        """Return the weights of some subtopics, 1 on average.

        Args:
            chosen: (s,) at least one of all subtopics.
        """
        names = [name for name, kept in zip(self.subtopics, chosen, strict=True) if kept]
        if self.given is None:
            return np.ones(len(names))
        where = f"weights, query {self.query!r}"
        for name in names:
            if name not in self.given:
                raise InputError(
                    where, "every subtopic with a relevant document", f"none for {name!r}"
                )
        weights = np.array([self.given[name] for name in names])
        largest = weights.max()
        if largest == 0:
            raise InputError(where, "a positive weight", "0 for all that have a relevant document")
        weights = weights / largest  # the sum of large weights may be infinite
        mean_one: Floats = weights * (len(names) / weights.sum())
        return mean_one
