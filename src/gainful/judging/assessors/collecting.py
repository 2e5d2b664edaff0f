"""`collect_grades`: have a model grade documents, asking about each once despite interruptions."""

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from gainful import arguments
from gainful.errors import GainfulError, InputError
from gainful.integrations.calling.environment_keys import read_key
from gainful.integrations.calling.parallel_calls import (
    Asking,
    CallingOptions,
    Manner,
    Service,
    UnansweredError,
    duration,
    read_manner,
    read_positive,
)
from gainful.integrations.calling.stored_answers import KeptAnswers, key_of
from gainful.judging.assessors.answer_reading import Reading, read_answer, read_answers
from gainful.judging.assessors.collected_grades import CollectedGrades, CollectedItem
from gainful.judging.assessors.function_model import FunctionModel
from gainful.judging.assessors.model_endpoint import Endpoint, Reply, read_parameters
from gainful.judging.assessors.pairs_and_texts import Pairs, Texts, read_pairs, read_texts
from gainful.judging.assessors.prompts import Template, read_scale, read_template
from gainful.judging.assessors.spending_limit import Prices, SpendingLimit
from gainful.matching.keyword_options import InputOptions, takes
from gainful.measures.user_given_names import at_place
from gainful.message_texts import counted, shown
from gainful.output.writing.output_files import name_of
from gainful.rows.input_types import TableLike
from gainful.rows.run_and_judgment_columns import read_columns

_RETRIES, _TIMEOUT = 5, 120.0  # defaults for an endpoint
_MOST_TOGETHER = 1000
_MODEL = "a function, or its location 'module:name'; with an endpoint, the name of a model"
_MISSING = ("error", "skip")
_CUT = "an answer that was truncated at its token limit"


class CollectingOptions(CallingOptions, InputOptions, total=False):
    """The prompts for a model, and how they are sent: the options of `collect_grades` and of `gainful collect`.

    Attributes:
        columns: the columns of the pairs, as in `ReadingOptions`, like `assessors` and `engine`.
        progress: called with the share done and a line of counts.
        depth: the rank down to which documents are graded, if the pairs are a run.
        prompt: a template with {query}, {document} and {scale}, or the path of a file with one; {{
            and }} are literal braces. If None, gainful's own.
        grades: the scale: `{0: "off topic", 1: "on topic"}`, inserted as {scale}; or only its
            numbers, if the template explains them. 0 to 3 if None.
        per_prompt: the number of documents of a query per prompt, if the template has {documents}.
        longest: the maximum number of characters of a document shown to the model; all if None.
        missing_texts: how to handle missing text: `error`, or `skip`, which leaves the document
            unjudged.
        batch: the maximum number of prompts in one call of a function from a list of prompts to a
            list of answers.
        endpoint: the address of a server with an OpenAI-compatible chat completions API, such as
            http://localhost:8000/v1.
        parameters: further parameters of each request, such as {"temperature": 0}.
        ask_again: how often a prompt is repeated if its answer is unreadable.
        per_minute: the maximum number of calls per minute.
        prices: the prices of a million tokens in and out, to compute the cost.
        price_per_call: the price of a call, in addition to its tokens.
        max_calls: the maximum number of calls, including failed and repeated ones. The work then
            stops and returns the grades so far.
        max_cost: the maximum cost of the calls, in the currency of the prices. The work stops
            before a call that might exceed it; see `limit` of the result.
        name: the name of the model as assessor; the model's own if None. It identifies a function's
            answers in the cache, so use another name when the function changes.
        dry: whether to send nothing: grade from the cache, and count the rest.
    """

    depth: int | None
    prompt: str | os.PathLike[str] | None
    grades: Mapping[float, str] | Sequence[float] | None
    per_prompt: int
    longest: int | None
    missing_texts: str
    batch: int | None
    endpoint: str | None
    parameters: Mapping[str, object] | None
    ask_again: int
    per_minute: float | None
    prices: tuple[float, float] | None
    price_per_call: float | None
    max_calls: int | None
    max_cost: float | None
    name: str | None
    dry: bool


DEFAULTS: CollectingOptions = {
    "per_prompt": 1, "missing_texts": _MISSING[0], "ask_again": 0, "dry": False,
}  # fmt: skip


