"""`record`: send queries to a search service, and keep the results as a run."""

import hashlib
import json
import os
import re
import shlex
import struct
import time
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from operator import gt
from typing import Any, Unpack
from urllib.parse import parse_qsl, quote, urlsplit

from gainful import arguments
from gainful.errors import GainfulError, InputError, warn
from gainful.integrations.calling.environment_keys import (
    NAME_THE_KEY,
    address_from_environment,
    filled_from_environment,
    is_secret_header,
    is_secret_name,
    read_key,
    refuse_key_in_address,
    secrets_of_environment,
    server_end,
)
from gainful.integrations.calling.http_client import HttpClient, read_address
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
from gainful.integrations.recording.engine_table import ENGINES, NEEDED, POSTGRESQL, SearchEngine
from gainful.integrations.recording.postgres_service import EXAMPLE, PostgresService
from gainful.integrations.recording.recorded_run import RecordedQuery, RecordedRun
from gainful.integrations.recording.request_template import (
    misspelt_places,
    places_in,
    read_template,
    read_text,
)
from gainful.integrations.recording.response_paths import read_list_path, steps_of
from gainful.integrations.recording.service_transports import (
    AnswerReader,
    CommandService,
    Embed,
    FunctionService,
    HttpService,
    Query,
    Ranked,
)
from gainful.matching.keyword_options import takes
from gainful.measures.user_given_names import at_place
from gainful.message_texts import counted, shown
from gainful.output.writing.output_files import name_of
from gainful.output.writing.runs_and_judgments import read_tag
from gainful.rows.identifiers import UNTYPED, IdType, examples
from gainful.rows.input_types import TableLike
from gainful.rows.run_and_judgment_columns import plain_name
from gainful.rows.side_table_columns import SENT_QUERY_TEXTS
from gainful.rows.side_table_reader import read_table

_RETRIES, _TIMEOUT = 3, 30.0  # defaults for servers and commands
_DEPTH, _MOST_DEPTH = 100, 1_000_000
_ENGINES = (*ENGINES, POSTGRESQL)
_SHORTEST_PASSWORD = 4
_ADDRESS = "the address of a search service, such as 'http://localhost:9200/articles'"
_SEARCH = "a function from a query to ids, or its location 'module:name'"
_FAILED = ("error", "leave-out")
_METHODS = ("GET", "POST")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[ -~]*")
_NOT_A_TAG = re.compile(r"[^\w.-]+")
_SHOWN = 5
_DESCRIPTION = "description"  # a column that may contain the query, or only an explanation of it

AnyService = Service[Query, Ranked]


class RecordingOptions(CallingOptions, total=False):
    """The search service, and how to call it: the options of `record`, of `gainful run` and of [run] in a project file.

    Attributes:
        url: the address of the service. It may contain {query}, {depth} and {id}, and ${NAME} for the value of an environment
            variable.
        engine: elasticsearch, opensearch, solr, vespa, typesense, meilisearch, algolia, qdrant or postgresql. The url then contains
            the index or collection, as in http://localhost:9200/articles.
        template: the request: JSON whose strings may contain {query}, {depth}, {id} and {vector}, as a dict, as text or as the path
            of a file. The engine's own if None. For postgresql, SQL with %(query)s and %(depth)s.
        ids: the path of the ids in an answer, such as hits[*].id; the engine's own if None.
        scores: the path of the scores, such as hits[*].score; the engine's own if None.
        method: GET or POST; the engine's own if None, otherwise POST with a template and GET without.
        headers: additional headers; ${NAME} in a value is replaced by an environment variable.
        embed: a function from a query to its vector, or its location, for {vector}.
        command: a command that is called for each query. Its words may contain {query}, {depth} and {id}; without {query}, it reads
            the query from standard input. It prints one id per line, optionally with a tab and a score; with `ids`, JSON.
        depth: the maximum number of documents per query.
        per_second: the maximum number of calls per second.
        failed: `error` raises an error if a query has no answer; `leave-out` leaves it out of the run and lists it in `failed`.
        tag: the name of the run; the name of the engine or the function if None.
        progress: called with the completed share of the work and a line with the counts.
    """

    url: str | None
    engine: str | None
    template: Mapping[str, object] | str | os.PathLike[str] | None
    ids: str | None
    scores: str | None
    method: str | None
    headers: Mapping[str, str] | None
    embed: Callable[[str], object] | str | None
    command: str | Sequence[str] | None
    depth: int
    per_second: float | None
    failed: str
    tag: str | None
    progress: Callable[[float, str], None] | None


