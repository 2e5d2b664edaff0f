"""`collect_grades`: have a model grade documents, each asked once, whatever happens on the way."""

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from gainful import arguments
from gainful.assessors.answer_reading import Reading, read_answer, read_answers
from gainful.assessors.collected_grades import CollectedGrades, CollectedItem
from gainful.assessors.function_model import FunctionModel
from gainful.assessors.kept_model_answers import answer_cache, record_of
from gainful.assessors.model_endpoint import Endpoint, Reply, read_parameters
from gainful.assessors.pairs_and_texts import Pairs, Texts, read_pairs, read_texts
from gainful.assessors.prompts import Template, read_scale, read_template
from gainful.assessors.spending_limit import Prices, SpendingLimit
from gainful.calling.environment_keys import read_key
from gainful.calling.kept_answers import KeptAnswers, key_of
from gainful.calling.many_calls import Asking, Manner, Service, UnansweredError, duration
from gainful.errors import GainfulError, InputError
from gainful.matching.keyword_options import InputOptions, takes
from gainful.measures.user_given_names import at_place
from gainful.message_texts import counted, shown
from gainful.writing.atomic_files import name_of

_AT_A_TIME, _RETRIES, _TIMEOUT = 8, 5, 120.0  # of an endpoint
_MOST_AT_A_TIME, _MOST_TOGETHER, _MOST_TRIES = 1000, 1000, 100
_MOST_IN_A_CALL = 1_000_000
_MILLION = 1_000_000
_MODEL = "a function, or its place 'module:name'; with an endpoint, the name of a model"
_MISSING = ("error", "skip")
_CUT = "an answer that was cut off at its limit of tokens"


