"""The web application of the desk: the pages of assessors and leads, and their JSON.

Safe by default. An invitation link sets a cookie that no script can read and no other site can use. Requests from other
sites are rejected, bodies and rates are limited, and a page may load nothing but its own files and permitted images. Every
response has the security headers, including errors. Error messages reveal nothing about internals.
"""

import asyncio
import hashlib
import hmac
import json
import logging
import math
import re
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import fields, is_dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qs

import gainful as gf
from gainful.errors import InputError, MissingDependencyError
from gainful.judging.desk import acts_from_pages, lead_requests
from gainful.judging.desk.study import Study
from gainful.judging.desk.study_records import Guideline, Person, Task
from gainful.rows.several_assessors import RULES
from gainful.rows.temporary_files import temporary_folder

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

PAGES = Path(__file__).parent / "pages"
LOOPBACK = ("127.0.0.1", "::1", "localhost")
SECRET_LENGTH = 12
"""The minimum length of a secret."""
EXPORTS = ("qrels", "csv", "tsv", "json", "jsonl", "parquet")
"""The formats that the lead's page exports, by file extension."""
_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::([0-9]{1,5}))?")
_LAST_PORT = 65535
_KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
_LARGEST_BODY = 1_000_000
_SLOWEST_BODY = 10.0  # seconds
_LARGEST_UPLOAD = (
    lead_requests.LARGEST_FILE * 4 // 3 + 100_000
)  # as base64, with the rest of the request
_SLOWEST_UPLOAD = 120.0  # seconds
_KEEP_FACTS = 2.0  # seconds: each response shows whether they have changed
_MOST_AHEAD = 100
_BETWEEN_ORDERS = 3.0  # seconds: measuring takes time that others would wait for
_REST_OF_ORDERS = 30.0  # times the duration of the last measurement
_SHOWN = 10  # documents to settle
_SETTLED = 100  # those that are
_RESAMPLES = 500  # so that a page that is open all the time never waits longer
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-store",
}
RAW_HEADERS = [(name.lower().encode(), value.encode()) for name, value in _HEADERS.items()]
"""The headers of every response, in the form in which they are sent."""
_MOST_AT_ONCE = 500  # requests being answered at the same time
_UNKNOWN = "This link is unknown or no longer works. Ask the lead of the study for a new one."
_NOT_THIS_NAME = "The desk does not have this name."
_ELSEWHERE = "This request comes from another site, so it was rejected."
_TROUBLE = "The desk cannot save or read right now. Your work is saved in this browser and will be sent again."
_log = logging.getLogger("gainful.desk")


def missing(package: str) -> MissingDependencyError:
    """Return the error of a package that the extra `[judge]` installs."""
    return MissingDependencyError.of_extra("the judging desk", package, "judge")


class _RefusedError(Exception):
    """A request that is rejected."""

    def __init__(self, status: int, words: str, wait: int | None = None) -> None:
        super().__init__(words)
        self.status, self.words, self.wait = status, words, wait