@takes(RecordingOptions, {"depth": _DEPTH, "failed": _FAILED[0]})
def record(
    queries: TableLike,
    search: Callable[..., object] | str | None = None,
    **options: Unpack[RecordingOptions],
) -> RecordedRun:
    """Send queries to a search service, and record the results as a run.

    The service is a Python function (`search`), a server (`url`) with a known `engine` or any other JSON API, or a `command`.
    The service's order is kept: if its scores don't strictly decrease, documents are scored by rank. A failed query never
    becomes an empty list: it is an error, or it is left out and listed. With a `cache`, each answer is immediately stored in a
    file. Another call, for example after Ctrl-C or a crash, then only sends the queries without an answer.

    Args:
        queries: the text of the queries: `{query: text}`, a data frame, or the path of a file as for `report`.
        search: a function that accepts the text of a query and returns ids in order, pairs (id, score) or `{id: score}`; or its
            location, `module:name`.
        **options: see `RecordingOptions`. For opensearch the key is user:password, for postgresql the password; it is sent in the
            engine's usual header, or else as `Authorization: Bearer …`.

    >>> texts = {"a": "bread and butter", "b": "rye bread", "c": "tyres"}
    >>> run = record({"q1": "bread"}, lambda query: [doc for doc, text in texts.items() if query in text], depth=10)
    >>> run["q1"], run.failed
    ({'a': 10.0, 'b': 9.0}, {})
    """
    failed = arguments.choice(options.get("failed", _FAILED[0]), "failed", _FAILED)
    depth = arguments.whole(options.get("depth", _DEPTH), "depth", least=1, most=_MOST_DEPTH)
    report_progress = arguments.function(options.get("progress"), "progress")
    cache, tag, per_second = options.get("cache"), options.get("tag"), options.get("per_second")
    kept = None if cache is None else name_of(cache)
    word, service = _read_service(search, options, depth, kept=kept is not None)
    manner = read_manner(
        options,
        is_function=search is not None,
        retries=_RETRIES,
        per_minute=None if per_second is None else 60 * read_positive(per_second, "per_second"),
    )
    asked, query_type, choice = _read_queries(queries)
    by_id = "id" in places_in(service.identity)
    work = _Recording(service, manner, asked, depth, by_id=by_id)
    recorded = work.done(
        kept,
        report_progress,
        word if tag is None else read_tag(tag),
        query_type,
        leave_out=failed == "leave-out",
    )
    return replace(recorded, sent=choice) if choice else recorded


def _read_service(
    search: object, options: RecordingOptions, depth: int, *, kept: bool
) -> tuple[str, AnyService]:
    """Return the one service that the options describe, and a word for its runs."""
    url, command = options.get("url"), options.get("command")
    services = {"search": search, "url": url, "command": command}
    named = [name for name, value in services.items() if value is not None]
    if len(named) != 1:
        hint = "Pass one: a function, url=…, or command=…."
        raise InputError("record", "one search service", " and ".join(named) or "none", hint)
    timeout = options.get("timeout")
    limit = _TIMEOUT if timeout is None else read_positive(timeout, "timeout")
    if url is None:
        _refuse(options, "engine template method headers key_variable embed", "none without a url")
    if search is not None:
        _refuse(options, "ids scores timeout", "none with a function")
        return _function(search, options.get("tag"), depth, kept=kept)
    if command is not None:
        return _command(command, options.get("ids"), options.get("scores"), depth, limit)
    engine = options.get("engine")
    entry = None if engine is None else ENGINES.get(arguments.choice(engine, "engine", _ENGINES))
    if engine != POSTGRESQL:
        return _http(url, engine, entry, options, depth, limit)
    _refuse(options, "ids scores method headers embed", "none with postgresql")
    key_variable = options.get("key_variable")
    return POSTGRESQL, _postgres(url, options.get("template"), key_variable, depth, limit)