@takes(CollectingOptions, DEFAULTS)
def collect_grades(
    pairs: TableLike,
    model: Callable[..., Any] | str,
    *,
    docs: TableLike,
    queries: TableLike | None = None,
    **options: Unpack[CollectingOptions],
) -> CollectedGrades:
    r"""Have a model grade documents of queries: a Python function, or a server.

    An answer counts as a grade only if it is unambiguous: a number of the scale and nothing else, a
    last line `grade: 2`, or JSON `{"grade": 2}`. Other answers are kept and counted, and their
    documents stay unjudged. With a `cache`, every answer is written to a file immediately, and a
    second call, after Ctrl-C or a crash, asks only for missing answers.

    Args:
        pairs: the documents to grade: a pool, judgments, a table with query and doc, a list of
            (query, doc), `{query: [doc, …]}`; with a `depth`, a run.
        model: a function from prompt to answer, or its location `module:name`; with an `endpoint`,
            the name of a model.
        docs: the text of documents: `{doc: text}`, a data frame, the path of a file as for `report`, with a
            title, a body or both; or a folder of text files.
        queries: the text of queries, in the same forms as `docs`; None if the ids are the questions themselves.
        **options: see `CollectingOptions`.

    >>> def model(prompt):
    ...     return "It is about bread.\ngrade: 2" if "flour" in prompt else "grade: 0"
    >>> collected = collect_grades(
    ...     {"q1": ["a", "b"]}, model, queries={"q1": "bread"}, docs={"a": "flour and yeast", "b": "tyres"}
    ... )
    >>> collected["q1"], collected.summary
    ({'a': 2.0, 'b': 0.0}, 'model: 2 of 2 documents graded; 2 calls, 0 cached')
    """
    chosen: CollectingOptions = {**DEFAULTS, **options}
    call = read_call(model, chosen)
    scale = read_scale(chosen.get("grades"))
    template = read_template(chosen.get("prompt"), scale, several=call.together > 1)
    to_grade = read_pairs(pairs, chosen.get("depth"), chosen)
    texts = call.texts(to_grade, queries, docs)
    return call.collected(to_grade, texts, template)


@dataclass(frozen=True, slots=True)
class _Asked:
    """The model to ask, and its name as an assessor."""

    model: Service[str, Reply]
    name: str


def _read_model(source: Any, options: CollectingOptions) -> _Asked:
    name, endpoint, batch = options.get("name"), options.get("endpoint"), options.get("batch")
    called = (
        None if name is None else arguments.text(name, "name", "the name of an assessor").strip()
    )
    if called == "":
        raise InputError("name", "the name of an assessor", shown(name))
    if endpoint is not None:
        expected = "the name of a model, with an endpoint"
        model = arguments.text(source, "model", expected)
        if not model.strip():
            raise InputError("model", expected, shown(source))
        if batch is not None:
            hint = "For several documents in one prompt, use per_prompt=…."
            raise InputError("batch", "None with an endpoint", shown(batch), hint)
        timeout = options.get("timeout")
        server = Endpoint(
            endpoint,
            model,
            key=read_key(options.get("key_variable")),
            parameters=read_parameters(options.get("parameters")),
            timeout=_TIMEOUT if timeout is None else read_positive(timeout, "timeout"),
        )
        return _Asked(server, called or model)
    of_endpoint: Mapping[str, object] = options
    for option in ("key_variable", "parameters", "timeout"):
        if (value := of_endpoint.get(option)) is not None:
            actual = type(value).__name__ if option == "key_variable" else shown(value)
            raise InputError(
                option, "None without an endpoint", actual, "Pass its address: endpoint=…."
            )
    function = at_place(source, "model", _MODEL, InputError) if isinstance(source, str) else source
    if not callable(function) or isinstance(function, type):
        raise InputError("model", _MODEL, shown(function))
    own = getattr(function, "__qualname__", None)
    place = f"{getattr(function, '__module__', '')}:{own}"
    nameless = not isinstance(own, str) or "<lambda>" in own
    if called is None and nameless and options.get("cache") is not None:
        hint = "The cache uses it to distinguish the answers of different models."
        raise InputError("name", "a name for this model", "none", hint)
    shown_as = called or ("model" if nameless else str(own).rpartition(".")[2])
    identity = called or place
    return _Asked(FunctionModel(function, identity, several=batch is not None), shown_as)


