"""`SpendingLimit`: limits on the calls to a model and their cost, which are never exceeded."""

import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from gainful.integrations.calling.parallel_calls import UnansweredError
from gainful.judging.assessors.model_endpoint import Reply

_MILLION = 1_000_000
_AROUND_A_PROMPT = 16  # tokens that a server may add to it
_OF_OUTPUT = ("max_completion_tokens", "max_tokens")
_LONGER = 2  # times the longest answer so far, the assumed limit without a parameter


class Prices(NamedTuple):
    """Prices of calls: per million tokens in, per million out, and per call."""

    tokens_in: float = 0.0
    tokens_out: float = 0.0
    call: float = 0.0

    def of(self, tokens_in: float, tokens_out: float, calls: int = 1) -> float:
        """Return the cost of tokens and calls.

        >>> Prices(2.0, 10.0, 0.5).of(1_000_000, 100_000, calls=4)
        5.0
        """
        tokens = tokens_in * self.tokens_in + tokens_out * self.tokens_out
        return tokens / _MILLION + calls * self.call


class Expected(NamedTuple):
    """The largest expected use of a pending call."""

    size: int
    cost: float


class SpendingLimit:
    """Lets calls of all threads pass while they fit the limits.

    The expected cost of a call follows from the longest answer so far, or from a token limit among
    the parameters; until one is known, calls are made one at a time. A pending call counts with its
    expected cost, and then with the server's counts.

    Attributes:
        reached: the name of the limit that the next call would have exceeded, or None.
    """

    def __init__(
        self,
        *,
        max_calls: int | None,
        max_cost: float | None,
        prices: Prices,
        parameters: Mapping[str, object],
    ) -> None:
        self._most_calls, self._most_cost, self._prices = max_calls, max_cost, prices
        limits = [parameters.get(name) for name in _OF_OUTPUT]
        self._most_out = max((limit for limit in limits if isinstance(limit, int)), default=None)
        self._longest_out: int | None = None
        self._tokens_a_byte = 0.0
        self._calls = self._on_the_way = 0
        self._cost = self._expected = 0.0
        self._changed = threading.Condition()
        self.reached: str | None = None

    def take(self, prompts: Sequence[str]) -> Expected | None:
        """Wait until a call fits besides the pending ones; return None if no more calls fit."""
        with self._changed:
            while self.reached is None:
                if self._most_calls is not None and self._calls >= self._most_calls:
                    self.reached = "max_calls"
                    break
                if self._most_cost is None:
                    self._calls += 1
                    return Expected(0, 0.0)
                expected = self._expect(prompts)
                is_alone = self._on_the_way == 0
                if self._cost + self._expected + expected.cost <= self._most_cost and (
                    is_alone or self._is_bounded
                ):
                    self._calls += 1
                    self._on_the_way += 1
                    self._expected += expected.cost
                    return expected
                if is_alone:
                    self.reached = "max_cost"
                    break
                self._changed.wait()
            self._changed.notify_all()
            return None

    def settle(self, expected: Expected, outcome: Sequence[Reply] | UnansweredError) -> None:
        """Count a call's use; a server may charge for calls that it neither answers nor rejects."""
        if self._most_cost is None:
            return
        with self._changed:
            self._on_the_way -= 1
            self._expected -= expected.cost
            if isinstance(outcome, UnansweredError):
                self._cost += 0.0 if outcome.refused else expected.cost
            else:
                tokens_in = sum(reply.tokens_in for reply in outcome)
                tokens_out = sum(reply.tokens_out for reply in outcome)
                if tokens_in or tokens_out:
                    self._cost += self._prices.of(tokens_in, tokens_out)
                    self._tokens_a_byte = max(self._tokens_a_byte, tokens_in / expected.size)
                    self._longest_out = max(self._longest_out or 0, tokens_out)
                else:  # it doesn't count tokens
                    self._longest_out = max(
                        self._longest_out or 0, _size(reply.text for reply in outcome)
                    )
                    self._cost += max(expected.cost, self._prices.of(0, self._longest_out))
            self._changed.notify_all()

    @property
    def _is_bounded(self) -> bool:
        """Whether the size of an answer has a known limit."""
        has_bound = self._most_out is not None or self._longest_out is not None
        return has_bound or self._prices.tokens_out == 0

    def _expect(self, prompts: Sequence[str]) -> Expected:
        size = max(1, _size(prompts))
        # A token is at least one byte; after the first answers, the ratio can be estimated.
        tokens_in = size * (self._tokens_a_byte or 1.0) + _AROUND_A_PROMPT
        tokens_out = self._most_out
        if tokens_out is None:
            tokens_out = _LONGER * (self._longest_out or 0)
        return Expected(size, self._prices.of(tokens_in, tokens_out))


def _size(texts: Iterable[str]) -> int:
    return sum(len(text.encode(errors="replace")) for text in texts)
