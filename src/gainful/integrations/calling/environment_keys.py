"""API keys from environment variables, which are sent but never saved or printed."""

import html
import json
import os
import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus, unquote_plus

from gainful.errors import InputError

NAME_THE_KEY = "Name the environment variable that holds the key: key_variable=…, on the command line --key-variable …."
_KEY = re.compile(r"[!-~]+")
_HIDDEN = "[key]"
_SECRET = re.compile("KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTHORI|COOKIE")
_SECRET_HEADER = re.compile("AUTH(?!OR(?!I))|SESSION")
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_LONG = 8
# For parameters, fewer names suggest a key, because of keywords, monkeys and sort keys.
_PARAMETER = re.compile(
    "key|.*(?:(?:api|access|secret|private|admin|subscription)key|token|secret|password|passwd|pwd|credentials?|auth)"
)
_PLACE = re.compile(r"\{\w+\}")
# The start of an address's parameters, even in a malformed address.
_BEFORE_PARAMETER = re.compile("[?&;#]")
_SERVER = re.compile(r"(?:[^/?#]*://)?[^/?#]*")
_WITH_PASSWORD = re.compile(r"://[^@?#/]*:(?!\d*(?:/|$))[^@?#]*@")


def read_key(variable: object, name: str = "key_variable") -> str | None:
    """Return the key from an environment variable; messages contain neither the key nor the name.

    So a key passed by mistake instead of the name is never printed.
    """
    if variable is None:
        return None
    expected = "the name of an environment variable that holds a key"
    if not isinstance(variable, str):
        raise InputError(name, expected, type(variable).__name__)
    try:
        key = os.environ.get(variable, "").strip()
    except (ValueError, UnicodeError):  # invalid as a name
        key = ""
    if not key:
        hint = "Set it: export NAME=…, and give NAME, not the key itself."
        raise InputError(name, expected, "none that is set", hint)
    if not _KEY.fullmatch(key):
        raise InputError(name, expected, "white space or other letters within it")
    return key


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """Return a text without secrets, whether plain or encoded as in JSON, HTML and addresses.

    >>> without_secrets("the key s3cret is wrong", ["s3cret"])
    'the key [key] is wrong'
    >>> without_secrets("no s3%2Fcret, no s3/cret", ["s3/cret"])
    'no [key], no [key]'
    """
    forms = {form for secret in secrets if secret for form in _forms(secret)}
    for form in sorted(forms, key=len, reverse=True):  # parts of another form come after it
        text = text.replace(form, _HIDDEN)
    return text


def _forms(secret: str) -> Iterator[str]:
    """Yield the forms in which a server may repeat a secret."""
    yield secret
    if secret.isalnum():
        return
    in_json = json.dumps(secret)[1:-1]
    yield in_json
    yield in_json.replace("/", "\\/")  # as PHP writes it
    yield html.escape(secret)
    for written in (quote(secret), quote(secret, safe=""), quote_plus(secret)):
        yield written
        yield re.sub("%..", lambda escape: escape[0].lower(), written)


def secrets_of_environment() -> tuple[str, ...]:
    """Return the environment's values with secret-sounding names, if long enough to hide safely."""
    return tuple(
        value
        for name, value in os.environ.items()
        if _SECRET.search(name.upper()) and len(value.strip()) >= _LONG
    )


def filled_from_environment(text: str, name: str) -> tuple[str, tuple[str, ...]]:
    """Return a text with ${NAME} replaced by environment variables, and their values.

    >>> filled_from_environment("no key", "headers")
    ('no key', ())
    """
    keys = [str(read_key(variable, name)) for variable in _VARIABLE.findall(text)]
    left = iter(keys)
    return _VARIABLE.sub(lambda _: next(left), text), tuple(keys)


def address_from_environment(text: str, name: str) -> tuple[str, tuple[str, ...]]:
    """Return an address with ${NAME} filled in, percent-encoded after the server, and the values.

    So no character of a key ends the address or starts another part, and braces in a key are
    literal.

    >>> address_from_environment("http://host/?q={query}", "url")
    ('http://host/?q={query}', ())
    """
    end = server_end(text)
    server, keys = filled_from_environment(text[:end], name)
    more = [str(read_key(variable, name)) for variable in _VARIABLE.findall(text[end:])]
    left = iter(more)
    rest = _VARIABLE.sub(lambda _: quote(next(left), safe=""), text[end:])
    return server + rest, (*keys, *more)


def server_end(text: str) -> int:
    """Return the end of the server's name in an address, before ${NAME} is filled in.

    >>> "http://host:80/path"[: server_end("http://host:80/path")]
    'http://host:80'
    """
    match = _SERVER.match(text)
    return 0 if match is None else match.end()


def is_secret_name(name: str) -> bool:
    """Return whether a name suggests a secret.

    >>> is_secret_name("X-Api-Key"), is_secret_name("Accept")
    (True, False)
    """
    return _SECRET.search(name.upper()) is not None


def is_secret_header(name: str) -> bool:
    """Return whether the name of a header suggests a secret; more names do than elsewhere.

    >>> is_secret_header("X-Auth"), is_secret_header("X-Session"), is_secret_header("X-Author")
    (True, True, False)
    """
    return is_secret_name(name) or _SECRET_HEADER.search(name.upper()) is not None


def refuse_key_in_address(text: str, name: str) -> None:
    """Reject an address that contains a key or a password; messages never show it.

    >>> refuse_key_in_address("http://host/?q={query}&api_key=${NAME}&keyword=rye", "url")
    """
    if _WITH_PASSWORD.search(text):
        raise InputError(name, "an address without a password", "one", NAME_THE_KEY)
    for parameter in _BEFORE_PARAMETER.split(text)[1:]:
        word, _, value = parameter.partition("=")
        plain = re.sub("[^a-z]", "", unquote_plus(word).lower())
        if not value:
            continue
        if _PARAMETER.fullmatch(plain) and not _VARIABLE.search(value) and not _PLACE.search(value):
            hint = f"Write {word}=${{NAME}}, and set the environment variable NAME."
            raise InputError(name, "a key from the environment", "the key itself", hint)
