"""A function that plays a model that grades hotels. It reads words, and often misses what a "no" does to them.

`grade` takes a prompt as `gf.judging.collect_grades` writes it and answers as a model would. The same prompt always has the same
answer, and no network is needed.
"""

import re
import zlib

MISREAD = (
    0.25  # the share of texts in which it takes "no pool" for a pool, and "near Porto" for Porto
)


def grade(prompt: str) -> str:
    """Answer a prompt: a line about the hotel, and a line with the grade."""
    asked = re.search(
        r"searches for:\n(.+)\n\nThe document:\n(?:.*\n)+?(.+)\n\nThe grades:", prompt
    )
    given, found = look(*asked.groups())
    return f"It has {' and '.join(found) or 'nothing of that'}.\ngrade: {given}"


def look(query: str, text: str) -> tuple[int, list[str]]:
    """Return the grade of a hotel by its text, and what of the query it seems to have.

    >>> look("Porto hotel with pool and sauna", "In Porto. With sauna. No pool.")
    (2, ['Porto', 'sauna'])
    """
    city, wishes = read_query(query)
    seen = text
    if zlib.crc32(f"{query}: {text}".encode()) >= MISREAD * 2**32:
        seen = re.sub(r"\b(No|no|Near) \w+", "", text)
    found = [word for word in (city, *wishes) if word in seen]
    return (len(found) if city in found else 0), found


def read_query(query: str) -> tuple[str, list[str]]:
    """Return the city of a query, and the wishes.

    >>> read_query("Porto hotel with pool and sauna")
    ('Porto', ['pool', 'sauna'])
    """
    city, wishes = query.split(" hotel with ")
    return city, wishes.split(" and ")