def _refuse(options: Mapping[str, object], names: str, expected: str) -> None:
    for name in names.split():
        if (value := options.get(name)) is not None:
            # A value in place of a key may be secret, so it isn't shown.
            actual = type(value).__name__ if name in ("key_variable", "headers") else shown(value)
            raise InputError(name, expected, actual)


def _read_queries(source: object) -> tuple[list[Query], IdType, str]:
    """Return the queries, the type of their ids, and a note if one of two columns was chosen."""
    table = read_table(source, SENT_QUERY_TEXTS, "queries")
    titles, texts = ([(cell or "").strip() for cell in table[role]] for role in ("title", "text"))
    names = {role: table.called.get(role, role) for role in ("title", "text")}
    by_title, choice = False, ""
    if any(title and text for title, text in zip(titles, texts, strict=True)):
        described = plain_name(names["text"]) == _DESCRIPTION
        by_title = described and plain_name(names["title"]) == "title"  # as in topics of TREC
        if described and not by_title:
            both = " and ".join(map(shown, names.values()))
            raise InputError(
                table.name, "one string for each query", both, "Rename one of them to 'text'."
            )
        first, second = ("title", "text") if by_title else ("text", "title")
        choice = f"{shown(names[first])} was sent, not {shown(names[second])}"
    queries = [
        Query(key, (title or text) if by_title else (text or title))
        for key, title, text in zip(table["query"], titles, texts, strict=True)
    ]
    blank = [query.id for query in queries if not query.text]
    if blank:
        raise InputError("queries", "text for each query", f"none for {examples(blank)}")
    unique = list({query.id: query for query in queries}.values())
    return unique, table.types.get("query", UNTYPED), choice


def _place(value: object, name: str, expected: str) -> tuple[Callable[..., object], str | None]:
    """Return a function, passed directly or by location, and its name, if it has one."""
    function = at_place(value, name, expected, InputError) if isinstance(value, str) else value
    if not callable(function) or isinstance(function, type):
        raise InputError(name, expected, shown(function))
    own = getattr(function, "__qualname__", None)
    if not isinstance(own, str) or "<lambda>" in own:
        return function, None
    return function, f"{getattr(function, '__module__', '')}:{own}"


def _function(
    source: object, tag: object, depth: int, *, kept: bool
) -> tuple[str, FunctionService]:
    function, place = _place(source, "search", _SEARCH)
    if place is None and tag is None and kept:
        hint = "The cache needs a name to distinguish this function's answers from others."
        raise InputError("tag", "a name for this function", "none", hint)
    word = "search" if place is None else place.rpartition(":")[2].rpartition(".")[2]
    identity = tag if isinstance(tag, str) else place or "search"
    return _as_tag(word), FunctionService(function, identity, depth, secrets_of_environment())


def _as_tag(word: str) -> str:
    return _NOT_A_TAG.sub("_", word) or "run"


def _reader(ids: object, scores: object, engine: SearchEngine | None) -> AnswerReader:
    by_id = engine.form.ids if ids is None and engine is not None else ids
    # An engine's scores only belong to its own ids.
    by_score = (
        engine.form.scores if scores is None and engine is not None and ids is None else scores
    )
    id_path = read_list_path(by_id, "ids")
    score_path = None if by_score is None else read_list_path(by_score, "scores")
    if score_path is not None and score_path.to_list != id_path.to_list:
        raise InputError("scores", f"a path in the same list as {id_path.text}", score_path.text)
    partial = () if engine is None else engine.form.partial
    count = None if engine is None or engine.count is None else steps_of(engine.count)
    return AnswerReader(id_path, score_path, partial, count)