@takes(InputOptions)
def collect_grades(
    pairs: object,
    model: Callable[..., Any] | str,
    *,
    queries: object,
    docs: object,
    depth: int | None = None,
    prompt: str | os.PathLike[str] | None = None,
    grades: Mapping[float, str] | Sequence[float] | None = None,
    per_prompt: int = 1,
    longest: int | None = None,
    missing_texts: str = "error",
    batch: int | None = None,
    endpoint: str | None = None,
    key_variable: str | None = None,
    parameters: Mapping[str, object] | None = None,
    timeout: float | None = None,
    concurrency: int | None = None,
    retries: int | None = None,
    ask_again: int = 0,
    per_minute: float | None = None,
    prices: tuple[float, float] | None = None,
    price_per_call: float | None = None,
    max_calls: int | None = None,
    max_cost: float | None = None,
    cache: str | os.PathLike[str] | None = None,
    name: str | None = None,
    dry: bool = False,
    **options: Unpack[InputOptions],
) -> CollectedGrades:
    r"""Have a model grade documents of queries: a function of Python, or one behind an address.

    An answer gives a grade only where it is read beyond doubt. That is a number of the scale and nothing else, a last line
    `grade: 2`, or JSON `{"grade": 2}`. Any other is kept and counted, and its document is not judged. With a `cache`, every
    answer is kept in a file as it comes. A second call asks only what is missing there, after Ctrl-C as after a crash.

    Args:
        pairs: what to grade: a pool, judgments, a table with query and doc, a list of (query, doc),
            `{query: [doc, …]}`; with a `depth`, a run.
        model: a function that takes a prompt and returns the answer, or its place, `module:name`; with an `endpoint`,
            the name of a model.
        queries: their texts: `{query: text}`, a data frame, or the path of a file as for `report`.
        docs: the texts of documents: the same, with a title, a text or both.
        depth: `pairs` is a run, of which the documents down to this rank are graded.
        prompt: a template with {query}, {document} and {scale}, or the path of a file that has one; {{ and }} are
            braces. Our own if None.
        grades: the scale: `{0: "off topic", 1: "on topic"}`, which {scale} shows; or its numbers, where the template tells
            what they mean. 0 to 3 if None.
        per_prompt: how many documents of a query stand in one prompt, where the template has {documents}.
        longest: the most characters of a document that the model is shown; all if None.
        missing_texts: what becomes of a pair of which a text is missing: `error`, or `skip`, which leaves it not judged.
        batch: the function takes a list of so many prompts at most, and returns a list of as many answers.
        endpoint: the address of a server with chat completions in OpenAI's form, such as http://localhost:8000/v1.
        key_variable: the environment variable that has the key for it; none is sent if None. The key is written nowhere.
        parameters: what else is sent with each request, such as {"temperature": 0}.
        timeout: seconds in which an endpoint must have answered; 120 if None.
        concurrency: how many calls are made at a time; 8 to an endpoint if None, 1 to a function.
        retries: how often a call that failed is tried again, after 1, 2, 4, … seconds, or as long as the server asks.
            5 for an endpoint if None, 0 for a function.
        ask_again: how often a prompt is asked again if its answer cannot be read.
        per_minute: the most calls a minute.
        prices: of a million tokens in and out, for the cost.
        price_per_call: of a call, for the cost, in addition to that of its tokens.
        max_calls: the most calls, those that fail and are made again among them. Then the work ends, with what it has.
        max_cost: the most that the calls may cost, in the currency of the prices. The work ends before the call that might
            cost more: see `limit` of the result.
        cache: the path of a file that keeps the answers, which is made if there is none.
        name: of the model as assessor; the model's own if None. The answers of a function are kept by it: give another
            one when the function changes.
        dry: ask nothing: grade what the cache has, and count the rest.
        **options: see `ReadingOptions`; columns are those of the pairs. `progress` is called with the share
            that is done, and a line with the counts.

    >>> def model(prompt):
    ...     return "It is about bread.\ngrade: 2" if "flour" in prompt else "grade: 0"
    >>> found = collect_grades(
    ...     {"q1": ["a", "b"]}, model, queries={"q1": "bread"}, docs={"a": "flour and yeast", "b": "tyres"}
    ... )
    >>> found["q1"], found.summary
    ({'a': 2.0, 'b': 0.0}, 'model: 2 of 2 documents graded; 2 calls, 0 cached')
    """
    arguments.choice(missing_texts, "missing_texts", _MISSING)
    arguments.truth(dry, "dry")
    progress = arguments.function(options.get("progress"), "progress")
    together = arguments.whole(per_prompt, "per_prompt", least=1, most=_MOST_TOGETHER)
    shown_upto = None if longest is None else arguments.whole(longest, "longest", least=1)
    cost = _read_prices(prices, price_per_call)
    template = read_template(prompt, read_scale(grades), several=together > 1)
    asked = _read_model(
        model,
        name,
        kept=cache is not None,
        batch=batch,
        of_endpoint={
            "endpoint": endpoint,
            "key_variable": key_variable,
            "parameters": parameters,
            "timeout": timeout,
        },
    )
    manner = _read_manner(
        is_endpoint=endpoint is not None,
        concurrency=concurrency,
        batch=batch,
        retries=retries,
        ask_again=ask_again,
        per_minute=per_minute,
    )
    known = read_pairs(pairs, depth, options)
    texts = read_texts(
        known, queries, docs, longest=shown_upto, skip_missing=missing_texts == "skip"
    )
    limit = _read_limit(
        max_calls,
        max_cost,
        cost,
        None if endpoint is None else parameters or {},
        of_tokens=prices is not None,
    )
    work = _Work(asked, manner, template, known, texts, together, cost, limit)
    return work.done(cache, progress, dry=dry)


@dataclass(frozen=True, slots=True)
class _Asked:
    """The model that is asked, and its name as an assessor."""

    model: Service[str, Reply]
    name: str


def _read_model(
    given: Any, name: object, *, kept: bool, batch: int | None, of_endpoint: Mapping[str, Any]
) -> _Asked:
    called = (
        None if name is None else arguments.text(name, "name", "the name of an assessor").strip()
    )
    if called == "":
        raise InputError("name", "the name of an assessor", shown(name))
    if of_endpoint["endpoint"] is not None:
        expected = "the name of a model, with an endpoint"
        model = arguments.text(given, "model", expected)
        if not model.strip():
            raise InputError("model", expected, shown(given))
        if batch is not None:
            hint = "Several documents in one prompt are per_prompt=…."
            raise InputError("batch", "none with an endpoint", shown(batch), hint)
        timeout = of_endpoint["timeout"]
        limit = _TIMEOUT if timeout is None else _positive(timeout, "timeout")
        found = Endpoint(
            of_endpoint["endpoint"],
            model,
            key=read_key(of_endpoint["key_variable"]),
            parameters=read_parameters(of_endpoint["parameters"]),
            timeout=min(limit, _MILLION),
        )
        return _Asked(found, called or model)
    for option, value in of_endpoint.items():
        if value is not None:
            told = type(value).__name__ if option == "key_variable" else shown(value)
            raise InputError(
                option, "none without an endpoint", told, "Give its address: endpoint=…."
            )
    function = at_place(given, "model", _MODEL, InputError) if isinstance(given, str) else given
    if not callable(function) or isinstance(function, type):
        raise InputError("model", _MODEL, shown(function))
    own = getattr(function, "__qualname__", None)
    place = f"{getattr(function, '__module__', '')}:{own}"
    nameless = not isinstance(own, str) or "<lambda>" in own
    if called is None and nameless and kept:
        hint = "By it, its answers are told from those of others in the cache."
        raise InputError("name", "a name for this model", "none", hint)
    shown_as = called or ("model" if nameless else str(own).rpartition(".")[2])
    identity = called or place
    return _Asked(FunctionModel(function, identity, several=batch is not None), shown_as)


