"""`FunctionModel`: a Python function as a model."""

from collections.abc import Callable, Sequence

from gainful.errors import GainfulError, InputError
from gainful.integrations.calling.http_client import readable
from gainful.integrations.calling.parallel_calls import UnansweredError
from gainful.judging.assessors.model_endpoint import Reply
from gainful.message_texts import counted, shortened, shown

_LONGEST_REASON = 300


class FunctionModel:
    """A function from a prompt to an answer, or from a list of prompts to a list of answers."""

    def __init__(self, function: Callable[..., object], called: str, *, several: bool) -> None:
        self._function, self._called, self._several = function, called, several

    @property
    def name(self) -> str:
        """Its name in messages."""
        return f"model {self._called}"

    @property
    def identity(self) -> list[object]:
        """Its name, since its code cannot be inspected."""
        return ["function", self._called]

    def ask(self, prompts: Sequence[str]) -> list[Reply]:
        """Return the answer to each prompt."""
        try:
            replies = self._function([*prompts]) if self._several else [self._function(prompts[0])]
        except GainfulError:
            raise
        except Exception as problem:  # a model may raise anything
            why = shortened(f"{type(problem).__name__}: {problem}", _LONGEST_REASON)
            raise UnansweredError(why, again=True) from problem
        if not isinstance(replies, list | tuple) or len(replies) != len(prompts):
            actual = (
                counted(len(replies), "answer")
                if isinstance(replies, list | tuple)
                else shown(replies)
            )
            raise InputError("model", f"a list of {counted(len(prompts), 'answer')}", actual)
        for answer in replies:
            if not isinstance(answer, str):
                raise InputError("model", "a string as the answer to a prompt", shown(answer))
        return [Reply(readable(str(answer))) for answer in replies]

    def close(self) -> None:
        """Hold nothing."""
