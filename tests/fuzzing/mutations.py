"""What goes wrong with files: single bytes, lines, cells, values of JSON, encodings, endings."""

import gzip
import re

from fuzzing.seeds import SEEDS

BITS = (
    b" ", b"\t", b"\n", b"\r", b"\r\n", b",", b";", b"|", b'"', b"'", b"\\", b"\0", b"\xff", b"#",
    b"\xef\xbb\xbf", b"{", b"}", b"[", b"]", b":", b"-", b"+", b"e", b"_", b".", b"0", b"nan", b"inf",
    b"NULL", b"1e999", b"\xc3", b"\xa0", b"a", b"  ", b'""', b"q1", b"\v", b"\f", b"\x1a", b"\x1c",
    b"\x85", b"\xe2\x80\xa8", b"\xed\xa0\x80", b"\\ud800", b"true", b"null", b"qid:", b"//", b"\\N",
)  # fmt: skip
NUMBERS = (
    b"1_0", b"+-1", b"0x1p3", b"1e3", b"1E+3", b".5", b"5.", b".", b"-", b"+1", b"-0", b"1e-400", b"1e400",
    b"nan", b"NaN", b"-nan", b"inf", b"Infinity", b"1d", b"1f", b"1,5", b"\xd9\xa3", b"1 2", b"00012",
    b"9007199254740993", b"9007199254740992", b"18446744073709551616", b"1" * 400, b"0." + b"1" * 400,
    b"4.9e-324", b"2.2250738585072011e-308", b"1.7976931348623159e308", b"true", b"", b'"1"', b" 1 ",
    b"\xef\xbc\x91", b"1e", b"e1", b"--1", b"1-", b"1e1.5", b"$1", b"1%", b"0b1", b"1L", b"null", b"\xe2\x88\x921",
)  # fmt: skip
VALUES = (
    b"null", b"true", b"false", b"[]", b"{}", b'""', b'"x"', b"1", b"-1", b"1.5", b"1e999", b"NaN", b"-Infinity",
    b"9007199254740993", b"18446744073709551617", b"1.0", b'{"a": 1}', b"[1]", b'"\\ud800"', b'"\\u0000"', b"01", b"1_0",
    b"+1", b".5", b"'x'", b'"\\x"', b'"a\tb"', b"1e400", b"123456789012345678901234567890",
)  # fmt: skip
JSON_VALUE = re.compile(rb'(?<=: )("[^"]*"|-?[0-9.e+-]+)')
CELL = re.compile(rb"[^\s,;|\"{}\[\]:]+")
DECIMAL = re.compile(rb"(?<![\w.])-?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?(?![\w.])")
LINE_ENDS = (b"\n", b"\r\n", b"\r", b"\r\r", b"\n\n", b"\n\r", b"\r\r\n", b" \n", b"\n ")
ENDINGS = (
    "",
    ".txt",
    ".csv",
    ".tsv",
    ".json",
    ".jsonl",
    ".run",
    ".qrels",
    ".CSV",
    ".gz",
    ".parquet",
)


def flip(content, rng):
    place = rng.randrange(len(content))
    return content[:place] + bytes([content[place] ^ 1 << rng.randrange(8)]) + content[place + 1 :]


def insert(content, rng):
    place = rng.randint(0, len(content))
    return content[:place] + rng.choice(BITS) + content[place:]


def delete(content, rng):
    place = rng.randrange(len(content))
    return content[:place] + content[place + rng.randint(1, 12) :]


def duplicate(content, rng):
    place = rng.randrange(len(content))
    end = place + rng.randint(1, 24)
    return content[:end] + content[place:end] + content[end:]


def cut(content, rng):
    return content[: rng.randrange(len(content))]


def splice(content, rng):
    return content[: rng.randrange(len(content))] + content[rng.randrange(len(content)) :]


def cross(content, rng):
    """Go on as another file does."""
    other = rng.choice(SEEDS).content
    return content[: rng.randint(0, len(content))] + other[rng.randrange(len(other)) :]


def tail(content, rng):
    """End as a crash or an editor leaves a file."""
    return content + rng.choice(
        (bytes(64), b"\0", b"\x1a", b"\n\n\n", b" ", b"\t\n", b"\r", b'"', b"\xef\xbb\xbf")
    )


