"""Dialects: how another tool measures, as parameters and a policy."""

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from gainful import arguments
from gainful.errors import InputError
from gainful.measures.formulas import (
    BaselineMeasure,
    changed_inside,
    read_combination,
)
from gainful.measures.measure import Measure, family, measures_inside
from gainful.measures.notation import (
    ForeignMeasure,
    GivenMeasure,
    is_document_measure,
    is_formula,
    measure_inside,
    only_one,
    parse_all,
    read_measures,
    read_text,
    split_measures,
    without_call,
    written_out,
)
from gainful.measures.policy import BY_ID, Policy, read_policy
from gainful.measures.written_numbers import write_number
from gainful.message_texts import shown

_MOST = 10**9  # for cutoffs and decimals

TRANSLATED = ("CG", "DCG", "IDCG", "nDCG")
"""The families that the settings of a dialect apply to."""


@dataclass(frozen=True, slots=True)
class Grades:
    """The grades that a tool accepts: a test for a grade, and the tool's reason to reject others.

    If the restriction applies to a single family or gain, `family` or `gain` names it.
    """

    holds: Callable[[float], bool]
    expected: str
    reason: str
    family: str | None = None
    gain: str | None = None

    def concern(self, measure: Measure) -> bool:
        """Return whether the restriction applies to this measure."""
        gain = measure.parameters.get("gain")
        other = self.gain is not None and gain is not None and str(gain) != self.gain
        return not other and self.family in (None, measure.name)