def _read_manner(
    *,
    is_endpoint: bool,
    concurrency: int | None,
    batch: int | None,
    retries: int | None,
    ask_again: int,
    per_minute: float | None,
) -> Manner:
    threads = (_AT_A_TIME if is_endpoint else 1) if concurrency is None else concurrency
    tries = (_RETRIES if is_endpoint else 0) if retries is None else retries
    size = 1 if batch is None else batch
    return Manner(
        concurrency=arguments.whole(threads, "concurrency", least=1, most=_MOST_AT_A_TIME),
        batch=arguments.whole(size, "batch", least=1, most=_MOST_IN_A_CALL),
        retries=arguments.whole(tries, "retries", least=0, most=_MOST_TRIES),
        ask_again=arguments.whole(ask_again, "ask_again", least=0, most=_MOST_TRIES),
        per_minute=None if per_minute is None else _positive(per_minute, "per_minute"),
    )


def _positive(value: object, name: str) -> float:
    return arguments.number(value, name, "a number above 0", lambda number: number > 1e-6)


def _read_prices(given: object, per_call: object) -> Prices | None:
    if given is None and per_call is None:
        return None
    call = 0.0
    if per_call is not None:
        call = arguments.number(per_call, "price_per_call", "the price of a call", lambda x: x >= 0)
    if given is None:
        return Prices(call=call)
    expected = "the prices of a million tokens in and out, such as (0.5, 1.5)"
    both = arguments.listed(given, "prices", expected)
    if len(both) != 2:
        raise InputError("prices", expected, shown(given))
    into, out = (arguments.number(each, "prices", expected, lambda x: x >= 0) for each in both)
    return Prices(into, out, call)


def _read_limit(
    max_calls: object,
    max_cost: object,
    prices: Prices | None,
    parameters: Mapping[str, object] | None,
    *,
    of_tokens: bool,
) -> SpendingLimit | None:
    """Return the limit of what is spent; the parameters are those of an endpoint, and None for a function."""
    if max_calls is None and max_cost is None:
        return None
    calls = None if max_calls is None else arguments.whole(max_calls, "max_calls", least=0)
    cost = None
    if max_cost is not None:
        cost = arguments.number(max_cost, "max_cost", "a number from 0", lambda x: x >= 0)
        if prices is None:
            hint = "Give prices=(in, out) of a million tokens, or price_per_call=…; on the command line --prices IN OUT."
            raise InputError("max_cost", "prices, by which the cost is known", "none", hint)
        if not any(prices):
            raise InputError(
                "max_cost", "prices above 0", "prices of 0", "Nothing would end the work."
            )
        if parameters is None and of_tokens:
            hint = "Nobody counts the tokens of a function: give price_per_call=… alone."
            raise InputError(
                "max_cost", "a price of each call, with a function", "prices of tokens", hint
            )
    return SpendingLimit(
        max_calls=calls, max_cost=cost, prices=prices or Prices(), parameters=parameters or {}
    )


Outcome = Reply | UnansweredError


class _Tokens:
    """What the answers took, counted by all threads together."""

    def __init__(self) -> None:
        self.tokens_in = self.tokens_out = 0
        self._lock = threading.Lock()

    def add(self, reply: Reply) -> None:
        """Count an answer."""
        with self._lock:
            self.tokens_in += reply.tokens_in
            self.tokens_out += reply.tokens_out


