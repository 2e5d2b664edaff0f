"""Ask a model many prompts: several at a time, at a limited rate, again where that may help."""

import queue
import random
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from gainful.assessors.model_endpoint import Reply, UnansweredError, readable
from gainful.errors import GainfulError, InputError
from gainful.message_texts import counted, shortened, shown

_FIRST_WAIT, _LONGEST_WAIT = 1.0, 60.0  # seconds between tries
_LONGEST_ASKED = 300.0  # seconds that a server may ask for
_FIRST_FAILURES, _MOST_FAILURES = 3, 20  # in a row, before and after the first answer
_GRACE = 2.0  # seconds for what is on its way when the work is stopped
_LOOK = 0.25  # seconds between two looks at what has come
_LONGEST_REASON = 300


class Clock:
    """Time, as the tests replace it."""

    def now(self) -> float:
        """Return the time in seconds."""
        return time.monotonic()

    def sleep(self, seconds: float, stop: threading.Event) -> None:
        """Wait, but no longer than until the work is stopped."""
        stop.wait(seconds)

    def random(self) -> float:
        """Return a number from 0 to 1."""
        return random.random()  # noqa: S311 - nothing is kept secret by it


CLOCK = Clock()


class Model(Protocol):
    """What answers prompts."""

    @property
    def name(self) -> str:
        """What messages call it."""

    @property
    def identity(self) -> list[object]:
        """What tells its answers from those of others."""

    def ask(self, prompts: Sequence[str]) -> list[Reply]:
        """Return the answer to each prompt, or raise `UnansweredError`."""

    def close(self) -> None:
        """Let go of what it holds."""


class FunctionModel:
    """A function of Python: from a prompt to an answer, or from a list of prompts to as many answers."""

    def __init__(self, function: Callable[..., Any], called: str, *, several: bool) -> None:
        self._function, self._called, self._several = function, called, several

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"model {self._called}"

    @property
    def identity(self) -> list[object]:
        """Its name: nobody can see what is in it."""
        return ["function", self._called]

    def ask(self, prompts: Sequence[str]) -> list[Reply]:
        """Return the answer to each prompt."""
        try:
            given = self._function([*prompts]) if self._several else [self._function(prompts[0])]
        except GainfulError:
            raise
        except Exception as problem:  # whatever a model raises
            why = shortened(f"{type(problem).__name__}: {problem}", _LONGEST_REASON)
            raise UnansweredError(why, again=True) from problem
        if not isinstance(given, list | tuple) or len(given) != len(prompts):
            found = (
                counted(len(given), "answer") if isinstance(given, list | tuple) else shown(given)
            )
            raise InputError("model", f"a list of {counted(len(prompts), 'answer')}", found)
        for answer in given:
            if not isinstance(answer, str):
                raise InputError("model", "a text as answer to a prompt", shown(answer))
        return [Reply(readable(str(answer))) for answer in given]

    def close(self) -> None:
        """Hold nothing."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How a model is asked.

    Attributes:
        concurrency: how many calls at a time.
        batch: how many prompts in a call.
        retries: how often a call that failed is tried again.
        ask_again: how often a prompt is asked again whose answer cannot be read.
        per_minute: the most calls a minute; None for no limit.
    """

    concurrency: int = 1
    batch: int = 1
    retries: int = 0
    ask_again: int = 0
    per_minute: float | None = None


class _Pace:
    """When the next call may be made, for all threads together."""

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
        """Make no call for a while: the server has asked for it."""
        with self._lock:
            self._held = max(self._held, CLOCK.now() + seconds)