@dataclass(frozen=True, slots=True)
class Dialect:
    """How another tool measures.

    Attributes:
        name: the name of the dialect.
        tool: the tool, and the function it describes.
        settings: the parameters of the tool's nDCG that differ from gainful's defaults.
        policy: the tool's choices.
        names: the tool's names for measures, each with gainful's notation.
        cutoff: the tool's default cutoff, if that isn't the whole list.
        grades: the grades that the tool accepts; None if it accepts any number.
        digits: the number of decimals that it prints; None for all.
        ties: the reason why ties cannot be reproduced, or ""; values agree if no scores tie.
        lists: whether its input is lists of labels and scores, without ids and without judgments of
            other documents.
        note: further remarks.
        faults: known errors and pitfalls of the tool, in sentences.
        average: the denominator of its average precision, a value of that parameter of AP.
        has_ndcg: whether the tool has nDCG.
        on_missing: the remedy if the tool stops at a judged query that the run lacks.
        weighs_empty: whether a query without any gain counts with its weight in a weighted mean of nDCG;
            if not, its value counts as it is, and only the sum of the weights contains its weight.
    """

    name: str
    tool: str
    settings: Mapping[str, object] = field(default_factory=dict)
    policy: Policy = field(default_factory=Policy)
    names: Mapping[str, str] = field(default_factory=dict)
    cutoff: int | None = None
    grades: Grades | None = None
    digits: int | None = None
    ties: str = ""
    lists: bool = False
    note: str = ""
    faults: str = ""
    average: str = "R"
    has_ndcg: bool = True
    on_missing: str = "Add the missing queries to the run, or measure without the dialect."
    weighs_empty: bool = True

    def __post_init__(self) -> None:
        for name in ("name", "tool", "ties", "note", "faults", "on_missing"):
            arguments.text(getattr(self, name), f"dialect, {name}")
        for name in ("settings", "names"):
            given = getattr(self, name)
            if not isinstance(given, Mapping):
                raise InputError(f"dialect, {name}", "a dict", shown(given))
            for key, value in given.items():
                arguments.text(key, f"dialect, {name}", "texts as names")
                if name == "names":
                    arguments.text(value, f"dialect, names, {key}")
                else:
                    family("nDCG").parameter(key).read(value)  # raises if invalid
        object.__setattr__(self, "policy", read_policy(self.policy))
        for name, least in (("cutoff", 1), ("digits", 0)):
            if getattr(self, name) is not None:
                arguments.whole(getattr(self, name), f"dialect, {name}", least=least, most=_MOST)
        if self.grades is not None:
            arguments.one_of_type(self.grades, "dialect, grades", Grades, "the Grades of a tool")
        arguments.truth(self.lists, "dialect, lists")
        arguments.truth(self.has_ndcg, "dialect, has_ndcg")
        arguments.truth(self.weighs_empty, "dialect, weighs_empty")
        family("AP").parameter("denominator").read(self.average)  # raises if invalid

    def measure(self, asked: GivenMeasure) -> Measure:
        """Return a measure as this tool computes it; explicit parameters are kept.

        In a `Measure` value, parameters that differ from their defaults count as explicit.

        >>> from gainful.measures.dialect_catalogue import dialect
        >>> str(dialect("lightgbm").measure("nDCG@10"))
        'nDCG(gain=exp2, ideal=retrieved)@10'
        >>> str(dialect("lightgbm").measure("nDCG(gain=linear)@10"))
        'nDCG(ideal=retrieved)@10'
        """
        if isinstance(asked, Measure):
            return changed_inside(asked, lambda each: self._translated(each, frozenset()))
        return only_one(self.read(asked), asked)

    def read(self, written: str | ForeignMeasure) -> tuple[Measure, ...]:
        """Return the tool's meaning of a text, which may name several measures or cutoffs.

        >>> from gainful.measures.dialect_catalogue import dialect
        >>> dialect("sklearn").read("ndcg_score@5,10")
        (Measure('nDCG(ideal=retrieved)@5'), Measure('nDCG(ideal=retrieved)@10'))
        """
        if is_document_measure(written):
            return parse_all(written)
        asked = read_text(written, "a string such as 'nDCG@10'")
        return tuple(each for part in split_measures(asked) for each in self._read(part))

    def _read(self, asked: str) -> tuple[Measure, ...]:
        if is_formula(asked):
            return (read_combination(asked, self._read),)
        inside = measure_inside(asked)
        if inside is not None:
            return tuple(BaselineMeasure(each) for each in self._read(inside))
        name, at, cutoff = without_call(asked).partition("@")
        known = self.names.get(name)
        text = written_out(asked) if known is None else f"{known}{at}{cutoff}"
        given = frozenset(re.findall(r"\b(\w+)\s*=", text))
        return tuple(self._translated(each, given) for each in read_measures(text))

    def _translated(self, asked: Measure, given: frozenset[str]) -> Measure:
        if type(asked) is not Measure:
            return asked  # a user-defined measure may have any name
        if asked.name == "AP" and "denominator" not in given and not asked.changes("denominator"):
            return asked.having(denominator=self.average)
        if asked.name not in TRANSLATED:
            return asked
        values = dict(asked.parameters)
        for parameter in asked.family.parameters:
            name = parameter.name
            if name in self.settings and name not in given and values[name] == parameter.default:
                values[name] = parameter.read(self.settings[name])
        depth = self.cutoff if asked.cutoff is None else asked.cutoff
        return Measure(asked.name, cutoff=depth, **values)

    def refuse(self, grades: Iterable[float], measures: Iterable[Measure]) -> None:
        """Reject grades that the tool does not accept for these measures, with the tool's reason."""
        asked = measures_inside(read_measures(measures))
        if self.grades is None or not any(self.grades.concern(each) for each in asked):
            return
        for grade in arguments.listed(grades, "grades", "the grades of documents"):
            expected = "a finite number as the grade"
            number = arguments.number(grade, "grades", expected, lambda _: True)
            if not self.grades.holds(number):
                raise InputError(
                    f"dialect {self.name}",
                    self.grades.expected,
                    f"grade {write_number(number)}",
                    self.grades.reason,
                )

    def for_arrays(self) -> Policy:
        """Return the policy for documents without ids."""
        by_id = self.policy.ties in BY_ID
        return dataclasses.replace(self.policy, ties="auto") if by_id else self.policy

    def for_files(self) -> Policy:
        """Return a policy that works with and without document ids, if possible."""
        usual = self.policy.ties == BY_ID[0]
        return dataclasses.replace(self.policy, ties="auto") if usual else self.policy

    def choices(self) -> str:
        """Return the choices of its policy that differ from gainful's defaults.

        >>> from gainful.measures.dialect_catalogue import dialect
        >>> dialect("ir_measures").choices()
        'ties=doc negative=zero precision=single'
        """
        defaults = Policy().answers()
        chosen = self.policy.answers().items()
        return " ".join(f"{name}={answer}" for name, answer in chosen if answer != defaults[name])

    def notes(self) -> str:
        """Return all remarks, in sentences."""
        return " ".join(text for text in (self.ties, self.note, self.faults) if text)

    def main(self) -> str:
        """Return its nDCG in the notation; for a tool without nDCG, its first measure.

        >>> from gainful.measures.dialect_catalogue import dialect
        >>> dialect("ragas").main(), dialect("mlflow").main()
        ('AP(denominator=found)', 'nDCG(gain=binary, depth=retrieved)@3')
        """
        return str(self.measure("nDCG" if self.has_ndcg else next(iter(self.names))))

    def speaks_of(self, measure: Measure) -> bool:
        """Return whether the tool can compute this measure, as a tool without nDCG cannot compute nDCG."""
        return self.has_ndcg or not any(
            each.name in TRANSLATED for each in measures_inside([measure])
        )

    def entry(self) -> dict[str, str | int | None]:
        """Return all facts about the tool by name, for programs; None if a fact does not apply.

        >>> from gainful.measures.dialect_catalogue import dialect
        >>> entry = dialect("gdeval").entry()
        >>> entry["measure"], entry["grades"], entry["decimals"], entry["ties"]
        ('nDCG(gain=exp2)@20', 'integer grades up to 4. gdeval.pl ends with an error for a higher grade.', 5, None)
        """
        taken = self.grades
        return {
            "tool": self.tool,
            "measure": self.main(),
            "policy": self.choices() or None,
            "names": "; ".join(f"{name}={known}" for name, known in self.names.items()) or None,
            "grades": None if taken is None else f"{taken.expected}. {taken.reason}",
            "decimals": self.digits,
            "ties": self.ties or None,
            "note": self.note or None,
            "faults": self.faults or None,
        }

    def facts(self) -> list[tuple[str, str]]:
        """Return all facts about the tool as pairs of label and text."""
        facts = [
            ("tool", self.tool),
            ("its nDCG" if self.has_ndcg else "its measure", self.main()),
            ("policy", self.choices()),
            ("its names", ", ".join(f"{name} for {known}" for name, known in self.names.items())),
            ("grades", "" if self.grades is None else f"{self.grades.expected}. {self.grades.reason}"),
            ("decimals", "" if self.digits is None else str(self.digits)),
            ("ties", self.ties),
            ("note", self.note),
            ("known faults", self.faults),
        ]  # fmt: skip
        return [(name, text) for name, text in facts if text]

    def __str__(self) -> str:
        return self.name


GivenDialect = str | Dialect
"""What callers may pass as a dialect: its name, or a `Dialect`."""
