"""Runs in text files that trip readers up, each with the one answer that every engine gives.

A file is read as the documents that stand here, or it is refused: REFUSED. Spark reads line by
line, so it refuses what goes over several lines: LINES_JOINED marks such files.
"""

REFUSED = None
LARGE = 2**53  # the next integer is no float64

_CSV = b"query,doc,score\n"
_GOOD = {"q": {"a": 2.0, "b": 1.0}}


def _json(*lines):
    good = b'{"query": "q", "doc": "a", "score": 2}\n{"query": "q", "doc": "b", "score": 1}\n'
    return good + b"\n".join(lines) + b"\n"


def _csv(*lines):
    return _CSV + b"q,a,2\nq,b,1\n" + b"\n".join(lines) + b"\n"


def _and(**more):
    return {"q": {**_GOOD["q"], **more}}


def _ids(doc):
    return {"q": {**_GOOD["q"], doc: 3.0}}


_TABLES = {
    "plain": (_csv(), _GOOD),
    "no last line end": (_csv(b"q,c,3")[:-1], _and(c=3.0)),
    "carriage returns": (_csv(b"q,c,3").replace(b"\n", b"\r\n"), _and(c=3.0)),
    "old line ends": (_csv(b"q,c,3").replace(b"\n", b"\r"), _and(c=3.0)),
    "byte order mark": (b"\xef\xbb\xbf" + _csv(b"q,c,3"), _and(c=3.0)),
    "byte order mark, no header line end": (b"\xef\xbb\xbfquery,doc,score", REFUSED),
    "blank lines": (b"\n\n" + _csv(b"", b"q,c,3", b""), _and(c=3.0)),
    "a line of blanks": (_csv(b"  ", b"q,c,3"), REFUSED),
    "comment": (_csv(b"# what wrote it"), REFUSED),
    "header again": (_csv(b"query,doc,score"), REFUSED),
    "header alone": (_CSV, REFUSED),
    "empty": (b"", REFUSED),
    "blank": (b"\n \n", REFUSED),
    "one field more": (_csv(b"q,c,3,4"), REFUSED),
    "one empty field more": (_csv(b"q,c,3,"), REFUSED),
    "one field less": (_csv(b"q,c"), REFUSED),
    "empty query": (_csv(b",c,3"), REFUSED),
    "empty doc": (_csv(b"q,,3"), REFUSED),
    "empty doc in quotes": (_csv(b'q,"",3'), REFUSED),
    "empty score": (_csv(b"q,c,"), REFUSED),
    "quotes": (_csv(b'"q","c","3"'), _and(c=3.0)),
    "delimiter in quotes": (_csv(b'q,"c,d",3'), _ids("c,d")),
    "quotes in quotes": (_csv(b'q,"c ""d""",3'), _ids('c "d"')),
    "blanks after quotes": (_csv(b'q,"c" ,3'), REFUSED),
    "blanks after a delimiter in quotes": (_csv(b'q,"c," ,3'), REFUSED),
    "blanks after a line end in quotes": (_csv(b'q,"c\n" ,3'), REFUSED),
    "blanks first in quotes": (_csv(b'q," c",3'), _ids(" c")),
    "blanks after a quote in quotes": (_csv(b'q,"c ""d"""  ,3'), REFUSED),
    "byte order mark on a line of its own": (b"\xef\xbb\xbf\n" + _csv(), _GOOD),
    "byte order mark before quotes that are closed too early": (
        b'\xef\xbb\xbf""' + _csv(b"q,c,3"),
        REFUSED,
    ),
    "quotes that are closed too early in the header": (b'""' + _csv(b"q,c,3"), REFUSED),
    "byte order mark before a name in quotes": (
        b'\xef\xbb\xbf"query"' + _csv(b"q,c,3").removeprefix(b"query"),
        _and(c=3.0),
    ),
    "a carriage return alone behind the header": (
        b"\r\n" + _CSV.replace(b"\n", b"\r") + b"q,a,2\r\nq,b,1\r\n",
        _GOOD,
    ),
    "a carriage return alone, before a blank": (
        _csv(b"q,c,3\r q,c,4").replace(b"\n", b"\r\n"),
        _and(c=3.0) | {" q": {"c": 4.0}},
    ),
    "byte order mark and blank lines": (b"\xef\xbb\xbf\r\n \n" + _csv(), _GOOD),
    "quotes that are not closed": (_csv(b'q,"c,3'), REFUSED),
    "quotes that are not closed, in the middle": (_csv(b'q,"c,3', b"q,d,4"), REFUSED),
    "blank id": (_csv(b"q, ,3"), _ids(" ")),
    "id with blanks": (_csv(b"q, c ,3"), _ids(" c ")),
    "id with NUL": (_csv(b"q,c\0d,3"), _ids("c\0d")),
    "id beyond ASCII": (_csv("q,é𝄞\u2028x,3".encode()), _ids("é𝄞\u2028x")),
    "id with zeros": (_csv(b"q,007,3"), _ids("007")),
    "id that is a fraction": (_csv(b"q,1.0,3"), _ids("1.0")),
    "id null": (_csv(b"q,null,3", b"q,NULL,4", b"q,\\N,5"), _and(null=3.0, NULL=4.0, **{"\\N": 5.0})),
    "latin-1": (_csv(b"q,caf\xe9,3"), REFUSED),
    "latin-1 in a column that is not read": (
        b"query,doc,score,text\nq,a,2,caf\xe9\nq,b,1,\n", _GOOD),
    "surrogate in UTF-8": (_csv(b"q,\xed\xa0\x80,3"), REFUSED),
    "overlong UTF-8": (_csv(b"q,\xc0\xaf,3"), REFUSED),
    "replacement character": (_csv("q,\ufffd,3".encode()), _ids("\ufffd")),
    "word": (_csv(b"q,c,good"), REFUSED),
    "truth": (_csv(b"q,c,true"), REFUSED),
    "nan": (_csv(b"q,c,NaN"), REFUSED),
    "infinite": (_csv(b"q,c,-inf"), REFUSED),
    "too large": (_csv(b"q,c,1e999"), REFUSED),
    "digits apart": (_csv(b"q,c,1_000"), REFUSED),
    "decimal comma": (_csv(b'q,c,"1,5"'), REFUSED),
    "hexadecimal": (_csv(b"q,c,0x10"), REFUSED),
    "letter after": (_csv(b"q,c,1d", b"q,d,1f"), REFUSED),
    "other digits": (_csv("q,c,٣".encode()), REFUSED),
    "two signs": (_csv(b"q,c,+-1"), REFUSED),
    "a sign": (_csv(b"q,c,+3"), _and(c=3.0)),
    "numbers": (
        _csv(b"q,c,.5", b"q,d,5.", b"q,e,1e-3", b"q,f,-1E+2", b"q,g,-0", b"q,h,5e-324"),
        _and(c=0.5, d=5.0, e=1e-3, f=-100.0, g=0.0, h=5e-324),
    ),
    "blanks around a number": (_csv(b"q,c, 3 "), _and(c=3.0)),
    "nearest float64": (
        _csv(b"q,c,0.1000000000000000055511151231257827", b"q,d,9007199254740993"),
        _and(c=0.1, d=float(LARGE)),
    ),
    "other columns": (
        b"rank,score,text,doc,query\n1,2,x,a,q\n2,1,,b,q\n", _GOOD),
    "document twice": (_csv(b"q,a,3"), REFUSED),
    "line ends of both kinds": (_CSV + b"q,a,2\r\nq,b,1\n", _GOOD),
}  # fmt: skip