@dataclass(slots=True)
class Tally:
    """What was asked and what it took."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


Outcome = Reply | UnansweredError
Tell = Callable[[Mapping[int, Outcome]], None]


class Asking:
    """The asking of many prompts: what came of each, and what it took.

    Attributes:
        outcomes: of the prompts that were asked, by their places.
        tally: of all calls so far.
    """

    def __init__(
        self,
        model: Model,
        manner: Manner,
        *,
        is_read: Callable[[int, Reply], bool],
        keep: Callable[[int, Reply], None],
        has_answers: bool,
        unread: Collection[int] = (),
    ) -> None:
        """Prepare.

        Args:
            model: what is asked.
            manner: how.
            is_read: whether the answer to the prompt at a place can be read.
            keep: called with each answer as soon as it is there, by any thread.
            has_answers: whether this model has answered before.
            unread: the places of prompts that were asked before, with an answer that cannot be read.
        """
        self._model, self._manner = model, manner
        self._is_read, self._keep, self._unread = is_read, keep, frozenset(unread)
        self.outcomes: dict[int, Outcome] = {}
        self.tally = Tally()
        self._stop, self._lock = threading.Event(), threading.Lock()
        self._pace = _Pace(manner.per_minute, self._stop)
        self._has_answered, self._failures = has_answers, 0
        self._end: UnansweredError | None = None

    def run(self, prompts: dict[int, str], tell: Tell) -> None:
        """Ask prompts, each with its place; call `tell` with what came, and now and then with nothing, in this thread.

        Raises:
            GainfulError: where going on has no use.
        """
        places, size = [*prompts], self._manner.batch
        tasks = [
            {place: prompts[place] for place in places[start : start + size]}
            for start in range(0, len(places), size)
        ]
        workers = min(self._manner.concurrency, len(tasks))
        try:
            if workers <= 1:
                for task in tasks:
                    if self._end is None:
                        found = self._ask(task)
                        self._take(found)
                        tell(found)
            else:
                self._in_threads(tasks, workers, tell)
        finally:
            self._stop.set()
            self._model.close()
        if self._end is not None:
            raise GainfulError(
                self._model.name, "an answer", self._end.why, self._end.remedy
            ) from self._end.__cause__

    def _in_threads(self, tasks: Sequence[dict[int, str]], workers: int, tell: Tell) -> None:
        todo: queue.SimpleQueue[dict[int, str]] = queue.SimpleQueue()
        come: queue.SimpleQueue[dict[int, Outcome] | BaseException] = queue.SimpleQueue()
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

        # Daemons: who ends the program does not wait for an answer.
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
        come: "queue.SimpleQueue[dict[int, Outcome] | BaseException]",
        left: int,
        tell: Tell,
    ) -> None:
        while left and self._end is None:
            try:
                found = come.get(timeout=_LOOK)
            except queue.Empty:
                tell({})
                continue
            if isinstance(found, BaseException):
                raise found
            self._take(found)
            left -= 1
            tell(found)

    def _take(self, found: dict[int, Outcome]) -> None:
        """Note what came of a call, and whether to go on."""
        self.outcomes |= found
        problem = next((each for each in found.values() if not isinstance(each, Reply)), None)
        if problem is None:
            self._has_answered, self._failures = True, 0
        # A prompt that is refused for what is in it says nothing of the others.
        elif problem.again or not self._has_answered:
            self._failures += 1
            if self._failures >= (_MOST_FAILURES if self._has_answered else _FIRST_FAILURES):
                self._give_up(problem)

    def _give_up(self, problem: UnansweredError) -> None:
        with self._lock:
            self._end = self._end or problem
            self._stop.set()

    def _ask(self, task: dict[int, str]) -> dict[int, Outcome]:
        """Ask some prompts in one call, and those whose answers cannot be read again."""
        found: dict[int, Outcome] = {}
        left = task
        for turn in range(1, 2 + self._manner.ask_again):
            for place, outcome in zip(left, self._tried([*left.values()]), strict=True):
                if isinstance(outcome, Reply):
                    self._keep(place, outcome)
                if isinstance(outcome, Reply) or place not in found:
                    found[place] = outcome
            left = {
                place: prompt
                for place, prompt in left.items()
                if isinstance(reply := found[place], Reply)
                and not self._is_read(place, reply)
                and turn + (place in self._unread) <= self._manner.ask_again
            }
            if not left or self._stop.is_set():
                break
        return found

    def _tried(self, prompts: Sequence[str]) -> Sequence[Outcome]:
        for turn in range(1 + self._manner.retries):
            self._pace.wait_for_turn()
            if self._stop.is_set():
                break
            try:
                replies = self._model.ask(prompts)
            except UnansweredError as problem:
                with self._lock:
                    self.tally.calls += 1
                if problem.hopeless:  # the other threads need not find that out, too
                    self._give_up(problem)
                if problem.after is not None and problem.after > _LONGEST_ASKED:
                    why = f"{problem.why}, and asks to wait for {problem.after:,.0f} s"
                    return [UnansweredError(why, again=True)] * len(prompts)
                if turn == self._manner.retries or not problem.again:
                    return [problem] * len(prompts)
                self._wait(turn, problem)
                continue
            with self._lock:
                self.tally.calls += 1
                self.tally.tokens_in += sum(reply.tokens_in for reply in replies)
                self.tally.tokens_out += sum(reply.tokens_out for reply in replies)
            return replies
        return [UnansweredError("not asked: the work was stopped")] * len(prompts)

    def _wait(self, turn: int, problem: UnansweredError) -> None:
        """Wait before another try: twice as long each time, and not all threads equally long."""
        if problem.after is not None:
            self._pace.hold(problem.after)
            CLOCK.sleep(problem.after * (1 + 0.1 * CLOCK.random()), self._stop)
            return
        longest = min(_LONGEST_WAIT, _FIRST_WAIT * 2**turn)
        CLOCK.sleep(longest * (0.5 + 0.5 * CLOCK.random()), self._stop)