def _read_prices(per_million: object, per_call: object) -> Prices | None:
    if per_million is None and per_call is None:
        return None
    call = 0.0
    if per_call is not None:
        call = arguments.number(per_call, "price_per_call", "the price of a call", lambda x: x >= 0)
    if per_million is None:
        return Prices(call=call)
    expected = "the prices of a million tokens in and out, such as (0.5, 1.5)"
    both = arguments.listed(per_million, "prices", expected)
    if len(both) != 2:
        raise InputError("prices", expected, shown(per_million))
    into, out = (arguments.number(price, "prices", expected, lambda x: x >= 0) for price in both)
    return Prices(into, out, call)


def _read_limit(options: CollectingOptions, prices: Prices | None) -> SpendingLimit | None:
    """Return the spending limit, if there is one."""
    max_calls, max_cost = options.get("max_calls"), options.get("max_cost")
    is_function = options.get("endpoint") is None
    if max_calls is None and max_cost is None:
        return None
    calls = None if max_calls is None else arguments.whole(max_calls, "max_calls", least=0)
    cost = None
    if max_cost is not None:
        cost = arguments.number(max_cost, "max_cost", "a non-negative number", lambda x: x >= 0)
        if prices is None:
            hint = "Pass prices=(in, out) per million tokens, or price_per_call=…; on the command line --prices IN OUT."
            raise InputError("max_cost", "prices, to compute the cost", "none", hint)
        if not any(prices):
            raise InputError(
                "max_cost", "prices above 0", "prices of 0", "The limit would never be reached."
            )
        if is_function and options.get("prices") is not None:
            hint = "The tokens of a function are unknown: pass only price_per_call=…."
            raise InputError(
                "max_cost", "a price of each call, with a function", "prices of tokens", hint
            )
    parameters = {} if is_function else options.get("parameters") or {}
    return SpendingLimit(
        max_calls=calls, max_cost=cost, prices=prices or Prices(), parameters=parameters
    )


Outcome = Reply | UnansweredError
Reader = Callable[[str, Sequence[str]], list[Reading]]
"""A function from an answer and the documents of its prompt to the reading of each document."""


@dataclass(frozen=True, slots=True)
class ModelCall:
    """How a model is called: everything among `CollectingOptions` except what is asked.

    Attributes:
        asked: the model.
        manner: the pace, and what to do about failures.
        together: the number of documents per prompt.
        longest: the maximum number of characters of a document; None for all.
        skips_missing: whether documents without a text are left out.
        keys: the caller's names of columns, which may join several into one key.
        prices: the prices of calls, if known.
        limit: the limit on calls and their cost, if any.
        cache: the file with all answers, if any.
        progress: is told the share done, and a line of counts.
        dry: whether nothing is sent.
    """

    asked: "_Asked"
    manner: Manner
    together: int
    longest: int | None
    skips_missing: bool
    keys: Mapping[str, Any]
    prices: Prices | None
    limit: SpendingLimit | None
    cache: str | os.PathLike[str] | None
    progress: Callable[[float, str], None] | None
    dry: bool

    def texts(self, pairs: Pairs, queries: object, docs: object) -> Texts:
        """Return the texts of pairs; see `read_texts`."""
        return read_texts(
            pairs,
            queries,
            docs,
            longest=self.longest,
            skip_missing=self.skips_missing,
            keys=self.keys,
        )

    def collected(
        self, pairs: Pairs, texts: Texts, template: Template, read: Reader | None = None
    ) -> CollectedGrades:
        """Ask about pairs, and return the result.

        Args:
            pairs: the pairs.
            texts: their texts.
            template: the prompt.
            read: reads an answer; by default, it contains grades of the template's scale.
        """
        return _Work(self, template, pairs, texts, read or partial(_grades_in, template)).done()


