"""`page`: turns payload, scripts and styles into one HTML document that needs nothing else."""

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from gainful.errors import InputError, MissingDependencyError
from gainful.message_texts import shown
from gainful.reporting.compressed_details import Packed, pack

if TYPE_CHECKING:
    from concurrent.futures import Future

FORMAT = 1
# One scope, in this order: when a file is loaded, it uses the files before it.
SCRIPTS = (
    "state.js",
    "packed.js",
    "elements.js",
    "tables.js",
    "charts.js",
    "verdict.js",
    "queries.js",
    "ranked.js",
    "worked.js",
    "evidence.js",
    "whatif.js",
    "detail.js",
    "reference.js",
    "assessors.js",
    "log.js",
    "downloads.js",
    "main.js",
)
_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def page(payload: Mapping[str, Any], packed: Packed | None = None) -> str:
    """Return a report as one HTML document that contains data, scripts and styles.

    Nothing is fetched: the Content-Security-Policy of the document allows its own scripts and
    styles, by their hashes, and no connections. Browsers don't run the payload, which is data; the
    scripts show every part of it as text. The details of queries are compressed in groups, and a
    group is decompressed when one of its queries is opened.

    Args:
        payload: the numbers and words of the report, as plain values; no NaN, no infinity.
        packed: the packed details; if None, the payload's details are packed.

    Raises:
        InputError: the payload has another format, or contains something that JSON cannot
            represent.
        MissingDependencyError: without the packages that the extra `report` installs.
    """
    if (version := payload.get("format")) != FORMAT:
        raise InputError("report", f"a payload of format {FORMAT}", shown(version))
    if packed is None:
        packed = pack(payload["details"].items())
    rest = {name: value for name, value in payload.items() if name != "details"}
    charts, script, style = _bundling().result(), _script(), asset("page.css")
    return str(
        _template().render(
            title=payload["title"],
            policy=content_policy([charts, script], style),
            style=style,
            payload=as_data({**rest, "packed": packed.data()}),
            charts=charts,
            script=script,
        )
    )


def as_data(payload: Mapping[str, object]) -> str:
    r"""Write JSON that is safe inside a `script` element, whatever its texts contain.

    >>> as_data({"id": "</script><b>&"})
    '{"id":"\\u003c/script\\u003e\\u003cb\\u003e\\u0026"}'
    """
    try:
        text = json.dumps(payload, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as problem:
        raise InputError("report", "plain, finite values", str(problem)) from problem
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def content_policy(scripts: list[str], style: str) -> str:
    """Return the Content-Security-Policy: only the page's own scripts may run, identified by their hashes."""
    allowed = " ".join(map(_hash, scripts))
    return (
        f"default-src 'none'; script-src {allowed}; style-src {_hash(style)}; "
        "img-src data: blob:; connect-src 'none'; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    """Return the source expression that allows an inline element with this text.

    >>> _hash("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


@cache
def _script() -> str:
    """Return the page's own script: its files in one scope."""
    files = "\n".join(asset(name) for name in SCRIPTS)
    return f'"use strict";\n(() => {{\n{files}\n}})();\n'


def prepare() -> None:
    """Start to bundle the chart scripts in the background, which takes seconds.

    A later `page` waits until it is done.
    """
    _bundling()


@cache
def _bundling() -> "Future[str]":
    from concurrent.futures import ThreadPoolExecutor

    executor = ThreadPoolExecutor(1, "gainful-page")
    future = executor.submit(_charting)
    executor.shutdown(wait=False)
    return future


def _charting() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script."""
    try:
        import vl_convert
    except ImportError as problem:
        raise _missing("vl-convert-python") from problem
    # The package's types require a snippet, but its function doesn't.
    bundle = vl_convert.javascript_bundle()  # type: ignore[call-arg]
    # A browser reads CR as LF, and hashes what it reads; an end tag would end the element.
    bundle = bundle.replace("\r\n", "\n").replace("\r", "\n")
    return bundle.replace("</script", r"<\/script").replace("<!--", r"\x3c!--")


@cache
def _template() -> Any:
    try:
        import jinja2
    except ImportError as problem:
        raise _missing("jinja2") from problem
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    return environment.from_string(asset("page.html.jinja"))


def asset(name: str) -> str:
    """Return the text of a file in this folder, with the line ends that a browser reads."""
    text = resources.files("gainful.reporting.page").joinpath(name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")


def _missing(package: str) -> MissingDependencyError:
    return MissingDependencyError.of_extra("report", package, "report")
