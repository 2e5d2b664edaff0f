"""Ask many questions: several at a time, at a limited rate, with retries."""

import os
import queue
import random
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypedDict, TypeVar

from gainful import arguments
from gainful.errors import GainfulError

_FIRST_WAIT, _LONGEST_WAIT = 1.0, 60.0  # seconds between tries
_LONGEST_ASKED = 300.0  # seconds of delay that a server may request
_FIRST_FAILURES, _MOST_FAILURES = 3, 20  # consecutive failures before and after the first answer
_GRACE = 2.0  # seconds for pending calls when the work is stopped
_LOOK = 0.25  # seconds between checks for results
_MOST_AT_A_TIME, _MOST_IN_A_CALL, _MOST_TRIES = 1000, 1_000_000, 100
_AT_A_TIME = 8  # unless the service is a function
_LARGEST = 1_000_000.0  # seconds, or calls per minute


class Clock:
    """Time, which tests can replace."""

    def now(self) -> float:
        """Return the time in seconds."""
        return time.monotonic()

    def sleep(self, seconds: float, stop: threading.Event) -> None:
        """Wait, or until the work is stopped."""
        stop.wait(seconds)

    def random(self) -> float:
        """Return a number from 0 to 1."""
        return random.random()  # noqa: S311 - nothing is kept secret by it


CLOCK = Clock()


Question = TypeVar("Question", contravariant=True)
Answer = TypeVar("Answer", covariant=True)


class Service(Protocol[Question, Answer]):
    """A service that answers questions."""

    @property
    def name(self) -> str:
        """Its name in messages."""

    @property
    def identity(self) -> list[object]:
        """The identity of its answers, compared with other services."""

    def ask(self, questions: Sequence[Question], /) -> Sequence[Answer]:
        """Return the answer to each question, or raise `UnansweredError`."""

    def close(self) -> None:
        """Release its resources."""


class UnansweredError(Exception):
    """A question without an answer.

    Attributes:
        why: the reason in a few words.
        again: whether a retry may help.
        after: the delay in seconds that the server requests, if any.
        hopeless: whether no question can be answered, so that further calls are pointless.
        remedy: the advice.
        refused: whether the service did no work, so that it charges nothing.
    """

    def __init__(
        self,
        why: str,
        *,
        again: bool = False,
        after: float | None = None,
        hopeless: bool = False,
        remedy: str = "",
        refused: bool = False,
    ) -> None:
        super().__init__(why)
        self.why, self.again, self.after = why, again, after
        self.hopeless, self.remedy, self.refused = hopeless, remedy, refused


@dataclass(frozen=True, slots=True)
class Manner:
    """The settings for calling a service.

    Attributes:
        concurrency: the number of simultaneous calls.
        batch: the number of questions per call.
        retries: how often a failed call is repeated.
        ask_again: how often a question is repeated if its answer is unreadable.
        per_minute: the most calls per minute; None for no limit.
    """

    concurrency: int = 1
    batch: int = 1
    retries: int = 0
    ask_again: int = 0
    per_minute: float | None = None


class CallingOptions(TypedDict, total=False):
    """How a service is called: the options that `record` and `collect_grades` share.

    Attributes:
        key_variable: the environment variable that contains the key; no key is sent if None. The key is never saved or printed.
        timeout: the time limit of a call in seconds; 30 for a search service and 120 for a model if None. A function has
            no limit.
        concurrency: the number of simultaneous calls; 8 if None, 1 for a function.
        retries: how often a failed call is repeated, after 1, 2, 4, … seconds, or as long as the server requests. If None,
            3 for a search service, 5 for a model and 0 for a function.
        cache: the path of a file that stores the answers, created if missing. Another call then sends only what has no
            answer. Use a new file when the service changes.
    """

    key_variable: str | None
    timeout: float | None
    concurrency: int | None
    retries: int | None
    cache: str | os.PathLike[str] | None


def read_manner(
    options: Mapping[str, Any],
    *,
    is_function: bool,
    retries: int,
    per_minute: float | None,
    batch: int | None = None,
    ask_again: int = 0,
) -> Manner:
    """Return how to call a service; `retries` is the default for a service that is no function."""
    threads, tries = options.get("concurrency"), options.get("retries")
    threads = (1 if is_function else _AT_A_TIME) if threads is None else threads
    tries = (0 if is_function else retries) if tries is None else tries
    size = 1 if batch is None else batch
    return Manner(
        concurrency=arguments.whole(threads, "concurrency", least=1, most=_MOST_AT_A_TIME),
        batch=arguments.whole(size, "batch", least=1, most=_MOST_IN_A_CALL),
        retries=arguments.whole(tries, "retries", least=0, most=_MOST_TRIES),
        ask_again=arguments.whole(ask_again, "ask_again", least=0, most=_MOST_TRIES),
        per_minute=per_minute,
    )