def _command(
    command: object, ids: object, scores: object, depth: int, timeout: float
) -> tuple[str, CommandService]:
    expected = "a command, such as 'python search.py {query}', or a list of its words"
    if isinstance(command, str):
        try:
            words = shlex.split(arguments.text(command, "command", expected))
        except ValueError as problem:
            raise InputError("command", expected, f"{shown(command)} ({problem})") from None
    else:
        words = [
            arguments.text(word, "command", expected)
            for word in arguments.listed(command, "command", expected)
        ]
    if not words or not words[0]:
        raise InputError("command", expected, shown(command))
    if "vector" in places_in(words):
        raise InputError("command", "{query}, {depth} or {id}", "{vector}")
    if ids is None and scores is not None:
        raise InputError("scores", "none without ids", shown(scores))
    service = CommandService(
        words,
        tells="query" not in places_in(words),
        reader=None if ids is None else _reader(ids, scores, None),
        depth=depth,
        timeout=timeout,
        secrets=secrets_of_environment(),
    )
    return _as_tag(os.path.basename(words[0])), service  # noqa: PTH119 - a word, not a file


def _postgres(
    url: object, template: object, key_variable: object, depth: int, timeout: float
) -> PostgresService:
    expected = "the address of a database, such as 'postgresql://user@localhost/name'"
    address = arguments.text(url, "url", expected)
    try:
        parts = urlsplit(address)
        password = parts.password or dict(parse_qsl(parts.query)).get("password")
    except ValueError:
        raise InputError("url", expected, "another") from None
    if parts.scheme not in ("postgresql", "postgres"):
        raise InputError("url", expected, shown(f"{parts.scheme}:…"))
    if password:
        hint = "Name an environment variable that contains it: key_variable=…, on the command line --key-variable …."
        raise InputError("url", "an address without a password", "one", hint)
    if template is None:
        raise InputError(
            "template", "SQL with %(query)s and %(depth)s", "none", f"Such as: {EXAMPLE}."
        )
    _, sql = read_text(
        template,
        is_text=lambda text: "%(query)s" in text,
        expected="SQL with %(query)s, or the path of a file that has it",
    )
    if "%(query)s" not in sql:
        raise InputError("template", "SQL with %(query)s", "none in it")
    key = read_key(key_variable)
    secrets = (*(() if key is None else (key,)), *secrets_of_environment())
    return PostgresService(
        address, sql, password=key, depth=depth, timeout=timeout, secrets=secrets
    )


def _read_headers(headers: object) -> tuple[dict[str, str], dict[str, str], list[str]]:
    """Return headers as configured, as sent, and the keys in the sent ones."""
    if headers is None:
        return {}, {}, []
    expected = "a dict of headers, such as {'X-Tenant': 'acme'}"
    if not isinstance(headers, Mapping):
        raise InputError("headers", expected, type(headers).__name__)
    plain, sent = {}, {}
    keys: list[str] = []
    for name, value in headers.items():
        if not isinstance(name, str) or not _HEADER.fullmatch(name):
            raise InputError("headers", "the name of a header", shown(name))
        if not isinstance(value, str) or not _VALUE.fullmatch(value):
            raise InputError(f"headers, {name}", "a string of plain letters", type(value).__name__)
        filled, own_keys = filled_from_environment(value, "headers")
        if is_secret_header(name) and not own_keys:
            hint = f"Write {name}: ${{NAME}}, and set the environment variable NAME."
            raise InputError(
                f"headers, {name}", "a key from the environment", "the key itself", hint
            )
        plain[name], sent[name] = value, filled
        keys += own_keys
    return plain, sent, keys


