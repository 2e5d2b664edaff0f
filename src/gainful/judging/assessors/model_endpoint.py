"""`Endpoint`: a model on a server with an OpenAI-compatible chat completions API.

Many servers offer it, including servers for local models. Only the standard library is needed.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gainful.errors import InputError
from gainful.integrations.calling.environment_keys import NAME_THE_KEY
from gainful.integrations.calling.http_client import HttpClient, Request, read_address, readable
from gainful.integrations.calling.parallel_calls import UnansweredError
from gainful.message_texts import shown

_PATH = "/chat/completions"
_ADDRESS = "the address of a server, such as 'http://localhost:8000/v1'"
_OURS = (
    "model",
    "messages",
    "stream",
    "n",
)  # parameters of a request that gainful sets itself


class Reply(NamedTuple):
    """A model's answer.

    Attributes:
        text: the answer.
        tokens_in: the tokens of the prompt, as counted by the server; 0 if it doesn't count them.
        tokens_out: the tokens of the answer.
        cut: whether it was truncated at the length limit.
    """

    text: str
    tokens_in: int = 0
    tokens_out: int = 0
    cut: bool = False


class Endpoint:
    """A model on a server; several threads may use it at the same time.

    Attributes:
        name: its name in messages: the address without its query string.
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
        about_the_key = NAME_THE_KEY if key is None else "Check the key and its permissions."
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
        """The identity of its answers, compared with other models; the key is not part of it."""
        return [f"{self.name}{self._target.partition('?')[2]}", self.model, self._parameters]

    def ask(self, prompts: Sequence[str]) -> list[Reply]:
        """Return the answer to each prompt; there is exactly one."""
        (prompt,) = prompts
        messages = [{"role": "user", "content": prompt}]
        body = json.dumps({"model": self.model, "messages": messages, **self._parameters})
        answer, text = self._server.ask_json(
            Request("POST", self._target, body.encode(), self._headers)
        )
        return [self._reply(answer, text)]

    def close(self) -> None:
        """Close all connections; pending answers are lost."""
        self._server.close()

    def _reply(self, answer: Any, text: str) -> Reply:
        try:
            choice = answer["choices"][0]
            content = _content(choice["message"])
        except (KeyError, IndexError, TypeError, AttributeError):
            excerpt = self._server.show(text)
            raise UnansweredError(f"no choices[0].message in {excerpt}", again=True) from None
        usage = answer.get("usage")
        counts = usage if isinstance(usage, dict) else {}
        return Reply(
            readable(self._server.clean(content)),
            _count(counts.get("prompt_tokens")),
            _count(counts.get("completion_tokens")),
            choice.get("finish_reason") == "length",
        )


def _content(message: Mapping[str, object]) -> str:
    """Return the text of a message: a string, parts of one, or nothing if the model refuses."""
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


def read_parameters(value: object) -> dict[str, object]:
    """Return the further parameters of each request, such as {"temperature": 0}."""
    if value is None:
        return {}
    expected = "a dict of parameters, such as {'temperature': 0}"
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise InputError("parameters", expected, shown(value))
    for name in value:
        if name in _OURS:
            raise InputError("parameters", f"parameters other than {', '.join(_OURS)}", shown(name))
    try:
        plain: dict[str, object] = json.loads(json.dumps(dict(value), allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        raise InputError("parameters", f"{expected}, with JSON values", shown(value)) from None
    return plain