def read_positive(value: object, name: str) -> float:
    """Return a time limit or a rate: a number above 0."""
    number = arguments.number(value, name, "a number above 0", lambda number: number > 1e-6)
    return min(number, _LARGEST)


class _Pace:
    """The time of the next call, shared by all threads."""

    def __init__(self, per_minute: float | None, stop: threading.Event) -> None:
        self._between = 0.0 if per_minute is None else 60.0 / per_minute
        self._stop, self._lock = stop, threading.Lock()
        self._next = self._held = CLOCK.now()

    def wait_for_turn(self) -> None:
        while not self._stop.is_set():
            with self._lock:
                now = CLOCK.now()
                wait = self._held - now
                if wait <= 0:
                    turn = max(now, self._next)
                    self._next = turn + self._between
                    break
            CLOCK.sleep(wait, self._stop)
        else:
            return
        if turn > now:
            CLOCK.sleep(turn - now, self._stop)

    def hold(self, seconds: float) -> None:
        """Make no calls for a while, as requested by the server."""
        with self._lock:
            self._held = max(self._held, CLOCK.now() + seconds)


Asked = TypeVar("Asked")
Replied = TypeVar("Replied")
Settled = TypeVar("Settled", contravariant=True)


class Allowance(Protocol[Question, Settled]):
    """The decision whether another call may be made."""

    def take(self, questions: Sequence[Question], /) -> Any:
        """Wait until a call may be made and return its reservation; None beyond the limit."""

    def settle(self, call: Any, outcome: Sequence[Settled] | UnansweredError, /) -> None:
        """Count the result of a call."""