def _http(
    url: object,
    engine: str | None,
    entry: SearchEngine | None,
    options: RecordingOptions,
    depth: int,
    timeout: float,
) -> tuple[str, HttpService]:
    text = arguments.text(url, "url", _ADDRESS)
    refuse_key_in_address(text, "url")
    filled, keys = address_from_environment(text, "url")
    parts = read_address(filled, "url", _ADDRESS, written=text)
    if any(place in parts.netloc for place in ("{", "}")):
        raise InputError("url", "{query} after the name of the server", "it there")
    path = parts.path
    if entry is not None and not path.endswith(entry.path):
        path = path.rstrip("/") + entry.path
    target = (path or "/") + (f"?{parts.query}" if parts.query else "")
    template = options.get("template")
    if template is None and entry is not None:
        if entry.template is None:
            hint = f"Such as: {NEEDED[str(engine)]}."
            raise InputError("template", f"one for {entry.title}", "none", hint)
        template = entry.template
    body = None if template is None else read_template(template)
    if options.get("ids") is None and entry is None:
        hint = "Pass the path of the ids in an answer: ids='hits[*].id', on the command line --ids; or name an engine."
        raise InputError("ids", "a path, or an engine", "none", hint)
    verb = entry.method if entry is not None else "GET" if body is None else "POST"
    if options.get("method") is not None:
        verb = arguments.choice(options.get("method"), "method", _METHODS)
    places = places_in(target, body)
    if not places & {"query", "vector"}:
        raise InputError(
            "template" if body is not None else "url", "{query} or {vector} in it", "neither"
        )
    for word, place in misspelt_places(target, body).items():
        warn(f"{{{word}}} is sent unchanged: did you mean {{{place}}}?")
    embed, embedded = _embed(options.get("embed"), wanted="vector" in places, engine=engine)
    plain, sent, more = _read_headers(options.get("headers"))
    key = read_key(options.get("key_variable"))
    if key is not None:
        header = ("Authorization", f"Bearer {key}") if entry is None else entry.header(key)
        sent = {**sent, header[0]: header[1]}
        # The key is also sent in other forms, which a server may repeat.
        more += [key, b64encode(key.encode()).decode()]
    literal = [value for name, value in parse_qsl(parts.query) if is_secret_name(name) and value]
    secrets = tuple(dict.fromkeys([*keys, *(quote(key, safe="") for key in keys), *more, *literal]))
    reader = _reader(options.get("ids"), options.get("scores"), entry)
    score_path = None if reader.scores is None else reader.scores.text
    name = f"{parts.scheme}://{parts.netloc}{path}"
    about_the_key = "Check the key and its permissions." if secrets else NAME_THE_KEY
    server = HttpClient(
        parts,
        timeout=timeout,
        secrets=(*secrets, *_passwords(key), *secrets_of_environment()),
        remedies={
            401: about_the_key,
            403: about_the_key,
            404: "Check the address, which contains the index.",
        },
    )
    identity: list[object] = [
        "http",
        text,
        path,
        verb,
        body,
        plain,
        reader.ids.text,
        score_path,
        depth,
        embedded,
    ]
    service = HttpService(
        server,
        name=server.clean(name),
        identity=identity,
        method=verb,
        target=target,
        template=body,
        headers={"Accept": "application/json", **sent},
        reader=reader,
        depth=depth,
        secrets=secrets,
        embed=embed,
    )
    # Values from the environment must not become the name of a run, because it is written.
    host = "search" if "${" in text[: server_end(text)] else str(parts.hostname)
    return engine or _as_tag(host), service


def _passwords(key: str | None) -> list[str]:
    """Return the password of user:password, which a server may repeat, unless it is too short to hide."""
    password = "" if key is None else key.partition(":")[2]
    return [password] if len(password) >= _SHORTEST_PASSWORD else []


def _embed(embed: object, *, wanted: bool, engine: str | None) -> tuple[Embed | None, str | None]:
    expected = "a function from a query to a vector, or its location 'module:name'"
    if embed is None:
        if wanted:
            hint = "Pass one, or a template without {vector}."
            raise InputError("embed", f"{expected}, for {{vector}}", "none", hint)
        return None, None
    if not wanted:
        raise InputError("embed", "none without {vector} in the template", shown(embed))
    function, place = _place(embed, "embed", expected)
    return function, place or f"a function for {engine}"


