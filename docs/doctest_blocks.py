"""An extension of griffe: the examples in docstrings are blocks of code on the pages of the site."""

import re
from typing import Any

import griffe

# From a prompt to the next blank line; more of the same example may follow.
EXAMPLE = re.compile(r"^( *)>>> .*?(?=\n\s*\n(?! *>>> )|\Z)", re.DOTALL | re.MULTILINE)


def fenced(text: str) -> str:
    """Return a docstring with fences around its examples."""
    return EXAMPLE.sub(lambda found: f"{found[1]}```pycon\n{found[0]}\n{found[1]}```", text)


class DoctestBlocks(griffe.Extension):
    """Puts fences around the examples of every docstring."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of a module, class, function or attribute."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
