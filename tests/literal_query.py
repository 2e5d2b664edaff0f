"""What the literal formulas share: a query with its list, and what its documents are worth."""

from fractions import Fraction

import literal

FORMULAS = {}


def formula(*names):
    """Register the function that follows under the names of its families."""

    def register(function):
        for name in names:
            FORMULAS[name] = function
        return function

    return register


class Query:
    """A list and the judgments of its query, with the counts that the definitions speak of."""

    def __init__(self, listed, unseen, k, negative):
        self.listed = list(listed)
        self._relevant = {}
        self.judged = [grade for grade in listed if grade is not None] + list(unseen)
        self.unseen = list(unseen)
        self.k = k
        self.negative = negative
        self.top = self.listed if k is None else self.listed[:k]

    def hits(self, rel, depth=None):
        """How many of the first documents are relevant."""
        if rel not in self._relevant:  # looked at once: measures ask at every rank
            self._relevant[rel] = [relevant(grade, rel) for grade in self.listed]
        return sum(self._relevant[rel][: self.k if depth is None else depth])

    def relevant(self, rel):
        """R: how many documents are relevant, retrieved or not."""
        return sum(relevant(grade, rel) for grade in self.judged)

    def gains(self, gain):
        return [self.gain(grade, gain) for grade in self.listed]

    def gain(self, grade, gain):
        return 0.0 if grade is None else literal.gain_of(gain, grade, self.negative)

    def ideal(self, gain):
        """The positive gains of all judged documents, the highest first."""
        gains = (self.gain(grade, gain) for grade in self.judged)
        return sorted((worth for worth in gains if worth > 0), reverse=True)


def relevant(grade, rel):
    return grade is not None and grade >= rel


def marked_judged(grade):
    """As trec_eval has it: a negative grade marks a document that was not judged."""
    return grade is not None and grade >= 0


def not_relevant(grade, rel):
    return marked_judged(grade) and grade < rel


def dcg(gains, depth=None, discount="log", base=2):
    return literal.cumulated(gains, discount, base, depth)


def worths(q, rel, max):  # noqa: A002 - the word of the catalogue
    """What each document of the list is worth, exactly, from 0 to 1."""
    if max == "none":
        return [Fraction(relevant(grade, rel)) for grade in q.listed]
    scale = Fraction(max) if max != "query" else Fraction(_highest(q.judged))
    shares = [Fraction(grade or 0) / scale for grade in q.listed]
    return [min(Fraction(1), share) if share > 0 else Fraction(0) for share in shares]


def _highest(grades):
    return max([1.0, *grades])