def read_call(model: Callable[..., Any] | str, chosen: CollectingOptions) -> ModelCall:
    """Read how a model is called; see `CollectingOptions`."""
    missing = arguments.choice(chosen["missing_texts"], "missing_texts", _MISSING)
    dry = arguments.truth(chosen["dry"], "dry")
    progress = arguments.function(chosen.get("progress"), "progress")
    together = arguments.whole(chosen["per_prompt"], "per_prompt", least=1, most=_MOST_TOGETHER)
    longest = chosen.get("longest")
    longest = None if longest is None else arguments.whole(longest, "longest", least=1)
    prices = _read_prices(chosen.get("prices"), chosen.get("price_per_call"))
    asked = _read_model(model, chosen)
    per_minute = chosen.get("per_minute")
    manner = read_manner(
        chosen,
        is_function=chosen.get("endpoint") is None,
        retries=_RETRIES,
        per_minute=None if per_minute is None else read_positive(per_minute, "per_minute"),
        batch=chosen.get("batch"),
        ask_again=chosen["ask_again"],
    )
    limit = _read_limit(chosen, prices)
    cache, skips, keys = chosen.get("cache"), missing == "skip", read_columns(chosen.get("columns"))
    return ModelCall(
        asked, manner, together, longest, skips, keys, prices, limit, cache, progress, dry
    )


def refuse_fixed(options: Mapping[str, Any], names: Sequence[str]) -> None:
    """Reject options that have a fixed value, because the form of an answer is fixed."""
    defaults: Mapping[str, object] = DEFAULTS
    for name in names:
        value, default = options.get(name), defaults.get(name)
        if value is None or (type(value) is type(default) and value == default):
            continue  # the types are compared first, because == of a data frame has no truth value
        raise InputError(name, "None, since the answers are fixed", shown(value))


def _grades_in(template: Template, answer: str, docs: Sequence[str]) -> list[Reading]:
    """Return the grade of each document in an answer."""
    if template.is_for_several:
        return read_answers(answer, len(docs), template.scale)
    return [read_answer(answer, template.scale)]


class _Tokens:
    """The token counts of all threads."""

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
    """One prompt: the documents of a query, in the order of their numbers."""

    text: str
    query: str
    docs: tuple[str, ...]