class Asking(Generic[Asked, Replied]):
    """The state of asking many questions: the outcomes and the number of calls.

    Attributes:
        outcomes: the outcomes of the questions so far, by their places.
        calls: the number of calls so far.
    """

    def __init__(
        self,
        service: Service[Asked, Replied],
        manner: Manner,
        *,
        is_read: Callable[[int, Replied], bool],
        keep: Callable[[int, Replied], None],
        has_answers: bool,
        unread: Collection[int] = (),
        allowance: Allowance[Asked, Replied] | None = None,
    ) -> None:
        """Prepare.

        Args:
            service: the service to ask.
            manner: the settings for calling it.
            is_read: whether the answer to the question at a place can be read.
            keep: called with each answer as soon as it arrives, by any thread.
            has_answers: whether this service has answered before.
            unread: the places of questions with an unreadable earlier answer.
            allowance: the limit of calls; questions beyond it are not asked and have no outcome.
        """
        self._allowance = allowance
        self._service, self._manner = service, manner
        self._is_read, self._keep, self._unread = is_read, keep, frozenset(unread)
        self.outcomes: dict[int, Replied | UnansweredError] = {}
        self.calls = 0
        self._stop, self._lock = threading.Event(), threading.Lock()
        self._pace = _Pace(manner.per_minute, self._stop)
        self._has_answered, self._failures = has_answers, 0
        self._end: UnansweredError | None = None

    def run(
        self,
        questions: dict[int, Asked],
        tell: Callable[[Mapping[int, Replied | UnansweredError]], None],
    ) -> None:
        """Ask questions, each with its place; call `tell` with results (or none) in this thread.

        Raises:
            GainfulError: if continuing is pointless.
        """
        places, size = [*questions], self._manner.batch
        tasks = [
            {place: questions[place] for place in places[start : start + size]}
            for start in range(0, len(places), size)
        ]
        workers = min(self._manner.concurrency, len(tasks))
        try:
            if workers <= 1:
                for task in tasks:
                    if self._end is None:
                        outcomes = self._ask(task)
                        self._take(outcomes)
                        tell(outcomes)
            else:
                self._in_threads(tasks, workers, tell)
        finally:
            self._stop.set()
            self._service.close()
        if self._end is not None:
            raise GainfulError(
                self._service.name, "an answer", self._end.why, self._end.remedy
            ) from self._end.__cause__

    def _in_threads(
        self,
        tasks: Sequence[dict[int, Asked]],
        workers: int,
        tell: Callable[[Mapping[int, Replied | UnansweredError]], None],
    ) -> None:
        todo: queue.SimpleQueue[dict[int, Asked]] = queue.SimpleQueue()
        come: queue.SimpleQueue[dict[int, Replied | UnansweredError] | BaseException] = (
            queue.SimpleQueue()
        )
        for task in tasks:
            todo.put(task)

        def work() -> None:
            try:
                while not self._stop.is_set():
                    come.put(self._ask(todo.get_nowait()))
            except queue.Empty:
                return
            except BaseException as problem:  # noqa: BLE001 - raised again by who waits
                come.put(problem)

        # Daemon threads: ending the program does not wait for answers.
        threads = [threading.Thread(target=work, daemon=True) for _ in range(workers)]
        try:
            for thread in threads:
                thread.start()
            self._take_all(come, len(tasks), tell)
        finally:
            self._stop.set()
            end = time.monotonic() + _GRACE
            for thread in threads:
                if thread.ident is not None:  # it was started
                    thread.join(max(0.0, end - time.monotonic()))

    def _take_all(
        self,
        come: "queue.SimpleQueue[dict[int, Replied | UnansweredError] | BaseException]",
        left: int,
        tell: Callable[[Mapping[int, Replied | UnansweredError]], None],
    ) -> None:
        while left and self._end is None:
            try:
                outcomes = come.get(timeout=_LOOK)
            except queue.Empty:
                tell({})
                continue
            if isinstance(outcomes, BaseException):
                raise outcomes
            self._take(outcomes)
            left -= 1
            tell(outcomes)

    def _take(self, outcomes: dict[int, Replied | UnansweredError]) -> None:
        """Record the result of a call, and whether to continue."""
        if not outcomes:  # it was not made
            return
        self.outcomes |= outcomes
        problem = next((o for o in outcomes.values() if isinstance(o, UnansweredError)), None)
        if problem is None:
            self._has_answered, self._failures = True, 0
        # A question rejected for its content says nothing about the others.
        elif problem.again or not self._has_answered:
            self._failures += 1
            if self._failures >= (_MOST_FAILURES if self._has_answered else _FIRST_FAILURES):
                self._give_up(problem)

    def _give_up(self, problem: UnansweredError) -> None:
        with self._lock:
            self._end = self._end or problem
            self._stop.set()

    def _ask(self, task: dict[int, Asked]) -> dict[int, Replied | UnansweredError]:
        """Send some questions in one call, and repeat questions with unreadable answers."""
        replies: dict[int, Replied | UnansweredError] = {}
        left = task
        for turn in range(1, 2 + self._manner.ask_again):
            outcomes = self._tried([*left.values()])
            if outcomes is None:
                break
            for place, outcome in zip(left, outcomes, strict=True):
                if not isinstance(outcome, UnansweredError):
                    self._keep(place, outcome)
                    replies[place] = outcome
                elif place not in replies:
                    replies[place] = outcome
            left = {
                place: question
                for place, question in left.items()
                if not isinstance(reply := replies[place], UnansweredError)
                and not self._is_read(place, reply)
                and turn + (place in self._unread) <= self._manner.ask_again
            }
            if not left or self._stop.is_set():
                break
        return replies

    def _tried(self, questions: Sequence[Asked]) -> Sequence[Replied | UnansweredError] | None:
        """Return the outcomes of a call with retries; None if it is not allowed."""
        last: UnansweredError | None = None
        for turn in range(1 + self._manner.retries):
            self._pace.wait_for_turn()
            if self._stop.is_set():
                break
            call = None if self._allowance is None else self._allowance.take(questions)
            if self._allowance is not None and call is None:
                return None if last is None else [last] * len(questions)
            try:
                replies = self._answered_once(questions, call)
            except UnansweredError as problem:
                last = problem
                with self._lock:
                    self.calls += 1
                if problem.hopeless:  # so that other threads need not find out themselves
                    self._give_up(problem)
                if problem.after is not None and problem.after > _LONGEST_ASKED:
                    why = f"{problem.why}, and asks to wait for {problem.after:,.0f} s"
                    return [UnansweredError(why, again=True)] * len(questions)
                if turn == self._manner.retries or not problem.again:
                    return [problem] * len(questions)
                self._wait(turn, problem)
                continue
            with self._lock:
                self.calls += 1
            return replies
        return [UnansweredError("not asked: the work was stopped")] * len(questions)

    def _answered_once(self, questions: Sequence[Asked], call: object) -> Sequence[Replied]:
        """Ask once, and count the use."""
        outcome: Sequence[Replied] | UnansweredError = UnansweredError("no answer")
        try:
            outcome = self._service.ask(questions)
        except UnansweredError as problem:
            outcome = problem
            raise
        finally:
            if self._allowance is not None:
                self._allowance.settle(call, outcome)
        return outcome

    def _wait(self, turn: int, problem: UnansweredError) -> None:
        """Wait before a retry: twice as long each time, with random variation."""
        if problem.after is not None:
            self._pace.hold(problem.after)
            CLOCK.sleep(problem.after * (1 + 0.1 * CLOCK.random()), self._stop)
            return
        longest = min(_LONGEST_WAIT, _FIRST_WAIT * 2**turn)
        CLOCK.sleep(longest * (0.5 + 0.5 * CLOCK.random()), self._stop)


def duration(seconds: float) -> str:
    """Format a duration.

    >>> duration(12), duration(200), duration(10_000)
    ('12 s', '3 min', '2.8 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
