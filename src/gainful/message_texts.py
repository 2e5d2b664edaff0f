"""The texts that messages are made of: values written briefly, and choices to pick from."""

import re
import reprlib
from collections.abc import Iterable

_MOST_CHOICES = 12  # a message is a short paragraph
_LONGEST_WORD = 100  # nothing longer was meant to be one of a few words
# The password of an address goes up to the last @: one may stand in it.
_PASSWORD = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://[^:@\s]*):\S*@")
_PARAMETER = re.compile(
    r"(?<=[?&;])([^?&=\s]*)=[^&\s]*((?:&[^&=\s]*(?=&|\s|\Z))*)"
)  # with what has no name of its own


def printable(text: str) -> str:
    r"""Show characters that would control a terminal, or break a line, as escapes.

    >>> print(printable("q\x1b[31m\n"))
    q\x1b[31m\n
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else repr(character)[1:-1] for character in text
    )


def without_password(text: str) -> str:
    """Replace the password of every address in a text by …, whatever the scheme of the address.

    >>> without_password("postgresql://ann:p@ss/word@host/db?sslmode=require&password=secret")
    'postgresql://ann:…@host/db?sslmode=require&password=…'
    >>> without_password("found 'mysql+pymysql://ann:secret@host/db'.")
    "found 'mysql+pymysql://ann:…@host/db'."
    """
    if "://" not in text:
        return text
    # Imported here because few messages have addresses.
    from urllib.parse import unquote

    def hidden(part: re.Match[str]) -> str:
        is_secret = unquote(part[1]).lower().endswith(("password", "passwd", "pwd"))
        return f"{part[1]}=…" if is_secret else part[0]

    # The parameters first: an @ may stand in their values.
    return _PASSWORD.sub(r"\1:…@", _PARAMETER.sub(hidden, text))


_HUGE = 2_000  # bits: six hundred digits


class _Short(reprlib.Repr):
    """Writes any value on one short line, whatever its own `repr` does."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = 60

    def repr1(self, x: object, level: int) -> str:
        try:
            shape = getattr(x, "shape", None)
            if isinstance(shape, tuple) and shape and not isinstance(x, type):
                # A frame or an array would be long, and one on a device is not looked into.
                return f"{type(x).__name__} of shape {shape}"
            text = super().repr1(x, level)
            return text if "\n" not in text else " ".join(text.split())
        except Exception:  # noqa: BLE001 - a message is made of what is wrong, and must not fail
            return type(x).__name__

    def repr_str(self, x: str, level: int) -> str:
        text = without_password(str(x))  # before its middle is left out, and with it the @
        return repr(text) if len(text) <= self.maxstring else super().repr_str(text, level)

    def repr_int(self, x: int, level: int) -> str:
        # Python writes no integer of thousands of digits.
        return "a huge integer" if x.bit_length() > _HUGE else super().repr_int(x, level)


_SHORT = _Short()


def shown(value: object) -> str:
    r"""Return the text of a value as in code, with the middle or the end left out if it is long.

    >>> shown({number: "x" * number for number in range(99)})
    "{0: '', 1: 'x', 2: 'xx', 3: 'xxx', ...}"
    >>> shown([10**5000, "two\\nlines"])
    "[a huge integer, 'two\\\\nlines']"
    """
    return _SHORT.repr(value)


def shown_with_type(value: object) -> str:
    """Return the text of a value after its type, unless the text starts with the type.

    >>> shown_with_type(7)
    'int 7'
    """
    name, text = type(value).__name__, shown(value)
    return text if text.startswith(name) else f"{name} {text}"


def shortened(text: str, most: int = 80) -> str:
    """Return a text, with … in place of its end if it is long.

    >>> shortened("one, two, three", 9)
    'one, two…'
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def closest(word: object, choices: Iterable[str]) -> str | None:
    """Return the choice that a misspelt word probably means, or None.

    >>> closest("Evalute", ["evaluate", "explain"])
    'evaluate'
    """
    if not isinstance(word, str) or len(word) > _LONGEST_WORD:
        return None
    import difflib

    folded = {choice.casefold(): choice for choice in choices}
    close = difflib.get_close_matches(word.casefold(), folded, n=1, cutoff=0.5)
    return folded[close[0]] if close else None


def did_you_mean(word: object, choices: Iterable[str]) -> str:
    """Suggest the closest choice, if a word was given at all, and list them, long ones shortened.

    >>> did_you_mean("expp2", ["linear", "exp2", "binary"])
    "Did you mean 'exp2'? Choices: linear, exp2, binary."
    >>> did_you_mean("zzz", ["linear", "exp2"])
    'Choices: linear, exp2.'
    >>> len(did_you_mean("zzz", ["a long name " * 1000]))
    90
    """
    listed = list(choices)
    meant = closest(word, listed)
    hint = f"Did you mean '{meant}'? " if meant else ""
    more = ", …" if len(listed) > _MOST_CHOICES else ""
    return f"{hint}Choices: {', '.join(map(shortened, listed[:_MOST_CHOICES]))}{more}."


def counted(count: int, one: str, more: str = "") -> str:
    """Write a count with its noun.

    >>> counted(1, "row"), counted(2_000, "query", "queries")
    ('1 row', '2,000 queries')
    """
    return f"{count:,} {one if count == 1 else more or one + 's'}"