class Rates:
    """A limit on the requests of each client: a bucket of tokens that refills over time.

    >>> now = [0.0]
    >>> rates = Rates(per_second=2, at_once=3, clock=lambda: now[0])
    >>> [rates.allows("ann") for _ in range(4)], rates.allows("bob")
    ([True, True, True, False], True)
    >>> now[0] = 0.5
    >>> [rates.allows("ann") for _ in range(2)]
    [True, False]
    """

    _MOST = 10_000  # whom it remembers

    def __init__(
        self, *, per_second: float, at_once: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._per_second, self._at_once, self._clock = per_second, at_once, clock
        self._left: dict[str, tuple[float, float]] = {}

    def allows(self, who: str) -> bool:
        """Return whether another request is allowed, and count it."""
        now = self._clock()
        left, then = self._left.pop(who, (self._at_once, now))
        left = min(self._at_once, left + (now - then) * self._per_second)
        self._left[who] = (left - 1 if left >= 1 else left, now)
        if len(self._left) > self._MOST:
            self._left.pop(next(iter(self._left)))  # the client that was idle the longest
        return left >= 1


def app(
    study: Study, secret: str | None = None, *, hosts: tuple[str, ...] | None = LOOPBACK
) -> "ASGIApp":
    """Return the desk of a study as an application for a server such as uvicorn.

    Args:
        study: the study, a `gf.judging.Study`.
        secret: a string of at least 12 characters that everybody enters once, besides their link. Without one, serve the
            desk at a loopback address only.
        hosts: the permitted names of the desk, without ports; None for any. All other names are
            rejected, because another site could point them at this machine.

    Raises:
        InputError: a secret that is too short.
        MissingDependencyError: without the packages that the extra `judge` installs.
    """
    try:
        from starlette.applications import Starlette
        from starlette.exceptions import HTTPException
        from starlette.routing import Route
    except ImportError as problem:
        raise missing("starlette") from problem
    if secret is not None and len(secret) < SECRET_LENGTH:
        raise InputError(
            "secret",
            f"at least {SECRET_LENGTH} characters",
            str(len(secret)),
            "Use a longer secret.",
        )
    desk = _Desk(study, secret, hosts)
    routes = Starlette(
        exception_handlers={HTTPException: desk.not_taken, Exception: desk.failed},
        routes=[
            Route("/", desk.guarded(desk.assessor_page, page=True)),
            Route("/lead", desk.guarded(desk.lead_page, lead=True, page=True)),
            Route(
                "/i/{token}",
                desk.guarded(desk.enter, invited=False, page=True),
                methods=["GET", "POST"],
            ),
            Route("/pages/{name}", desk.guarded(desk.page_file, invited=False, page=True)),
            Route("/api/me", desk.guarded(desk.me)),
            Route("/api/next", desk.guarded(desk.next), methods=["POST"]),
            Route("/api/act", desk.guarded(desk.act), methods=["POST"]),
            Route("/api/lead/export", desk.guarded(desk.export, lead=True)),
            Route("/api/lead/record", desk.guarded(desk.record, lead=True)),
            Route("/api/lead/design", desk.guarded(desk.design, lead=True)),
            Route("/api/lead/{what}", desk.guarded(desk.lead_get, lead=True), methods=["GET"]),
            Route("/api/lead/{what}", desk.guarded(desk.lead_post, lead=True), methods=["POST"]),
            Route("/{path:path}", desk.guarded(desk.nothing, invited=False, page=True)),
        ],
    )
    return _EveryAnswer(routes)


Result = TypeVar("Result")
Endpoint = Callable[["Request", Any], Awaitable["Response"]]


class _EveryAnswer:
    """Adds the same headers to every response, and limits the number of simultaneous requests."""

    def __init__(self, routes: "ASGIApp") -> None:
        self._routes, self._under_way = routes, 0

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer a request, in the interface that servers use."""
        from starlette.responses import JSONResponse

        async def sent(message: "Message") -> None:
            if message["type"] == "http.response.start":
                own = message.get("headers", [])
                # a page may permit images from more hosts
                names = {name.lower() for name, _ in own}
                more = [header for header in RAW_HEADERS if header[0] not in names]
                message = {**message, "headers": [*own, *more]}
            await send(message)

        if self._under_way >= _MOST_AT_ONCE:
            busy = JSONResponse({"error": _TROUBLE}, 503, {"Retry-After": "2"})
            await busy(scope, receive, sent)
            return
        self._under_way += 1
        try:
            await self._routes(scope, receive, sent)
        finally:
            self._under_way -= 1


class _Desk:
    """The routes of one study."""

    def __init__(self, study: Study, secret: str | None, hosts: tuple[str, ...] | None) -> None:
        self._study, self._secret, self._hosts = study, secret, hosts
        # How long the facts that pages have received are valid, and their version.
        self._facts: tuple[float, str] = (0.0, "")
        self._rates = Rates(per_second=30, at_once=120)  # of a person
        self._strangers = Rates(
            per_second=0.5, at_once=20
        )  # for addresses that send wrong links or secrets
        self._files = {
            path.name: path.read_bytes() for path in PAGES.iterdir() if path.suffix in _KINDS
        }
        self._measured: dict[
            str, tuple[Any, Any]
        ] = {}  # measured results, each with the version of the record
        self._measuring = asyncio.Lock()
        self._turns = _Turns(study)
        self._askers = ThreadPoolExecutor(1, "desk asks")
        self._ordering: asyncio.Task[None] | None = None
        self._order_after = 0.0

    def guarded(
        self, endpoint: Endpoint, *, invited: bool = True, lead: bool = False, page: bool = False
    ) -> Callable[["Request"], Awaitable["Response"]]:
        """Return an endpoint behind all checks, whose errors are plain text."""

        async def answer(request: "Request") -> "Response":
            try:
                self._check_site(request, page=page)
                person = await self._person(request) if invited else None
                if lead and person is not None and person.role != "lead":
                    raise _RefusedError(403, "Only leads can open this page.")
                response = await endpoint(request, person)
            except _RefusedError as problem:
                response = self._refusal(problem, page=page)
            except gf.errors.GainfulError as problem:
                is_lead = lead or isinstance(problem, InputError)
                words = acts_from_pages.in_words(problem) if is_lead else _TROUBLE
                response = self._refusal(_RefusedError(400 if is_lead else 503, words), page=page)
            except Exception:  # noqa: BLE001 - whatever it is, only the log shows it
                path = request.scope["path"].partition("/i/")[0]
                _log.exception("the desk failed to answer %s", path)
                response = self._refusal(_RefusedError(500, _TROUBLE), page=page)
            return response

        return answer

    async def not_taken(self, request: "Request", problem: Any) -> "Response":
        """Respond that a page does not accept this method."""
        page = not request.scope["path"].startswith("/api/")
        refusal = _RefusedError(
            problem.status_code, "The desk does not accept this kind of request here."
        )
        response = self._refusal(refusal, page=page)
        response.headers.update(problem.headers or {})
        return response

    async def failed(self, request: "Request", _: Exception) -> "Response":
        """Reveal nothing about errors outside the endpoints; the server logs them."""
        page = not request.scope["path"].startswith("/api/")
        return self._refusal(_RefusedError(500, _TROUBLE), page=page)

    # Who asks

    def _check_site(self, request: "Request", *, page: bool) -> None:
        """Reject requests caused by another site."""
        headers = request.headers
        host = headers.get("host", "")
        name, _ = _host_and_port(request)
        if self._hosts is not None and name not in self._hosts:
            raise _RefusedError(400, _NOT_THIS_NAME)
        site, origin = headers.get("sec-fetch-site"), headers.get("origin")
        if page and request.method in ("GET", "HEAD"):
            # a link may be on any site, but opening it requires the cookie, which other sites can't send
            return
        if site not in (None, "same-origin", "none") or (
            origin is not None and origin.partition("://")[2] != host
        ):
            raise _RefusedError(403, _ELSEWHERE)
        if request.method == "POST" and not page:
            # another site cannot send it without asking the browser first
            if "x-desk" not in headers:
                raise _RefusedError(403, _ELSEWHERE)
            if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
                raise _RefusedError(415, "The desk accepts only JSON.")

    def _cookie_name(self, request: "Request") -> str:
        """Return the cookie of this desk: a browser sends cookies to every port of a machine."""
        _, port = _host_and_port(request)
        return f"desk{port or ''}"

    def _proof(self, token: str) -> str:
        """Return the proof that the person with this token has entered the secret."""
        key = hashlib.sha256((self._secret or "").encode()).digest()
        return hmac.new(key, token.encode(), "sha256").hexdigest()

    async def _who(self, token: str) -> Person | None:
        if not re.fullmatch(r"[A-Za-z0-9_-]{20,200}", token):
            return None
        return await _in_thread(
            self._askers,
            self._study._who,  # noqa: SLF001 - of the desk
            token,
        )

    async def _person(self, request: "Request") -> Person:
        cookie = request.cookies.get(self._cookie_name(request), "")
        token, _, proof = cookie.partition(".")
        person = None
        if cookie and hmac.compare_digest(proof.encode(), self._proof(token).encode()):
            person = await self._who(token)
        if person is None:
            if cookie:
                self._count_stranger(request)
            raise _RefusedError(401, _UNKNOWN)
        if not self._rates.allows(person.name):
            raise _RefusedError(
                429, "Too many requests at once. The page continues by itself.", wait=2
            )
        return person

    def _count_stranger(self, request: "Request") -> None:
        address = request.client.host if request.client else "?"
        if not self._strangers.allows(address):
            raise _RefusedError(429, "Too many wrong links. Wait a minute.", wait=60)

    # Pages

    async def enter(self, request: "Request", _: Person) -> "Response":
        """Open an invitation link: leave a cookie, and go on to the page.

        A redirect would not work: a browser that comes from another site, such as webmail, doesn't
        send a strict cookie with it. A small page therefore opens the desk by itself.
        """
        token = request.path_params["token"]
        person = await self._who(token)
        if person is None:
            self._count_stranger(request)
            raise _RefusedError(404, _UNKNOWN)
        if self._secret is not None:
            if request.method == "GET":
                return self._html("secret.html")
            form = (await self._body(request)).decode("utf-8", "replace")
            if not hmac.compare_digest(_form_value(form, "secret").encode(), self._secret.encode()):
                self._count_stranger(request)
                raise _RefusedError(403, "This secret is wrong. Go back and try again.")
        response = self._html("enter_lead.html" if person.role == "lead" else "enter.html")
        response.set_cookie(
            self._cookie_name(request),
            f"{token}.{self._proof(token)}",
            max_age=90 * 24 * 3600,
            httponly=True,
            samesite="strict",
            secure=request.scope["scheme"] == "https",
        )
        return response

    async def assessor_page(self, request: "Request", person: Person) -> "Response":  # noqa: ARG002
        """Show the assessor's page."""
        return await self._with_images(self._html("assessor.html"))

    async def lead_page(self, request: "Request", person: Person) -> "Response":  # noqa: ARG002
        """Show the lead's page."""
        return await self._with_images(self._html("lead.html"))

    async def _with_images(self, page: "Response") -> "Response":
        """Permit a page to load images from the hosts that the lead has set."""
        hosts = (await self._call(lambda: self._study.settings))["image_hosts"]
        if hosts:
            policy = _POLICY.replace("data:;", f"data: {' '.join(hosts)};")
            page.headers["Content-Security-Policy"] = policy
        return page

    async def page_file(self, request: "Request", _: Person) -> "Response":
        """Send a script or a style sheet of the pages."""
        name = request.path_params["name"]
        if name not in self._files or name.endswith(".html"):
            raise _RefusedError(404, "There is no such page.")
        return self._file(name)

    async def nothing(self, request: "Request", _: Person) -> "Response":  # noqa: ARG002
        """Respond that the page does not exist."""
        raise _RefusedError(404, "There is no such page.")

    def _html(self, name: str, status: int = 200) -> "Response":
        return self._file(name, status)

    def _file(self, name: str, status: int = 200) -> "Response":
        from starlette.responses import Response

        kind = _KINDS[Path(name).suffix]
        return Response(self._files[name], status, media_type=f"{kind}; charset=utf-8")

    def _refusal(self, problem: _RefusedError, *, page: bool) -> "Response":
        from starlette.responses import JSONResponse, Response

        if page:
            # The texts are our own, so they would not even need escaping.
            words = problem.words.replace("&", "&amp;").replace("<", "&lt;").encode()
            body = self._files["refusal.html"].replace(b"{words}", words)
            response = Response(body, problem.status, media_type="text/html; charset=utf-8")
        else:
            response = JSONResponse({"error": problem.words}, problem.status)
        if problem.wait is not None:
            response.headers["Retry-After"] = str(problem.wait)
        return response

    # JSON

    async def _body(self, request: "Request", *, upload: bool = False) -> bytes:
        """Read a body, unless it is too large or too slow."""
        largest = _LARGEST_UPLOAD if upload else _LARGEST_BODY
        body = bytearray()
        try:
            async with asyncio.timeout(_SLOWEST_UPLOAD if upload else _SLOWEST_BODY):
                async for part in request.stream():
                    body += part
                    if len(body) > largest:
                        raise _RefusedError(413, "This is more than the desk accepts at once.")
        except TimeoutError:
            raise _RefusedError(408, "The request took too long.") from None
        return bytes(body)

    async def _json(self, request: "Request", *, upload: bool = False) -> dict[str, Any]:
        body = await self._body(request, upload=upload)
        try:
            read = acts_from_pages.read_json
            content = await self._call(read, body) if upload else read(body)
        except (ValueError, RecursionError):
            raise _RefusedError(400, "This is not JSON.") from None
        if not isinstance(content, dict):
            raise _RefusedError(400, "Expected a JSON object.")
        return content

    async def _call(self, function: Callable[..., Any], *given: object, **named: object) -> Any:
        """Call the study in a separate thread, because it reads and writes files."""
        from starlette.concurrency import run_in_threadpool

        return await run_in_threadpool(function, *given, **named)

    async def me(self, request: "Request", person: Person) -> "Response":  # noqa: ARG002
        """Return who is asking, and the facts that the page needs once."""
        facts = await self._call(facts_of, self._study)
        self._facts = (time.monotonic() + _KEEP_FACTS, _mark(facts))
        mine = (await self._call(self._study.progress)).by_assessor[person.name]
        counts = {"done": mine.done + mine.cannot, "left": mine.left}
        own = {**facts, "mark": self._facts[1], "name": person.name, "role": person.role, **counts}
        return _answer(own)

    async def _marked(self, answer: dict[str, Any]) -> "Response":
        """Add the version of the facts to a response, so that pages request the facts again when they change."""
        if time.monotonic() > self._facts[0]:
            facts = await self._call(facts_of, self._study)
            self._facts = (time.monotonic() + _KEEP_FACTS, _mark(facts))
        return _answer({**answer, "mark": self._facts[1]})

    async def next(self, request: "Request", person: Person) -> "Response":
        """Lease the next documents to an assessor."""
        count = (await self._json(request)).get("count", 1)
        if isinstance(count, bool) or not isinstance(count, int) or not count > 0:
            raise _RefusedError(400, "count should be a positive number.")
        ahead = min(count, _MOST_AHEAD)
        tasks = await self._turns.take(self._study.assessor(person.name).next, ahead)
        queries = {task.query for task in tasks if not task.practice}
        counts = await self._call(self._study._counts_by_query, person.name, queries)  # noqa: SLF001
        return await self._marked({"tasks": tasks_told(tasks), "queries": counts})

    async def act(self, request: "Request", person: Person) -> "Response":
        """Record an assessor's actions."""
        acts = (await self._json(request)).get("acts")
        if not isinstance(acts, list) or len(acts) > acts_from_pages.MOST:
            raise _RefusedError(400, f"acts should be a list of at most {acts_from_pages.MOST}.")
        outcome = await self._turns.take(acts_from_pages.take, self._study, person.name, acts)
        if outcome["confirmed"] and self._ordering is None and time.monotonic() > self._order_after:
            self._ordering = asyncio.create_task(self._order())
        return await self._marked(outcome)

    async def _order(self) -> None:
        """Sort the remaining documents again, in the background."""
        begun = time.monotonic()
        try:
            await self._call(self._study._reorder)  # noqa: SLF001 - of the desk
        except gf.errors.GainfulError:
            _log.exception("the desk failed to sort the documents again")
        finally:
            now = time.monotonic()
            rest = max(_BETWEEN_ORDERS, _REST_OF_ORDERS * (now - begun))
            self._ordering, self._order_after = None, now + rest

    # The lead's requests

    async def lead_get(self, request: "Request", _: Person) -> "Response":
        """Return the progress of the study for the lead."""
        what = request.path_params["what"]
        if what == "progress":
            progress = await self._call(self._study.progress)
            return _answer({**plain(progress), "version": await self._call(self._version)})
        if what == "settings":
            return _answer(await self._call(lead_requests.settings, self._study))
        names = "shown" if request.query_params.get("names") == "shown" else "hidden"
        measured: dict[str, Callable[[], Any]] = {
            "standing": self._study.standing,
            "agreement": self._agreement,
            "disputed": lambda: self._disputed(names),
            "sampling": self._sampling,
        }
        if what not in measured:
            raise _RefusedError(404, "There is no such page.")
        async with self._measuring:  # one at a time, because measuring may take a while
            return _answer(await self._call(self._kept, f"{what} {names}", measured[what]))

    def _version(self) -> str:
        """Return a version that changes whenever the result of a measurement could."""
        settings = self._study.settings
        values = (settings[name] for name in ("measure", "order", "compare", "depth"))
        # Another program may have added runs and documents.
        return " ".join(map(str, [self._study._events(), *values, *self._study._brought()]))  # noqa: SLF001

    def _kept(self, what: str, function: Callable[[], Any]) -> Any:
        """Return a measured result, recomputed if the study has changed."""
        now = self._version()
        if self._measured.get(what, (None,))[0] != now:
            self._measured[what] = (now, plain(function()))
        return self._measured[what][1]

    def _sampling(self) -> dict[str, str]:
        """Describe the sampling design: the documents missing from it, or why it does not exist."""
        if self._study.settings["order"] != "random":
            return {"told": "Only a study in random order has a sampling design."}
        try:
            _, missing = self._study._design()  # noqa: SLF001
        except InputError as problem:
            return {"told": f"Not available yet. {acts_from_pages.in_words(problem)}"}
        return {"told": missing}

    def _agreement(self) -> dict[str, Any]:
        if not self._study.progress().several:
            why = "Agreement needs documents that several assessors have graded."
            return {"told": why, "more": "", "coefficients": []}
        agreement = self._study.agreement(resamples=_RESAMPLES)
        return {
            "told": agreement.sentence.replace("an item", "a document"),
            "more": f"{agreement.summary.replace('item', 'document')}.",
            "coefficients": agreement.coefficients,
        }

    def _disputed(self, names: str) -> dict[str, Any]:
        disputed = self._study.disputed(names=names)
        shown = [
            {**plain(item), **plain(self._study._document(item.item))}  # noqa: SLF001 - of the desk
            for item in disputed[:_SHOWN]
        ]
        settled = self._study._settled()  # noqa: SLF001 - only the page lists them
        return {
            "count": len(disputed),
            "shown": shown,
            "settled_count": len(settled),
            "settled": settled[:_SETTLED],
        }

    async def lead_post(self, request: "Request", person: Person) -> "Response":
        """Carry out an action of the lead."""
        actions: dict[str, Callable[[Any, str, dict[str, Any]], Any]] = {
            "invite": self._invite,
            "revoke": self._revoke,
            "adjudicate": acts_from_pages.adjudicate,
            "unsettle": acts_from_pages.unsettle,
            "guideline": self._guideline,
            "settings": lead_requests.change_settings,
            "grades": lead_requests.change_grades,
            "practice": lead_requests.practise,
            "import": lead_requests.bring_in,
            "reset": lead_requests.take_back,
        }
        what = request.path_params["what"]
        if what not in actions:
            raise _RefusedError(404, "There is no such page.")
        content = await self._json(request, upload=what in ("practice", "import"))
        answer = await self._call(actions[what], self._study, person.name, content)
        self._facts = (0.0, "")
        return _answer(answer)

    def _invite(self, study: Study, lead: str, content: dict[str, Any]) -> dict[str, str]:
        role = content.get("role", "assessor")
        if role not in ("assessor", "lead"):
            raise _RefusedError(400, "The role should be assessor or lead.")
        name = _text(content, "name", 100)
        if name == lead:  # a new link disables the one they are using
            raise _RefusedError(400, "This would lock you out. Choose another name.")
        return {"name": name, "path": f"/i/{study.invite(name, role)}"}

    def _revoke(self, study: Study, lead: str, content: dict[str, Any]) -> dict[str, str]:
        name = _text(content, "name", 100)
        if name == lead:
            raise _RefusedError(400, "This would lock you out.")
        study.revoke(name)
        return {"name": name}

    def _guideline(self, study: Study, _: str, content: dict[str, Any]) -> Guideline:
        text, now = _text(content, "text", 100_000, empty=True), study.guideline
        if content.get("version") not in (None, now.version) and text != now.text:
            problem = (
                f"The guideline has changed in the meantime: it is at version {now.version} now."
            )
            raise _RefusedError(409, problem)
        study.set(guideline=text)
        return study.guideline

    async def export(self, request: "Request", _: Person) -> "Response":
        """Send the grades as a file."""
        by = request.query_params.get("by", "merged")
        ending = request.query_params.get("format", "qrels")
        rule = request.query_params.get("rule", "mean")
        if by not in ("merged", "assessor") or ending not in EXPORTS:
            raise _RefusedError(
                400, f"by should be merged or assessor, format one of {', '.join(EXPORTS)}."
            )

        if rule not in RULES:
            raise _RefusedError(400, f"rule should be one of {', '.join(RULES)}.")

        def write(path: Path) -> None:
            self._study.export(path, by=by, rule=rule)

        return await self._download(write, f"{by}-judgments.{ending}")

    async def design(self, request: "Request", _: Person) -> "Response":  # noqa: ARG002
        """Send the sampling design of a study in random order."""
        return await self._download(lambda path: self._study.design().write(path), "design.json")

    async def _download(self, write: Callable[[Path], None], name: str) -> "Response":
        """Send the file that a function writes."""
        from starlette.responses import Response

        def written() -> bytes:
            folder = temporary_folder(None)
            try:
                write(folder.path / name)
                return (folder.path / name).read_bytes()
            finally:
                folder.remove()

        return Response(
            await self._call(written),
            media_type="application/octet-stream",
            headers={"Content-Disposition": f'attachment; filename="{name}"'},
        )

    async def record(self, request: "Request", _: Person) -> "Response":  # noqa: ARG002
        """Send the record: a line of JSON for each event."""
        from starlette.responses import Response

        def written() -> str:
            return "".join(
                f"{json.dumps(plain(event), ensure_ascii=False)}\n"
                for event in self._study.record()
            )

        return Response(
            await self._call(written),
            media_type="application/octet-stream",
            headers={"Content-Disposition": 'attachment; filename="record.jsonl"'},
        )


def _host_and_port(request: "Request") -> tuple[str, int | None]:
    """Return the name and the port in a request's Host header; reject a malformed one."""
    parts = _HOST.fullmatch(request.headers.get("host", ""))
    port = None if parts is None or parts[3] is None else int(parts[3])
    if parts is None or (port is not None and port > _LAST_PORT):
        raise _RefusedError(400, _NOT_THIS_NAME)
    return (parts[1] or parts[2]).lower(), port


def facts_of(study: Study) -> dict[str, Any]:
    """Return the facts about a study that a page needs once."""
    settings = study.settings
    return {
        "study": study._id(),  # noqa: SLF001
        "title": settings["title"] or "Judging desk",
        "scale": study.scale,
        "guideline": study.guideline,
        "tags": settings["tags"],
        "doc_format": settings["doc_format"],
        "image_hosts": settings["image_hosts"],
    }


def tasks_told(tasks: Sequence[Task]) -> list[dict[str, Any]]:
    """Return tasks as JSON values, without runs and ranks unless the lead shows them."""
    records = [plain(task) for task in tasks]
    for task in records:
        if task["ranks"] is None:
            del task["ranks"]
    return records


def _mark(facts: dict[str, Any]) -> str:
    """Return a short text that changes when the facts of pages change."""
    return hashlib.sha256(json.dumps(plain(facts)).encode()).hexdigest()[:16]


def _form_value(body: str, name: str) -> str:
    return parse_qs(body, max_num_fields=10).get(name, [""])[0]


def _text(content: dict[str, Any], name: str, most: int, *, empty: bool = False) -> str:
    value = content.get(name)
    if not isinstance(value, str) or len(value) > most or not (value.strip() or empty):
        raise _RefusedError(400, f"{name} should be a string of at most {most:,} characters.")
    return value.strip()


def plain(value: Any) -> Any:
    """Return records as JSON values; NaN and infinity become null.

    >>> plain({"q": (1.0, float("nan"))})
    {'q': [1.0, None]}
    """
    if isinstance(value, str | int | None):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {name: plain(getattr(value, name)) for name in _names_of(type(value))}
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    number = float(value)
    return number if math.isfinite(number) else None


@cache
def _names_of(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


class _Turns:
    """Runs actions one after the other in one thread, in the order of arrival; waiting ones are recorded together.

    Only one action is written at a time; with more threads, some would overtake others. And a disk
    takes as long for twenty actions as for one.
    """

    _MOST = 20  # together

    def __init__(self, study: Study) -> None:
        self._study = study
        self._thread = ThreadPoolExecutor(1, "desk acts")
        self._waiting: deque[tuple[asyncio.Future[Any], Callable[[], Any]]] = deque()
        self._going: asyncio.Task[None] | None = None

    async def take(self, function: Callable[..., Any], *given: object) -> Any:
        """Call a function when it is its turn, and return its result once it is on disk."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((future, partial(function, *given)))
        if self._going is None:
            self._going = asyncio.create_task(self._go())
        return await future

    async def _go(self) -> None:
        try:
            while self._waiting:
                several = [
                    self._waiting.popleft() for _ in range(min(len(self._waiting), self._MOST))
                ]
                calls = [call for _, call in several]
                try:
                    results = await _in_thread(self._thread, self._study._together, calls)  # noqa: SLF001
                except Exception as problem:  # noqa: BLE001 - the caller receives it
                    results = [problem] * len(calls)
                for (future, _), result in zip(several, results, strict=True):
                    if future.done():  # the caller has gone
                        continue
                    if isinstance(result, Exception):
                        future.set_exception(result)
                    else:
                        future.set_result(result)
        finally:
            self._going = None


async def _in_thread(threads: Executor, function: Callable[..., Result], *values: object) -> Result:
    """Call a function in a pool of threads, after its earlier calls."""
    return await asyncio.get_running_loop().run_in_executor(threads, function, *values)


def _answer(value: object) -> "Response":
    from starlette.responses import JSONResponse

    return JSONResponse(plain(value))