@dataclass(frozen=True, slots=True)
class _Prompt:
    """What is asked in one prompt: the documents of a query, in the order of their numbers."""

    text: str
    query: str
    docs: tuple[str, ...]


class _Work:
    """The grading of all pairs."""

    def __init__(
        self,
        asked: _Asked,
        manner: Manner,
        template: Template,
        pairs: Pairs,
        texts: Texts,
        together: int,
        prices: Prices | None,
        limit: SpendingLimit | None,
    ) -> None:
        self._asked, self._manner, self._template = asked, manner, template
        self._pairs, self._texts, self._prices = pairs, texts, prices
        self._limit = limit
        self._prompts = self._made(together)
        identity = asked.model.identity
        # Documents of the same text are asked about once.
        self._keys = [key_of(identity, each.text) for each in self._prompts]
        self._first = {key: place for place, key in reversed([*enumerate(self._keys)])}

    def _made(self, together: int) -> list[_Prompt]:
        known = self._texts
        by_query: dict[str, list[str]] = {}
        for query, doc in self._pairs.items:
            if query in known.queries and doc in known.docs:
                by_query.setdefault(query, []).append(doc)
        found = []
        for query, docs in by_query.items():
            for start in range(0, len(docs), together):
                some = tuple(docs[start : start + together])
                text = self._template.prompt(
                    known.queries[query], [known.docs[doc] for doc in some]
                )
                found.append(_Prompt(text, query, some))
        return found

    def done(
        self,
        path: str | os.PathLike[str] | None,
        progress: Callable[[float, str], None] | None,
        *,
        dry: bool,
    ) -> CollectedGrades:
        """Ask what the cache has no answer to, and return what came of it."""
        name = None if path is None else name_of(path)
        if dry and name is not None and not Path(name).exists():
            name = None  # a dry run leaves nothing behind, so it makes no file
        cache = answer_cache(name)
        try:
            return self._collected(cache, progress, dry=dry)
        finally:
            cache.close()

    def _collected(
        self, cache: KeptAnswers[Reply], progress: Callable[[float, str], None] | None, *, dry: bool
    ) -> CollectedGrades:
        known: dict[str, Reply] = {}
        todo: dict[int, str] = {}
        for key, place in self._first.items():
            reply = cache.find(key)
            if reply is not None:
                known[key] = reply
            # An answer that cannot be read is an answer, and asked for again only if one wants it.
            if reply is None or (self._manner.ask_again and not self._is_read(place, reply)):
                todo[place] = self._prompts[place].text
        todo = dict(sorted(todo.items()))

        def keep(place: int, reply: Reply) -> None:
            asked = self._prompts[place]
            spent.add(reply)
            record = record_of(reply, self._asked.name, asked.query, asked.docs)
            cache.keep(self._keys[place], record)

        spent = _Tokens()
        asking = Asking(
            self._asked.model,
            self._manner,
            is_read=self._is_read,
            keep=keep,
            has_answers=bool(known),
            unread=[place for place in todo if self._keys[place] in known],
            allowance=self._limit,
        )
        tell = _Told(progress, self, asking, spent, known, todo)
        tell({})
        if not dry:
            try:
                asking.run(todo, tell)
            except GainfulError as problem:
                raise self._with_kept(problem, asking, cache) from problem.__cause__
        unasked = [place for place in todo if place not in asking.outcomes]
        return self._result(known, asking, spent, unasked)

    def _with_kept(
        self, problem: GainfulError, asking: Asking[str, Reply], cache: KeptAnswers[Reply]
    ) -> GainfulError:
        """Say in an error where the answers are that came before it."""
        count = sum(isinstance(each, Reply) for each in asking.outcomes.values())
        if not count:
            return problem
        kept = f"{counted(count, 'answer')} that came before "
        kept += "is" if count == 1 else "are"
        told = f"{kept} in {cache.name}." if cache.name else f"{kept} lost: a cache keeps them."
        remedy = f"{problem.remedy} {told}".strip()
        return type(problem)(problem.where, problem.expected, problem.found, remedy)

    def _readings(self, place: int, reply: Reply) -> list[Reading]:
        count = len(self._prompts[place].docs)
        if reply.cut:
            return [Reading(None, _CUT)] * count
        if self._template.is_for_several:
            return read_answers(reply.text, count, self._template.scale)
        return [read_answer(reply.text, self._template.scale)]

    def _is_read(self, place: int, reply: Reply) -> bool:
        return all(reading.grade is not None for reading in self._readings(place, reply))

    def items_of(self, place: int, outcome: Outcome | None) -> list[CollectedItem]:
        """Return what came of a prompt for each of its documents."""
        prompt = self._prompts[place]
        if outcome is None:
            return [
                CollectedItem(prompt.query, doc, "not asked", why="not asked")
                for doc in prompt.docs
            ]
        if not isinstance(outcome, Reply):
            return [
                CollectedItem(prompt.query, doc, "failed", why=str(outcome)) for doc in prompt.docs
            ]
        return [
            CollectedItem(prompt.query, doc, "unread", None, outcome.text, reading.why)
            if reading.grade is None
            else CollectedItem(prompt.query, doc, "graded", reading.grade, outcome.text)
            for doc, reading in zip(prompt.docs, self._readings(place, outcome), strict=True)
        ]

    def _result(
        self,
        known: Mapping[str, Reply],
        asking: Asking[str, Reply],
        spent: _Tokens,
        unasked: Sequence[int],
    ) -> CollectedGrades:
        found: dict[tuple[str, str], CollectedItem] = {}
        cached = set()
        for place, key in enumerate(self._keys):
            outcome: Any = asking.outcomes.get(self._first[key])
            if not isinstance(outcome, Reply) and key in known:
                outcome = known[key]
                cached.add(key)
            for item in self.items_of(place, outcome):
                found[item.query, item.doc] = item
        rows = tuple(
            found.get(pair) or CollectedItem(*pair, "no text", why="no text")
            for pair in self._pairs.items
        )
        return CollectedGrades(
            model=self._asked.name,
            rows=rows,
            prompts=len(self._first),
            calls=asking.calls,
            cached=len(cached),
            tokens_in=spent.tokens_in,
            tokens_out=spent.tokens_out,
            cost=self.cost(spent, asking),
            cut=self._texts.cut,
            prompt_hash=self._template.hash,
            first_prompt=self._prompts[0].text if self._prompts else "",
            unasked=len(unasked),
            limit=None if self._limit is None else self._limit.reached,
            unasked_characters=sum(len(self._prompts[place].text) for place in unasked),
            query_type=self._pairs.query_type,
            doc_type=self._pairs.doc_type,
        )

    def cost(self, spent: _Tokens, asking: Asking[str, Reply]) -> float | None:
        """Return what the tokens and the calls so far cost, where prices are given."""
        if self._prices is None:
            return None
        return self._prices.of(spent.tokens_in, spent.tokens_out, asking.calls)


