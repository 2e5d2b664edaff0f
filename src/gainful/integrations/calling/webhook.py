"""`Webhook`: posts the result of a watch as JSON, to an address that an environment variable contains."""

import json
import os
import re
import threading
from collections.abc import Mapping
from typing import Any, Protocol

from gainful import arguments
from gainful.errors import GainfulError, InputError
from gainful.integrations.calling.environment_keys import read_key
from gainful.integrations.calling.http_client import HttpClient, Request, read_address
from gainful.integrations.calling.parallel_calls import CLOCK, UnansweredError, read_positive
from gainful.message_texts import did_you_mean, shown
from gainful.rows.files import opened, path_of

FIELDS = (
    "paragraph", "result", "title", "markdown", "runs", "time", "label", "commit", "history", "details"
)  # fmt: skip
"""The places in a template. `details` is an object if it is all of a text, and JSON inside of one."""
_DEFAULT: Mapping[str, Any] = {"text": "{title}. {paragraph}"}
_PLACE = re.compile(r"(?<![{$])\{(\w+)\}(?!\})")
_EXPECTED = 'a JSON object such as {"text": "{paragraph}"}, or the path of a file that contains one'
_MOST_RETRIES = 20
_SHORTEST_SECRET = 6  # characters of a word of the address that answers may not repeat
_LONGEST_WAIT = 60.0  # seconds between tries


class HasFields(Protocol):
    """A result whose fields a template can contain."""

    def fields(self) -> Mapping[str, Any]:
        """Return the value of each place."""


class Webhook:
    """An address to which results are posted as JSON.

    >>> import os
    >>> os.environ["CHAT_URL"] = "https://chat.example.com/hooks/secret"
    >>> Webhook("CHAT_URL", {"text": "{result}: {paragraph}"}).body({"result": "passed", "paragraph": "nDCG@10 0.4"})
    '{"text": "passed: nDCG@10 0.4"}'
    """

    def __init__(
        self,
        variable: str,
        template: Mapping[str, Any] | str | os.PathLike[str] | None = None,
        *,
        timeout: float = 10.0,
        retries: int = 3,
    ) -> None:
        """Check everything, without sending anything.

        Args:
            variable: the environment variable that contains the address. The address is never saved or printed.
            template: the body: JSON whose texts may contain {paragraph}, {result}, {title}, {markdown}, {runs}, {time},
                {label}, {commit}, {history} and {details}, as a dict, as text or as the path of a file. {"text": "{title}.
                {paragraph}"} if None, which Slack, Mattermost, Google Chat and others understand.
            timeout: the time limit of a try, in seconds.
            retries: how often a failed try is repeated, after 1, 2, 4, … seconds.
        """
        url = read_key(variable, "webhook")
        expected = "the name of an environment variable that holds an address, such as https://…"
        if url is None:
            raise InputError("webhook", expected, "None")
        parts = read_address(url, "webhook", expected, written="another text")
        self._template = _DEFAULT if template is None else _read_template(template)
        self._retries = arguments.whole(retries, "retries", least=0, most=_MOST_RETRIES)
        seconds = read_positive(timeout, "timeout")
        words = (word for word in re.split("[/?&=]", url) if len(word) >= _SHORTEST_SECRET)
        self._client = HttpClient(parts, timeout=seconds, secrets=[url, *words])
        self._target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")

    def body(self, result: HasFields | Mapping[str, Any]) -> str:
        """Return the JSON that would be posted for a result, or for fields by name."""
        fields = result if isinstance(result, Mapping) else result.fields()
        return json.dumps(_filled(self._template, fields), ensure_ascii=False)

    def send(self, result: HasFields | Mapping[str, Any]) -> None:
        """Post a result, or fields by name.

        Raises:
            GainfulError: if the server did not accept it, after all retries.
        """
        headers = {"Content-Type": "application/json; charset=utf-8"}
        request = Request("POST", self._target, self.body(result).encode(), headers)
        try:
            for tries_before in range(self._retries + 1):
                try:
                    self._client.send(request)
                except UnansweredError as problem:
                    may_pass = problem.again or not self._client.has_answered
                    if tries_before == self._retries or not may_pass:
                        raise GainfulError(
                            "webhook", "an answer", problem.why, problem.remedy
                        ) from None
                    wait = problem.after or 2.0**tries_before
                    CLOCK.sleep(min(wait, _LONGEST_WAIT), threading.Event())
                else:
                    return
        finally:
            self._client.close()

    def __repr__(self) -> str:
        return f"Webhook({json.dumps(self._template)})"


def _read_template(template: object) -> Mapping[str, Any]:
    """Return a template, whose places are known."""
    name = "template"
    if isinstance(template, str | os.PathLike) and not str(template).lstrip().startswith("{"):
        name = path_of(template)
        with opened(name) as file:
            template = file.read().decode("utf-8-sig", errors="replace")
    try:
        text = template if isinstance(template, str) else json.dumps(template, allow_nan=False)
        content = json.loads(text)
    except (TypeError, ValueError, RecursionError) as problem:
        raise InputError(name, _EXPECTED, f"no JSON ({problem})") from None
    if not isinstance(content, dict):
        raise InputError(name, _EXPECTED, shown(content))
    for word in _PLACE.findall(text):
        if word not in FIELDS:
            expected = f"only the places {', '.join(f'{{{field}}}' for field in FIELDS)}"
            raise InputError(name, expected, f"{{{word}}}", did_you_mean(word, FIELDS))
    return content


def _filled(template: Any, fields: Mapping[str, Any]) -> Any:
    """Return a template with the values of its places."""
    if isinstance(template, Mapping):
        return {key: _filled(value, fields) for key, value in template.items()}
    if isinstance(template, list):
        return [_filled(value, fields) for value in template]
    if not isinstance(template, str):
        return template
    whole = _PLACE.fullmatch(template)
    if whole is not None:
        return fields.get(whole[1], "")
    return _PLACE.sub(lambda place: _as_text(fields.get(place[1], "")), template)


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
