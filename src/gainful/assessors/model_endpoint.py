"""`Endpoint`: a model behind an address that speaks chat completions, the form of OpenAI's interface.

Many servers have it, those for models on one's own machines among them. Nothing but the standard library is needed.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gainful.calling.environment_keys import NAME_THE_KEY
from gainful.calling.http_client import HttpClient, Request, read_address, readable
from gainful.calling.many_calls import UnansweredError
from gainful.errors import InputError
from gainful.message_texts import shown

_PATH = "/chat/completions"
_ADDRESS = "the address of a server, such as 'http://localhost:8000/v1'"
_OURS = (
    "model",
    "messages",
    "stream",
    "n",
)  # the parameters of a request that are not the caller's


class Reply(NamedTuple):
    """What a model answered.

    Attributes:
        text: the answer.
        tokens_in: of the prompt, as the server counts them; 0 where it does not.
        tokens_out: of the answer.
        cut: whether it ends where the limit of its length was, and so may lack its end.
    """

    text: str
    tokens_in: int = 0
    tokens_out: int = 0
    cut: bool = False


class Endpoint:
    """A model behind an address; threads may ask it at the same time.

    Attributes:
        name: what messages call it: the address without its query.
        model: the name of the model.
    """

    def __init__(
        self,
        url: object,
        model: str,
        *,
        key: str | None,
        parameters: Mapping[str, object],
        timeout: float,
    ) -> None:
        parts = read_address(url, "endpoint", _ADDRESS)
        path = parts.path.rstrip("/").removesuffix(_PATH) + _PATH
        self._target = path + (f"?{parts.query}" if parts.query else "")
        self.name = f"{parts.scheme}://{parts.netloc}{path}"
        self.model = model
        self._parameters = dict(parameters)
        self._headers = {"Content-Type": "application/json"}
        if key is not None:
            self._headers["Authorization"] = f"Bearer {key}"
        about_the_key = NAME_THE_KEY if key is None else "Check the key, and what it permits."
        self._server = HttpClient(
            parts,
            timeout=timeout,
            secrets=() if key is None else (key,),
            remedies={
                401: about_the_key,
                403: about_the_key,
                404: f"Check the address and the name of the model, {shown(model)}.",
            },
        )

    @property
    def identity(self) -> list[object]:
        """What tells its answers from those of others; the key is no part of it."""
        return [f"{self.name}{self._target.partition('?')[2]}", self.model, self._parameters]

    def ask(self, prompts: Sequence[str]) -> list[Reply]:
        """Return the answer to each prompt, of which there is one."""
        (prompt,) = prompts
        messages = [{"role": "user", "content": prompt}]
        body = json.dumps({"model": self.model, "messages": messages, **self._parameters})
        found, text = self._server.ask_json(
            Request("POST", self._target, body.encode(), self._headers)
        )
        return [self._reply(found, text)]

    def close(self) -> None:
        """Close all connections; who still waits for an answer gets none."""
        self._server.close()

    def _reply(self, found: Any, text: str) -> Reply:
        try:
            choice = found["choices"][0]
            told = _content(choice["message"])
        except (KeyError, IndexError, TypeError, AttributeError):
            said = self._server.show(text)
            raise UnansweredError(f"no choices[0].message in {said}", again=True) from None
        usage = found.get("usage")
        counts = usage if isinstance(usage, dict) else {}
        return Reply(
            readable(self._server.clean(told)),
            _count(counts.get("prompt_tokens")),
            _count(counts.get("completion_tokens")),
            choice.get("finish_reason") == "length",
        )


def _content(message: Mapping[str, Any]) -> str:
    """Return the text of a message: a text, parts of it, or none where the model refuses."""
    content = message["content"]
    if content is None:
        refusal = message.get("refusal")
        return refusal if isinstance(refusal, str) else ""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part.get("type") == "text")
    if not isinstance(content, str):
        raise TypeError
    return content


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def read_parameters(given: object) -> dict[str, object]:
    """Return what else is sent with each request, such as {"temperature": 0}."""
    if given is None:
        return {}
    expected = "a dict of parameters, such as {'temperature': 0}"
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise InputError("parameters", expected, shown(given))
    for name in given:
        if name in _OURS:
            raise InputError("parameters", f"others than {', '.join(_OURS)}", shown(name))
    try:
        found: dict[str, object] = json.loads(json.dumps(dict(given), allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        raise InputError("parameters", f"{expected}, of what JSON holds", shown(given)) from None
    return found
