r"""Names on charts: titles that fit their axis, and labels that are shortened in the middle.

Names are data, and Vega reads some texts of a specification as code, such as the titles of fields
and tooltips. Names therefore only appear in axis titles, which are plain text; fields have the
same titles on every chart, and labels come from the rows.
"""

import re
import textwrap
import unicodedata
from typing import Any

PIXELS = 7
"""The width of an average letter in pixels, with some to spare."""
LETTERS = 60
"""Labels shorten longer names; the tooltip shows the full name."""
LABEL_LIMIT = PIXELS * LETTERS
SEPARATOR = r"'\u2028'"
"""Separates the lines of a label, as an expression; `drawable` removes it from every name."""

# Characters that XML, and therefore a picture, cannot contain, and line separators.
_UNDRAWABLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]"
)
_EDGE = 45  # the symbol of an entry in a legend, and the space before the next
_BESIDE = 60  # the width of an axis, left of the legend
_STEPS = (8, 12, 18, 26, 40)  # the approximate number of letters of the longest name


def drawable(text: str) -> str:
    r"""Return a text with U+FFFD in place of characters that cannot be drawn.

    >>> drawable("a\x1bb"), drawable("naïve 🦆")
    ('a�b', 'naïve 🦆')
    """
    return _UNDRAWABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def in_lines(text: str, room: int | str) -> str | list[str]:
    """Return a title, broken into lines if it is longer than its axis.

    Args:
        text: the title on one line; names in it are at most as long as `shortened` makes them.
        room: the length of the axis in pixels; if a page determines it, the length on a typical
            page.

    >>> in_lines("nDCG@10 of new", 300)
    'nDCG@10 of new'
    >>> in_lines("nDCG@10 of a-run-with-a-long-name", 180)
    ['nDCG@10 of', 'a-run-with-a-long-name']
    """
    most = (room if isinstance(room, int) else PIXELS * LETTERS) // PIXELS
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    most = max(1, most * len(text) // (len(text) + wide)) if text else most
    # an arrow stays with its word
    glued = re.sub(" (?=[↑→])", "\N{NO-BREAK SPACE}", drawable(text))
    wrapped = textwrap.wrap(glued, max(most, 1), break_on_hyphens=False)
    lines = [line.replace("\N{NO-BREAK SPACE}", " ") for line in wrapped]
    return lines if len(lines) > 1 else " ".join(lines)


def shortened(name: str, letters: int = LETTERS) -> str:
    """Return a name on one line, without its middle if it is long, because names differ at their ends.

    >>> shortened("bm25-rm3-monot5-base-v11", 16)
    'bm25-rm…base-v11'
    """
    line = " ".join(drawable(name).split())
    if len(line) <= letters:
        return line
    kept = max(letters, 3) - 1
    return f"{line[: kept // 2]}…{line[-(kept - kept // 2) :]}"


def label(letters: int | str = LETTERS) -> str:
    """Return the expression of a label with one name and a limited number of letters."""
    return f"truncate(datum.label, {letters}, 'center')"


def label_in_lines(letters: int | str = LETTERS) -> str:
    """Return the expression of a label of up to three lines, each shortened."""
    lines = f"split(datum.label, {SEPARATOR})"
    one, two, three = (f"truncate({lines}[{at}], {letters}, 'center')" for at in range(3))
    return (
        f"length({lines}) > 2 ? [{one}, {two}, {three}] : "
        f"length({lines}) > 1 ? [{one}, {two}] : {one}"
    )


def fitting(*, columns: bool = False) -> list[dict[str, Any]]:
    """Return the parameters of a chart that is as wide as its container: `letters` and `columns`.

    A label takes at most a third of the width, and a legend has as many columns as the longest
    name of a run leaves room for.
    """
    width = f"(containerSize()[0] || {3 * LABEL_LIMIT})"
    letters = {"name": "letters", "expr": f"clamp(floor({width} / {3 * PIXELS}), 11, {LETTERS})"}
    if not columns:
        return [letters]
    entry = f"({PIXELS} * {run_letters('letters')} + {_EDGE})"
    return [letters, {"name": "columns", "expr": f"max(1, floor(({width} - {_BESIDE}) / {entry}))"}]


def run_letters(letters: int | str) -> str:
    """Return the expression of the approximate length of the longest name of a run, up to `letters`."""
    # Vega cannot compute the length of the longest text, only test whether one has a certain length.
    names = r"join(pluck(data('rows'), 'run'), '\n')"
    longest = str(letters)
    for step in reversed(_STEPS):
        longest = f"!test(regexp('.{{{step + 1}}}'), {names}) ? {step} : {longest}"
    return f"min({letters}, {longest})"