class _Recording:
    """The recording of all queries."""

    def __init__(
        self,
        service: AnyService,
        manner: Manner,
        queries: Sequence[Query],
        depth: int,
        *,
        by_id: bool,
    ) -> None:
        self._service, self._manner, self._queries, self._depth = service, manner, queries, depth
        identity = service.identity
        self.hash = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()
        # Queries with the same text are sent once.
        self._keys = [key_of(identity, [*query] if by_id else query.text) for query in queries]
        self._first = {key: place for place, key in reversed([*enumerate(self._keys)])}

    def done(
        self,
        path: str | None,
        progress: Callable[[float, str], None] | None,
        tag: str,
        query_type: IdType,
        *,
        leave_out: bool,
    ) -> RecordedRun:
        """Send the queries without a cached answer, and return the run."""
        cache = KeptAnswers(path, "answers of a search service, as record keeps them", _parsed)
        try:
            cached = {key: answer for key in self._first if (answer := cache.find(key)) is not None}
            todo = {
                place: self._queries[place]
                for key, place in sorted(self._first.items(), key=lambda item: item[1])
                if key not in cached
            }

            def keep(place: int, answer: Ranked) -> None:
                cache.keep(self._keys[place], _record_of(self._queries[place].id, answer))

            asking = Asking(
                self._service,
                self._manner,
                is_read=lambda *_: True,
                keep=keep,
                has_answers=bool(cached),
            )
            try:
                asking.run(todo, _ProgressReport(progress, len(cached), len(todo)))
            except GainfulError as problem:
                raise _with_kept(problem, len(_answered(asking.outcomes)), cache.name) from None
        finally:
            cache.close()
        return self._result(cached, asking, tag, query_type, cache.name, leave_out=leave_out)

    def _result(
        self,
        kept: Mapping[str, Ranked],
        asking: Asking[Query, Ranked],
        tag: str,
        query_type: IdType,
        cache: str | None,
        *,
        leave_out: bool,
    ) -> RecordedRun:
        outcomes: list[tuple[str, Ranked | UnansweredError, bool]] = []
        for query, key in zip(self._queries, self._keys, strict=True):
            outcome = kept[key] if key in kept else asking.outcomes[self._first[key]]
            outcomes.append((query.id, outcome, key in kept))
        lost = {query: out.why for query, out, _ in outcomes if isinstance(out, UnansweredError)}
        if lost and not leave_out:
            some = [f"{query} ({why})" for query, why in [*lost.items()][:_SHOWN]]
            more = f" and {len(lost) - _SHOWN:,} more" if len(lost) > _SHOWN else ""
            problem = GainfulError(
                self._service.name,
                f"an answer to each of {counted(len(outcomes), 'query', 'queries')}",
                f"none to {len(lost):,}: {'; '.join(some)}{more}",
                "Try again, or leave these queries out of the run: failed='leave-out', on the command line --failed leave-out.",
            )
            raise _with_kept(problem, len(outcomes) - len(lost), cache)
        lists = {query: _once(out) for query, out, _ in outcomes if isinstance(out, Ranked)}
        repeated = sum(
            len(out.docs) - len(lists[query].docs)
            for query, out, _ in outcomes
            if isinstance(out, Ranked)
        )
        by_rank = _is_by_rank(lists)
        rows = tuple(
            RecordedQuery(query, None, None, None, why=out.why)
            if isinstance(out, UnansweredError)
            else self._row(query, lists[query], by_rank=by_rank, cached=cached)
            for query, out, cached in outcomes
        )
        return RecordedRun(
            tag=tag,
            request_hash=self.hash,
            rows=rows,
            depth=self._depth,
            scored_by="rank" if by_rank else "service",
            calls=asking.calls,
            repeated=repeated,
            query_type=query_type,
        )

    def _row(self, query: str, answer: Ranked, *, by_rank: bool, cached: bool) -> RecordedQuery:
        scores = answer.scores
        if by_rank or scores is None:
            scores = tuple(float(self._depth - place) for place in range(len(answer.docs)))
        return RecordedQuery(query, answer.docs, scores, answer.seconds, cached)