def lines(content, rng):
    """Drop, repeat, swap or join lines, or put a blank one or a comment between."""
    found = content.split(b"\n")
    place = rng.randrange(len(found))
    other = rng.randrange(len(found))
    how = rng.randrange(6)
    if how == 0:
        del found[place]
    elif how == 1:
        found.insert(place, found[other])
    elif how == 2:
        found[place], found[other] = found[other], found[place]
    elif how == 3:
        found[place : place + 2] = [b"".join(found[place : place + 2])]
    else:
        found.insert(
            place,
            rng.choice(
                (b"", b" ", b"\t", b"# note", b"#", b"\r", b",,", b"{}", b"query,doc,score")
            ),
        )
    return b"\n".join(found)


def line_ends(content, rng):
    end = rng.choice(LINE_ENDS)
    if rng.random() < 0.5:
        return content.replace(b"\r\n", b"\n").replace(b"\n", end)
    return content.replace(b"\n", end, rng.randint(1, 3))


def one_line_end(content, rng):
    """End one line in another way, the first as often as all others: readers skip a header by its end."""
    found = list(re.finditer(rb"\r\n|\r|\n", content))
    if not found:
        return content
    place = rng.choice((found[0], rng.choice(found)))
    return content[: place.start()] + rng.choice(LINE_ENDS) + content[place.end() :]


def replaced(content, pattern, rng, by):
    found = list(pattern.finditer(content))
    if not found:
        return content
    place = rng.choice(found)
    return content[: place.start()] + by(place.group()) + content[place.end() :]


def number(content, rng):
    """Write a number in another way, or something that looks like one."""
    return replaced(content, DECIMAL, rng, lambda _: rng.choice(NUMBERS))


def cell(content, rng):
    """Change a field: its case, quotes around it, nothing in it, another's content."""
    ways = (
        bytes.upper, bytes.title, lambda text: b'"' + text + b'"', lambda text: b"'" + text + b"'",
        lambda _: b"", lambda text: b" " + text, lambda text: text + b" ", lambda text: b'"' + text,
        lambda text: text + b'"', lambda text: text * 2, lambda text: text + b"\t", lambda text: b'""' + text,
        lambda _: rng.choice(CELL.findall(content)), lambda text: text + b",", lambda text: b'"' + text + b'\n"',
        lambda text: text * 4000,
    )  # fmt: skip
    return replaced(content, CELL, rng, rng.choice(ways))


def value(content, rng):
    """Put another value in its place in JSON."""
    return replaced(content, JSON_VALUE, rng, lambda _: rng.choice(VALUES))


def encoding(content, rng):
    """Write text in another encoding, or with a mark of one."""
    how = rng.randrange(5)
    if how == 0:
        return b"\xef\xbb\xbf" + content
    try:
        text = content.decode()
        return text.encode(("latin-1", "utf-16", "utf-16-le", "utf-8")[how - 1], errors="ignore")
    except UnicodeDecodeError:
        return content


def packing(content, rng):
    """Pack what is plain, twice what is packed, or part of it."""
    packed = gzip.compress(content, 1, mtime=0)
    return rng.choice(
        (packed, packed + packed, packed[:-4], packed + b"\0" * 8, packed[:-8] + bytes(8))
    )


def noise(content, rng):
    """Put bytes without any meaning in the place of some."""
    place = rng.choice((0, rng.randrange(len(content))))
    return content[:place] + rng.randbytes(rng.randint(1, 200))


MUTATIONS = (
    flip, insert, insert, delete, duplicate, cut, splice, cross, tail, lines, lines, line_ends, one_line_end, number, number, cell,
    cell, value, encoding, packing, noise,
)  # fmt: skip


def mutated(seed, rng):
    """Return a seed after one to three accidents; its name may change, too."""
    content = seed.content
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3))):
        if content:
            content = rng.choice(MUTATIONS)(content, rng)
    name = seed.name
    if rng.random() < 0.1:
        name = name.partition(".")[0] + rng.choice(ENDINGS)
    return seed._replace(name=name, content=content)