_RECORDS = {
    "plain": (_json(), _GOOD),
    "no last line end": (_json(b'{"query":"q","doc":"c","score":3}')[:-1], _and(c=3.0)),
    "carriage returns": (_json().replace(b"\n", b"\r\n"), _GOOD),
    "byte order mark": (b"\xef\xbb\xbf" + _json(), _GOOD),
    "blank lines": (b"\n" + _json(b"", b" \t", b'{"query":"q","doc":"c","score":3}'), _and(c=3.0)),
    "another key in the place of one": (_json(b'{"query":"q","docinf":"c","score":3}'), REFUSED),
    "other keys, in another order": (
        _json(b'{"n":{"score":[9]},"score":3,"x":null,"doc":"c","query":"q"}'), _and(c=3.0)),
    "blanks around": (_json(b'  {"query" : "q" ,"doc":"c","score":3 }  '), _and(c=3.0)),
    "byte order mark in the middle": (
        _json(b'\xef\xbb\xbf{"query":"q","doc":"c","score":3}'), _and(c=3.0)),
    "comma before the end": (_json(b'{"query":"q","doc":"c","score":3,}'), REFUSED),
    "comma and blanks before the end": (_json(b'{"query":"q","doc":"c","score":3,\t  }'), REFUSED),
    "comma and many blanks before the end": (
        _json(b'{"query":"q","doc":"c","score":3,' + b" " * 40 + b"}"), REFUSED),
    "comma before the end of an array": (
        _json(b'{"query":"q","doc":"c","score":3,"x":[1,]}'), REFUSED),
    "comma and brace in an id": (_json(b'{"query":"q","doc":"c,}","score":3}'), _ids("c,}")),
    "many blanks before the end": (
        _json(b'{"query":"q","doc":"c","score":3' + b" " * 40 + b"}"), _and(c=3.0)),
    "form feed after the object": (_json(b'{"query":"q","doc":"c","score":3}\x0c'), REFUSED),
    "vertical tab before the object": (_json(b'\x0b{"query":"q","doc":"c","score":3}'), REFUSED),
    "rest after the object": (_json(b'{"query":"q","doc":"c","score":3} 4'), REFUSED),
    "object after the object": (
        _json(b'{"query":"q","doc":"c","score":3}{"query":"q","doc":"d","score":4}'), REFUSED),
    "object on two lines": (_json(b'{"query":"q","doc":"c",', b'"score":3}'), REFUSED),
    "surrogate in UTF-8 in a key": (_json(b'{"q\xed\xa0\x80":"q","doc":"c","score":3}'), REFUSED),
    "surrogate in UTF-8 in an id": (_json(b'{"query":"q","doc":"\xed\xa0\x80","score":3}'), REFUSED),
    "escaped surrogate in a key": (_json(b'{"\\ud800":"q","doc":"c","score":3}'), REFUSED),
    "escaped surrogate in an id": (_json(b'{"query":"\\ud800","doc":"c","score":3}'), REFUSED),
    "escaped surrogate in a number": (_json(b'{"query":"q","doc":"c","score":"\\ud800"}'), REFUSED),
    "list": (_json(b'["q","c",3]'), REFUSED),
    "comment": (_json(b"# what wrote it"), REFUSED),
    "quotes of another kind": (_json(b"{'query':'q','doc':'c','score':3}"), REFUSED),
    "key twice": (_json(b'{"query":"q","doc":"c","score":3,"score":4}'), REFUSED),
    "no score": (_json(b'{"query":"q","doc":"c"}'), REFUSED),
    "no doc": (_json(b'{"query":"q","score":3}'), REFUSED),
    "score null": (_json(b'{"query":"q","doc":"c","score":null}'), REFUSED),
    "score in quotes": (_json(b'{"query":"q","doc":"c","score":"3"}'), REFUSED),
    "score true": (_json(b'{"query":"q","doc":"c","score":true}'), REFUSED),
    "score in a list": (_json(b'{"query":"q","doc":"c","score":[3]}'), REFUSED),
    "score NaN": (_json(b'{"query":"q","doc":"c","score":NaN}'), REFUSED),
    "score infinite": (_json(b'{"query":"q","doc":"c","score":-Infinity}'), REFUSED),
    "score too large": (_json(b'{"query":"q","doc":"c","score":1e999}'), REFUSED),
    "score with a plus": (_json(b'{"query":"q","doc":"c","score":+3}'), REFUSED),
    "score with a zero before": (_json(b'{"query":"q","doc":"c","score":03}'), REFUSED),
    "nan in a field that is not read": (_json(b'{"query":"q","doc":"c","score":3,"x":nan}'), REFUSED),
    "inf in a field that is not read": (_json(b'{"query":"q","doc":"c","x":[1, -INF],"score":3}'), REFUSED),
    "infinity in a field that is not read": (_json(b'{"query":"q","doc":"c","x":infinity,"score":3}'), REFUSED),
    "nan and inf in texts": (
        _json(b'{"query":"q","doc":"c","score":3,"x":"Nan, inf and nan are: nan, information"}'), _and(c=3.0)),
    "score that is no float64": (_json(b'{"query":"q","doc":"c","score":9007199254740993}'), REFUSED),
    "score that is a large float64": (
        _json(b'{"query":"q","doc":"c","score":9007199254740992}', b'{"query":"q","doc":"d","score":1e17}'),
        _and(c=float(LARGE), d=1e17),
    ),
    "scores": (
        _json(b'{"query":"q","doc":"c","score":-0.0}', b'{"query":"q","doc":"d","score":1.5E-3}'),
        _and(c=0.0, d=1.5e-3),
    ),
    "doc null": (_json(b'{"query":"q","doc":null,"score":3}'), REFUSED),
    "doc true": (_json(b'{"query":"q","doc":true,"score":3}'), REFUSED),
    "doc a fraction": (_json(b'{"query":"q","doc":1.0,"score":3}'), REFUSED),
    "doc a list": (_json(b'{"query":"q","doc":["c"],"score":3}'), REFUSED),
    "doc an integer": (_json(b'{"query":"q","doc":7,"score":3}'), _ids("7")),
    "doc a large integer": (_json(b'{"query":"q","doc":9007199254740993,"score":3}'), _ids("9007199254740993")),
    "doc with zeros": (_json(b'{"query":"q","doc":"007","score":3}'), _ids("007")),
    "doc with escapes": (_json(b'{"query":"q","doc":"c\\n\\u00e9\\ud834\\udd1e\\u0000","score":3}'), _ids("c\né𝄞\0")),
    "doc with half a pair": (_json(b'{"query":"q","doc":"\\ud834","score":3}'), REFUSED),
    "doc with a tab": (_json(b'{"query":"q","doc":"c\td","score":3}'), REFUSED),
    "doc in latin-1": (_json(b'{"query":"q","doc":"caf\xe9","score":3}'), REFUSED),
    "replacement character": (_json('{"query":"q","doc":"\ufffd","score":3}'.encode()), _ids("\ufffd")),
    "document twice": (_json(b'{"query":"q","doc":"a","score":3}'), REFUSED),
    "integers as ids": (
        b'{"query":1,"doc":2,"score":3}\n{"query":1,"doc":-3,"score":2}\n', {"1": {"2": 3.0, "-3": 2.0}}),
}  # fmt: skip