class _Told:
    """Tells how far the work is: its share, and a line with the counts."""

    def __init__(
        self,
        progress: Callable[[float, str], None] | None,
        work: _Work,
        asking: Asking[str, Reply],
        spent: _Tokens,
        known: Mapping[str, Reply],
        todo: Mapping[int, str],
    ) -> None:
        self._progress, self._work, self._spent = progress, work, spent
        self._asking = asking
        self._cached, self._todo = len(known), len(todo)
        self._start = time.monotonic()
        self._done = self._unread = self._failed = 0

    def __call__(self, found: Mapping[int, Outcome]) -> None:
        """Tell it, if anybody wants to know, with what came now."""
        if self._progress is None:
            return
        for place, outcome in found.items():
            states = {item.state for item in self._work.items_of(place, outcome)}
            self._done += 1
            self._unread += "unread" in states
            self._failed += "failed" in states
        self._progress(self._done / self._todo if self._todo else 1.0, self._line(self._done))

    def _line(self, done: int) -> str:
        tally = self._spent
        parts = [f"{done:,} of {counted(self._todo, 'prompt')}", f"{self._cached:,} cached"]
        parts += [f"{self._unread:,} unread"] if self._unread else []
        parts += [f"{self._failed:,} failed"] if self._failed else []
        if tally.tokens_in or tally.tokens_out:
            parts.append(f"{tally.tokens_in:,} + {tally.tokens_out:,} tokens")
        cost = self._work.cost(tally, self._asking)
        parts += [] if cost is None else [f"cost {cost:,.4f}"]
        seconds = time.monotonic() - self._start
        if done and seconds > 0:
            parts.append(f"{done / seconds:.1f}/s")
            if done < self._todo:
                parts.append(f"{duration((self._todo - done) * seconds / done)} left")
        return ", ".join(parts)