class _Work:
    """The grading of all pairs."""

    def __init__(
        self, call: ModelCall, template: Template, pairs: Pairs, texts: Texts, read: Reader
    ) -> None:
        self._call, self._template, self._read = call, template, read
        self._asked, self._manner = call.asked, call.manner
        self._pairs, self._texts = pairs, texts
        self._prices, self._limit = call.prices, call.limit
        self._prompts = self._made(call.together)
        identity = self._asked.model.identity
        # Documents with the same text share one prompt.
        self._keys = [key_of(identity, prompt.text) for prompt in self._prompts]
        self._first = {key: place for place, key in reversed([*enumerate(self._keys)])}

    def _made(self, together: int) -> list[_Prompt]:
        texts = self._texts
        by_query: dict[str, list[str]] = {}
        for query, doc in self._pairs.items:
            if query in texts.queries and doc in texts.docs:
                by_query.setdefault(query, []).append(doc)
        prompts = []
        for query, docs in by_query.items():
            for start in range(0, len(docs), together):
                some = tuple(docs[start : start + together])
                text = self._template.prompt(
                    texts.queries[query], [texts.docs[doc] for doc in some]
                )
                prompts.append(_Prompt(text, query, some))
        return prompts

    def done(self) -> CollectedGrades:
        """Ask for the answers missing from the cache, and return the result."""
        path, dry = self._call.cache, self._call.dry
        name = None if path is None else name_of(path)
        if dry and name is not None and not Path(name).exists():
            name = None  # a dry run creates no file
        cache = _answer_cache(name)
        try:
            return self._collected(cache)
        finally:
            cache.close()

    def _collected(self, cache: KeptAnswers[Reply]) -> CollectedGrades:
        cached: dict[str, Reply] = {}
        todo: dict[int, str] = {}
        for key, place in self._first.items():
            reply = cache.find(key)
            if reply is not None:
                cached[key] = reply
            # An unreadable answer is still an answer, and is requested again only if wanted.
            if reply is None or (self._manner.ask_again and not self._is_read(place, reply)):
                todo[place] = self._prompts[place].text
        todo = dict(sorted(todo.items()))

        def keep(place: int, reply: Reply) -> None:
            prompt = self._prompts[place]
            spent.add(reply)
            record = _record_of(reply, self._asked.name, prompt.query, prompt.docs)
            cache.keep(self._keys[place], record)

        spent = _Tokens()
        asking = Asking(
            self._asked.model,
            self._manner,
            is_read=self._is_read,
            keep=keep,
            has_answers=bool(cached),
            unread=[place for place in todo if self._keys[place] in cached],
            allowance=self._limit,
        )
        tell = _ProgressReport(self._call.progress, self, asking, spent, cached, todo)
        tell({})
        if not self._call.dry:
            try:
                asking.run(todo, tell)
            except GainfulError as problem:
                raise self._with_kept(problem, asking, cache) from problem.__cause__
        unasked = [place for place in todo if place not in asking.outcomes]
        return self._result(cached, asking, spent, unasked)

    def _with_kept(
        self, problem: GainfulError, asking: Asking[str, Reply], cache: KeptAnswers[Reply]
    ) -> GainfulError:
        """Add the location of the earlier answers to an error."""
        count = sum(isinstance(outcome, Reply) for outcome in asking.outcomes.values())
        if not count:
            return problem
        kept = f"{counted(count, 'earlier answer')} "
        kept += "is" if count == 1 else "are"
        place = (
            f"{kept} in {cache.name}." if cache.name else f"{kept} lost: use a cache to keep them."
        )
        return problem.with_remedy(f"{problem.remedy} {place}".strip())

    def _readings(self, place: int, reply: Reply) -> list[Reading]:
        docs = self._prompts[place].docs
        if reply.cut:
            return [Reading(None, _CUT)] * len(docs)
        return self._read(reply.text, docs)

    def _is_read(self, place: int, reply: Reply) -> bool:
        return all(reading.grade is not None for reading in self._readings(place, reply))

    def items_of(self, place: int, outcome: Outcome | None) -> list[CollectedItem]:
        """Return the outcome of a prompt for each of its documents."""
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
        cached_replies: Mapping[str, Reply],
        asking: Asking[str, Reply],
        spent: _Tokens,
        unasked: Sequence[int],
    ) -> CollectedGrades:
        items: dict[tuple[str, str], CollectedItem] = {}
        cached = set()
        for place, key in enumerate(self._keys):
            outcome: Any = asking.outcomes.get(self._first[key])
            if not isinstance(outcome, Reply) and key in cached_replies:
                outcome = cached_replies[key]
                cached.add(key)
            for item in self.items_of(place, outcome):
                items[item.query, item.doc] = item
        rows = tuple(
            items.get(pair) or CollectedItem(*pair, "no text", why="no text")
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
        """Return the cost of tokens and calls so far, if prices are known."""
        if self._prices is None:
            return None
        return self._prices.of(spent.tokens_in, spent.tokens_out, asking.calls)


class _ProgressReport:
    """Reports progress: the share done, and a line of counts."""

    def __init__(
        self,
        progress: Callable[[float, str], None] | None,
        work: _Work,
        asking: Asking[str, Reply],
        spent: _Tokens,
        cached: Mapping[str, Reply],
        todo: Mapping[int, str],
    ) -> None:
        self._progress, self._work, self._spent = progress, work, spent
        self._asking = asking
        self._cached, self._todo = len(cached), len(todo)
        self._start = time.monotonic()
        self._done = self._unread = self._failed = 0

    def __call__(self, outcomes: Mapping[int, Outcome]) -> None:
        """Report progress after new answers, if requested."""
        if self._progress is None:
            return
        for place, outcome in outcomes.items():
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


# --- answers kept in a file


def _answer_cache(path: str | None) -> KeptAnswers[Reply]:
    """Return the answers in a file, or no answers without a file."""
    return KeptAnswers(path, "answers of a model, as collect_grades keeps them", _parsed)


def _record_of(reply: Reply, model: str, query: str, docs: Sequence[str]) -> dict[str, object]:
    """Return the cached record of an answer; its key is a hash of the prompt with its document."""
    return {
        "model": model,
        "query": query,
        "docs": [*docs],
        "answer": reply.text,
        "tokens": [reply.tokens_in, reply.tokens_out],
        "cut": reply.cut,
    }


def _parsed(record: Mapping[str, Any]) -> Reply:
    text, (tokens_in, tokens_out) = record["answer"], record["tokens"]
    if not isinstance(text, str):
        raise TypeError
    return Reply(text, int(tokens_in), int(tokens_out), bool(record["cut"]))