def _answered(outcomes: Mapping[int, object]) -> list[int]:
    return [place for place, o in outcomes.items() if not isinstance(o, UnansweredError)]


def _once(answer: Ranked) -> Ranked:
    """Return a list without repeated documents: the first occurrence counts."""
    if len({*answer.docs}) == len(answer.docs):
        return answer
    places = {doc: place for place, doc in reversed([*enumerate(answer.docs)])}
    kept = sorted(places.values())
    scores = None if answer.scores is None else tuple(answer.scores[place] for place in kept)
    return Ranked(tuple(answer.docs[place] for place in kept), scores, answer.seconds)


def _is_by_rank(lists: Mapping[str, Ranked]) -> bool:
    """Return whether documents are scored by rank, because some scores don't decrease; warn if others do."""
    full = {query: answer for query, answer in lists.items() if answer.docs}
    unsure = [
        query
        for query, answer in full.items()
        if answer.scores is None or not all(map(gt, answer.scores, answer.scores[1:]))
    ]
    scored = [query for query, answer in full.items() if answer.scores is not None]
    if unsure and scored:
        warn(
            f"The service's scores don't strictly decrease for {counted(len(unsure), 'query', 'queries')} "
            f"({examples(unsure)}), so all documents are scored by rank."
        )
    return bool(unsure)


def _with_kept(problem: GainfulError, count: int, cache: str | None) -> GainfulError:
    """Add to an error where the earlier answers are stored."""
    if not count:
        return problem
    verb = "is" if count == 1 else "are"
    received = f"{counted(count, 'received answer')} {verb} "
    hint = f"{received}in {cache}." if cache else f"{received}lost; a cache would keep answers."
    return problem.with_remedy(f"{problem.remedy} {hint}".strip())


def _record_of(query: str, answer: Ranked) -> dict[str, object]:
    """Return the record of an answer for a file, with scores as bytes, because writing digits is slow."""
    scores = answer.scores
    kept = None if scores is None else struct.pack(f"<{len(scores)}d", *scores).hex()
    return {"query": query, "docs": [*answer.docs], "scores": kept, "seconds": answer.seconds}


def _parsed(kept: Mapping[str, Any]) -> Ranked:
    docs, scores = kept["docs"], kept["scores"]
    if not isinstance(docs, list) or not all(isinstance(doc, str) for doc in docs):
        raise TypeError
    if scores is None:
        return Ranked(tuple(docs), None, float(kept["seconds"]))
    content = bytes.fromhex(scores)
    if len(content) != 8 * len(docs):
        raise ValueError
    return Ranked(tuple(docs), struct.unpack(f"<{len(docs)}d", content), float(kept["seconds"]))


class _ProgressReport:
    """Reports progress: the completed share of the work, and a line with the counts."""

    def __init__(
        self, progress: Callable[[float, str], None] | None, cached: int, todo: int
    ) -> None:
        self._progress, self._cached, self._todo = progress, cached, todo
        self._start, self._done, self._failed = time.monotonic(), 0, 0
        self({})

    def __call__(self, outcomes: Mapping[int, Ranked | UnansweredError]) -> None:
        """Report progress, with new outcomes, if anybody listens."""
        if self._progress is None:
            return
        self._done += len(outcomes)
        self._failed += sum(isinstance(outcome, UnansweredError) for outcome in outcomes.values())
        done = self._done
        parts = [
            f"{done:,} of {counted(self._todo, 'query', 'queries')}",
            f"{self._cached:,} cached",
        ]
        parts += [f"{self._failed:,} failed"] if self._failed else []
        seconds = time.monotonic() - self._start
        if done and seconds > 0:
            parts.append(f"{done / seconds:.1f}/s")
            if done < self._todo:
                parts.append(f"{duration((self._todo - done) * seconds / done)} left")
        self._progress(done / self._todo if self._todo else 1.0, ", ".join(parts))
