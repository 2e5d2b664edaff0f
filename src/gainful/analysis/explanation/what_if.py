"""What-if: a list after documents were swapped, moved, removed or graded differently, and the effect in a sentence."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from gainful.analysis.explanation.worked_lists import JudgedRanking, Worth, under_policy
from gainful.analysis.explanation.worked_tables import Explanation, Part, written_value
from gainful.errors import InputError
from gainful.measures.written_numbers import write_number
from gainful.message_texts import counted, did_you_mean, shown

Item = TypeVar("Item")
GivenChanges = str | Sequence[str]
"""Changes of a list: "swap 3,4", or several, in order."""

_RANK, _NUMBER = r"(\d{1,9})", r"([-−+]?\d+(?:\.\d+)?)"
_RANKS = rf"{_RANK}\s*,\s*{_RANK}"
_KINDS = {
    "swap": (_RANKS, "swap 3,4", "swapping ranks {} and {}"),
    "move": (_RANKS, "move 5,2", "moving rank {} to rank {}"),
    "remove": (_RANK, "remove 4", "removing rank {}"),
    "regrade": (rf"{_RANK}\s*=\s*{_NUMBER}", "regrade 3=2", "grading rank {} as {}"),
}
"""The kinds of changes: the pattern of their numbers, an example, and how a sentence names them."""
_MOST_TERMS = 4  # in a sentence
_SAME = 1e-12  # differences below are due to rounding


@dataclass(frozen=True, slots=True)
class Change:
    """One change of a list: its kind and its numbers, which are ranks, and the new grade of `regrade`."""

    kind: str
    numbers: tuple[float, ...]

    def __str__(self) -> str:
        return _KINDS[self.kind][2].format(*map(write_number, self.numbers))

    @property
    def ranks(self) -> tuple[int, ...]:
        """The ranks that it names."""
        count = 1 if self.kind == "regrade" else len(self.numbers)
        return tuple(int(number) for number in self.numbers[:count])


def read_changes(given: GivenChanges) -> tuple[Change, ...]:
    """Read changes of a list, which apply in order.

    >>> [str(change) for change in read_changes(["swap 3,4", "regrade 3=2"])]
    ['swapping ranks 3 and 4', 'grading rank 3 as 2']
    """
    texts = given.split(";") if isinstance(given, str) else given
    if not isinstance(texts, Iterable) or not (texts := [*texts]):
        raise InputError("what_if", f"changes such as {_examples()}", shown(given))
    return tuple(map(_change, texts))


def _change(text: object) -> Change:
    if not isinstance(text, str):
        raise InputError("what_if", f"a change such as {_examples()}", shown(text))
    kind, _, rest = text.strip().partition(" ")
    if kind not in _KINDS:
        raise InputError(
            "what_if", f"a change such as {_examples()}", shown(text), did_you_mean(kind, _KINDS)
        )
    form, example, _ = _KINDS[kind]
    found = re.fullmatch(form, rest.strip())
    if found is None:
        raise InputError(f"what_if, {kind}", example, shown(text))
    return Change(kind, tuple(float(number.replace("−", "-")) for number in found.groups()))


def _examples() -> str:
    return ", ".join(repr(example) for _, example, _ in _KINDS.values())


def changed(
    items: Sequence[Item], changes: Iterable[Change], regrade: Callable[[Item, float], None]
) -> list[Item]:
    """Return items in rank order after the changes; `regrade` is called with an item and its new grade.

    >>> changed("abcde", read_changes("move 5,2; swap 1,3"), print)
    ['b', 'e', 'a', 'c', 'd']
    """
    order = list(items)
    for change in changes:
        for rank in change.ranks:
            if not 1 <= rank <= len(order):
                expected = f"ranks from 1 to {len(order)}, the length of the list"
                raise InputError(f"what_if, {change.kind}", expected, str(rank))
        place, *others = (rank - 1 for rank in change.ranks)
        match change.kind:
            case "swap":
                order[place], order[others[0]] = order[others[0]], order[place]
            case "move":
                order.insert(others[0], order.pop(place))
            case "remove":
                del order[place]
            case _:
                regrade(order[place], change.numbers[1])
    return order


def changed_grades(
    grades: Sequence[float], judged: Sequence[float] | None, changes: Iterable[Change]
) -> tuple[list[float], list[float] | None]:
    """Return a list of grades and all known grades after the changes; a removed document stays judged."""
    values, pool = [*grades], [*(grades if judged is None else judged)]

    def regrade(place: int, grade: float) -> None:
        if values[place] in pool:
            pool.remove(values[place])
        pool.append(grade)
        values[place] = grade

    order = changed(range(len(values)), changes, regrade)
    alone = judged is None and len(order) == len(values)
    return [values[place] for place in order], None if alone else pool


def changed_ranking(
    listed: JudgedRanking, changes: Iterable[Change], worth: Worth
) -> JudgedRanking:
    """Return a query of a run after the changes; the scores stay at their ranks, and so do ties."""
    before = [entry.doc for entry in listed.entries(listed.ranking(worth)) if entry.doc is not None]
    judged = dict(listed.judged)

    def regrade(doc: str, grade: float) -> None:
        judged[doc] = grade

    after = changed(before, changes, regrade)
    ranked = (listed.scores[doc] for doc in before)
    scores = dict(zip(after, ranked, strict=False))
    policy = listed.policy
    if policy.ties != "average":  # otherwise the order of documents with equal scores stays open
        policy = replace(policy, ties="order")
    return under_policy(listed.query, judged, scores, policy, missing=listed.missing)


def after_changes(
    before: Explanation, after: Explanation, changes: Sequence[Change]
) -> Explanation:
    """Return the explanation of a changed list, with the effect of the changes."""
    return replace(
        after,
        policy=before.policy,
        before=before.value,
        changes=tuple(map(str, changes)),
        effect=_effect(before, after, changes),
    )


def _effect(before: Explanation, after: Explanation, changes: Sequence[Change]) -> str:
    """Return in a sentence how changes of a list change a value, and which terms do."""
    said = ", then ".join(map(str, changes))
    name, gap = str(after.measure), after.value - before.value
    values = written_value(before.value), written_value(after.value)
    start = said[0].upper() + said[1:]
    if math.isclose(before.value, after.value, rel_tol=_SAME, abs_tol=_SAME):
        head = f"{start} leaves {name} at {values[1]}"
    else:
        verb = "raises" if gap > 0 else "lowers"
        head = f"{start} {verb} {name} from {values[0]} to {values[1]} ({_signed(gap)})"
    parts = {part.name: part for part in before.parts}
    about = [_terms(parts[part.name], part) for part in after.parts[:1] if part.name in parts]
    about += [
        _total(parts[part.name], part)
        for part in after.parts
        if part.name in parts and part.name != name
    ]
    clauses = "; ".join(filter(None, about))
    return f"{head}: {clauses}." if clauses else f"{head}."


def _terms(before: Part, after: Part) -> str:
    """Return by how much the terms at each rank change."""
    if not after.adds:
        return ""
    old, new = _by_rank(before), _by_rank(after)
    gaps = {ranks: new.get(ranks, 0.0) - old.get(ranks, 0.0) for ranks in sorted({*old, *new})}
    gaps = {ranks: gap for ranks, gap in gaps.items() if abs(gap) > _SAME}
    if not gaps:
        return "no term changes"
    some = [*gaps.items()][:_MOST_TERMS]
    listed = [f"{_signed(gap)} at {_named(*ranks)}" for ranks, gap in some]
    if len(gaps) > len(some):
        listed.append(f"at {counted(len(gaps) - len(some), 'more rank')}")
    *first, last = listed
    terms = f"{', '.join(first)} and {last}" if first else last
    cancel = len(gaps) > 1 and abs(math.fsum(gaps.values())) < _SAME
    return f"the terms change by {terms}" + (", which cancel" if cancel else "")


def _by_rank(part: Part) -> Mapping[tuple[int, int], float]:
    """Return the terms by their ranks; those of documents that share ranks are added."""
    terms: dict[tuple[int, int], float] = {}
    for step in part.steps:
        ranks = (step.rank, step.rank_last)
        terms[ranks] = terms.get(ranks, 0.0) + step.contribution
    return terms


def _named(first: int, last: int) -> str:
    return f"rank {first}" if first == last else f"ranks {first}–{last}"


def _total(before: Part, after: Part) -> str:
    """Return how the total of a sum changes."""
    if before.total is None or after.total is None:
        return ""
    values = written_value(before.total), written_value(after.total)
    if math.isclose(before.total, after.total, rel_tol=_SAME, abs_tol=_SAME):
        return f"{after.name} stays {values[1]}"
    return f"{after.name} changes from {values[0]} to {values[1]}"


def _signed(gap: float) -> str:
    return f"{'+' if gap > 0 else '−'}{written_value(abs(gap))}"
