"""Small studies that the tests of the desk share."""

import itertools

import gainful as gf

ONE = {
    "q1": {"a": 9, "b": 8, "c": 7, "d": 6},
    "q2": {"e": 5, "f": 4, "g": 3, "a": 2},
}
TWO = {
    "q1": {"d": 0.9, "a": 0.8, "x": 0.7, "b": 0.6},
    "q2": {"g": 0.9, "y": 0.8, "e": 0.7, "f": 0.6},
}
RUNS = {"one": ONE, "two": TWO}
QUERIES = {"q1": ("bread", "how to bake it"), "q2": "tyres"}
DOCS = {doc: (f"title {doc}", f"text of {doc}") for doc in "abcdefgxy"}
_keys = itertools.count()


def key():
    return f"key {next(_keys)}"


def create(address=":memory:", **options):
    given = {"queries": QUERIES, "docs": DOCS, "depth": 3, "order": "rank", **options}
    return gf.judging.Study.create(address, given.pop("runs", RUNS), **given)


def judge_all(study, name, grade_of, count=1):
    """Have somebody grade all that they are given; return the items in the order in which they came."""
    seen = []
    while tasks := study.assessor(name).next(count):
        for task in tasks:
            study.assessor(name).grade(task.item, grade_of(task), key=key())
            seen.append(task)
    return seen
