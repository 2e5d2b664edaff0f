"""`FunctionModel`: a model that is a function of Python."""

from collections.abc import Callable, Sequence
from typing import Any

from gainful.assessors.model_endpoint import Reply
from gainful.calling.http_client import readable
from gainful.calling.many_calls import UnansweredError
from gainful.errors import GainfulError, InputError
from gainful.message_texts import counted, shortened, shown

_LONGEST_REASON = 300


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