# A name that ends in .tsv, and lines of a TREC file: the content decides.
_TREC = {
    "trec lines": (b"q Q0 a 1 2 t\nq\tQ0  b 2 1 t \n\n", _GOOD),
    "trec lines, a blank line before a byte order mark": (
        b"\n\xef\xbb\xbfq Q0 a 1 2 t\nq Q0  b 2 1 t\n",
        {"\ufeffq": {"a": 2.0}, "q": {"b": 1.0}},
    ),
    "trec lines, one field more": (b"q\tQ0\ta\t1\t2\tt\nq\tQ0\tb\t2\t1\tt\tu\n", REFUSED),
}

# Read on this machine, and refused by Spark, which reads line by line.
_JOINED = {
    "line end in quotes": (_csv(b'q,"c\nd",3'), _ids("c\nd")),
    "line end in a column that is not read": (
        b'query,doc,score,text\nq,a,2,"one\nq,b,1,two"\nq,b,1,x\n', _GOOD),
    "carriage return in quotes": (_csv(b'q,"c\r\nd",3'), _ids("c\r\nd")),
}  # fmt: skip

LINES_JOINED = frozenset(f"{name}.csv" for name in _JOINED)

_COMMAS = ("decimal comma", "delimiter in quotes")  # cases about commas, not about delimiters
FILES = {
    **{f"{name}.csv": case for name, case in {**_TABLES, **_JOINED}.items()},
    **{
        f"{name}.tsv": (content.replace(b",", b"\t"), expected)
        for name, (content, expected) in _TABLES.items()
        if name not in _COMMAS
    },
    **{f"{name}.jsonl": case for name, case in _RECORDS.items()},
    **{f"{name}.tsv": case for name, case in _TREC.items()},
}
