"""`sql`: a measure as one SQL query over a table of judgments and a table of a run."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from gainful import arguments
from gainful.errors import InputError, MissingDependencyError
from gainful.measures.discount import Discount
from gainful.measures.gain import Gain
from gainful.measures.measure import Measure
from gainful.measures.notation import GivenMeasure, read_measure
from gainful.measures.policy import GivenPolicy, Policy, read_policy
from gainful.message_texts import shown

EXECUTED = ("duckdb", "sqlite", "postgres")
"""The databases on which the tests execute the queries."""
TRANSLATED = ("bigquery", "snowflake", "spark")
"""The databases for which sqlglot translates the query, which no test executes there."""
_ROLES = {"query": "query", "doc": "doc", "grade": "grade", "score": "score"}
_PLAIN = re.compile("[a-z_][a-z0-9_]*")
_REAL = "DOUBLE PRECISION"
_ADDITIVE = ("CG", "DCG", "nDCG", "P", "R")  # sums over documents
_WITH_IDEAL = ("nDCG", "IDCG")
_OF_RELEVANT = ("P", "R", "Success", "RR", "AP")  # these count relevant documents
# The answers of the policy that a query can give; other choices have no effect on a table without repeated documents.
_ANSWERED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "ties": ("auto", "doc", "doc_ascending", "average", "best", "worst"),
        "unjudged": ("zero", "condense"),
        "absent": ("zero",),
        "negative": ("auto", "keep", "zero"),
        "missing": ("zero", "skip"),
        "empty": ("zero", "skip", "one"),
        "duplicates": ("error",),
        "extra": ("ignore",),
        "fold": ("auto", "none"),
        "drop_self": ("no",),
        "precision": ("double",),
    }
)
_WHY = MappingProxyType(
    {
        "order": "Rows of a table have no order.",
        "error": "A query can't raise an error: check the tables with gainful check.",
        "nan": "Databases disagree about NaN.",
    }
)


@dataclass(frozen=True, slots=True)
class _Tables:
    """The tables and columns of a query, quoted."""

    judgments: str
    run: str
    query: str
    doc: str
    grade: str
    score: str


def sql(
    measure: GivenMeasure,
    *,
    dialect: str = "duckdb",
    policy: GivenPolicy | None = None,
    judgments: str = "judgments",
    run: str = "run",
    columns: Mapping[str, str] | None = None,
    per_query: bool = False,
) -> str:
    """Return a measure as one SQL query, which computes it inside a database.

    The query returns one row and column, `value`, the mean over the judged queries; or a row for each
    query. It computes what `evaluate` computes, if no document is repeated in a query and no number is
    missing, which a query can't check.

    Args:
        measure: CG, DCG, IDCG, nDCG, P, R, Success, RR or AP, with any cutoff, gain, discount and
            level of relevance that can be written as a formula.
        dialect: one of `duckdb`, `sqlite`, `postgres`; or `bigquery`, `snowflake` or `spark`, which
            are translated by sqlglot and not executed in gainful's tests.
        policy: the choices that differ from the defaults, such as {"ties": "average"}.
        judgments: the table with the columns query, doc and grade; `schema.table` works, too.
        run: the table with the columns query, doc and score.
        columns: other names of these columns, by role: query, doc, grade, score.
        per_query: whether to return a row for each query, with the columns query and value.

    >>> print(sql("RR@5", per_query=True))  # doctest: +ELLIPSIS
    -- RR@5 by query, as gainful computes it with the policy ties=auto
    WITH judged AS (
    ...
    """
    asked = read_measure(measure)
    chosen = read_policy(policy)
    arguments.choice(dialect, "dialect", (*EXECUTED, *TRANSLATED))
    _refuse_unanswered(asked, chosen)
    per_query = arguments.truth(per_query, "per_query")
    if columns is not None and not isinstance(columns, Mapping):
        raise InputError("columns", "a dict {role: name}", shown(columns))
    tables = _tables(judgments, run, columns or {}, upper=dialect == "snowflake")
    query = _Query(asked, chosen, tables, dialect, per_query=per_query)
    if dialect in EXECUTED:
        return query.text()
    try:
        import sqlglot
    except ImportError:
        raise MissingDependencyError.of_extra(f"dialect={dialect}", "sqlglot", "sql") from None
    lines = query.text().splitlines()
    comments = [line for line in lines if line.startswith("--")]
    (translated,) = sqlglot.transpile(
        "\n".join(lines[len(comments) :]), "postgres", dialect, pretty=True
    )
    note = f"-- Translated for {dialect} by sqlglot, and not executed in gainful's tests"
    return "\n".join([*comments, note, translated]) + "\n"


def _refuse_unanswered(measure: Measure, policy: Policy) -> None:
    """Reject what a query can't compute, with the reason."""
    if measure.name not in (*_ADDITIVE, *_WITH_IDEAL, *_OF_RELEVANT):
        known = ", ".join(dict.fromkeys((*_ADDITIVE, *_WITH_IDEAL, *_OF_RELEVANT)))
        raise InputError(
            "measure", f"one of {known}", str(measure), "gainful evaluate computes all measures."
        )
    for name, answers in _ANSWERED.items():
        answer = getattr(policy, name)
        if answer not in answers:
            why = _WHY.get(str(answer), "gainful evaluate computes it.")
            raise InputError(
                f"policy, {name}", f"{' or '.join(answers)} in SQL", shown(answer), why
            )
    if policy.ties == "average" and measure.name not in (*_ADDITIVE, "IDCG"):
        raise InputError(
            "policy, ties", f"an order of tied documents for {measure.name} in SQL", "average",
            "The expectation over all orders isn't a sum over documents; gainful evaluate computes it.",
        )  # fmt: skip
    if measure.name == "P" and measure.cutoff is None:
        raise InputError("measure", "P with a cutoff in SQL, such as P@10", "P")
    settings = measure.parameters
    for name, answers in {
        "norm": ("ideal",),
        "ideal": ("judged",),
        "depth": ("cutoff", "all"),
        "denominator": ("R",),
    }.items():
        if name in settings and settings[name] not in answers:
            raise InputError(
                f"measure, {name}",
                f"{' or '.join(answers)} in SQL",
                shown(settings[name]),
                "gainful evaluate computes it.",
            )


def _tables(judgments: str, run: str, columns: Mapping[str, str], *, upper: bool) -> _Tables:
    unknown = [role for role in columns if role not in _ROLES]
    if unknown:
        raise InputError("columns", f"the roles {', '.join(_ROLES)}", shown(unknown[0]))

    def table(name: str, where: str) -> str:
        arguments.text(name, where)
        return ".".join(_quoted(part, where, upper=upper) for part in name.split("."))

    names = {
        role: _quoted(columns.get(role, name), f"columns, {role}", upper=upper)
        for role, name in _ROLES.items()
    }
    return _Tables(table(judgments, "judgments"), table(run, "run"), **names)


def _quoted(name: str, where: str, *, upper: bool) -> str:
    """Return a name in double quotes, because `user` and other words mean something else without.

    With `upper`, a plain name in lower case is the upper-case name that the database stores.
    """
    arguments.text(name, where)
    if not name or not name.isprintable():
        raise InputError(where, "the name of a table or column", shown(name))
    name = name.upper() if upper and _PLAIN.fullmatch(name) else name
    return '"' + name.replace('"', '""') + '"'


def _number(value: float) -> str:
    """Return a number as SQL; whole numbers also as fractions, so that nothing is divided as integers."""
    return f"{value!r}" if "e" not in repr(float(value)) else f"CAST('{value!r}' AS {_REAL})"


def _gain_in_sql(gain: Gain, grade: str) -> str:
    forms: Mapping[str, Callable[[str], str]] = {
        "linear": str,
        "exp2": lambda grade: f"POWER(CAST(2 AS {_REAL}), {grade}) - 1",
        "binary": lambda grade: f"CASE WHEN {grade} > 0 THEN 1.0 ELSE 0.0 END",
    }
    if gain.function is not None or gain.form not in forms:
        why = "A query can't reject a grade that a table lacks." if gain.table else ""
        raise InputError("gain", f"{', '.join(forms)} in SQL", str(gain), why)
    return forms[gain.form](grade)


def _discount_in_sql(discount: Discount, base: float, rank: str) -> str:
    if discount.table:
        rows = " ".join(
            f"WHEN {at} THEN {_number(worth)}" for at, worth in enumerate(discount.table, 1)
        )
        return f"CASE {rank} {rows} ELSE {_number(discount.deeper)} END"
    b = f"LN(CAST({base!r} AS {_REAL}))"

    def ln(text: str) -> str:
        return f"LN(CAST({text} AS {_REAL}))"

    forms = {
        "log": f"{b} / {ln(f'{rank} + 1')}",
        "ln": f"1.0 / {ln(f'{rank} + 1')}",
        "misprint": f"{b} / {ln(f'{base!r} * {rank}')}",
        "jarvelin": f"CASE WHEN {rank} <= {base!r} OR {rank} = 1 THEN 1.0 ELSE {b} / {ln(f'CASE WHEN {rank} = 1 THEN 2 ELSE {rank} END')} END",
        "reciprocal": f"1.0 / {rank}",
        "power": f"POWER(CAST({rank} AS {_REAL}), -{discount.exponent!r})",
        "none": "1.0",
    }
    if discount.function is not None or discount.form not in forms:
        raise InputError("discount", f"{', '.join(forms)} or a table in SQL", str(discount))
    return forms[discount.form]


class _Query:
    """The parts of the query of a measure."""

    def __init__(
        self, measure: Measure, policy: Policy, tables: _Tables, dialect: str, *, per_query: bool
    ) -> None:
        self.measure, self.policy, self.tables, self.per_query = measure, policy, tables, per_query
        self.binary_order = ' COLLATE "C"' if dialect == "postgres" else ""
        settings: Mapping[str, Any] = measure.parameters
        self.settings = settings
        self.of_relevant = measure.name in _OF_RELEVANT

    def text(self) -> str:
        """Return the whole query."""
        parts = {"judged": self._judged(), "ranked": self._ranked(), "listed": self._listed()}
        if self.measure.name in (*_WITH_IDEAL, "R", "AP"):
            parts["best"] = self._best()
        parts["measured"] = self._measured()
        bodies = ",\n".join(f"{name} AS (\n{_indented(body)}\n)" for name, body in parts.items())
        mean = (
            f"SELECT {self.tables.query}, value FROM measured ORDER BY {self.tables.query}"
            if self.per_query
            else "SELECT AVG(value) AS value FROM measured"
        )
        what = "by query, " if self.per_query else ""
        return f"-- {self.measure} {what}as gainful computes it with the policy {self._choices()}\nWITH {bodies}\n{mean}\n"

    def _choices(self) -> str:
        """Return the choices that matter, for the comment."""
        others = [
            f"{name}={getattr(self.policy, name)}"
            for name in _ANSWERED
            if getattr(self.policy, name) != getattr(Policy(), name)
        ]
        return ", ".join(others) or f"ties={self.policy.ties}"

    def _judged(self) -> str:
        """Return one row for each judgment, with its gain."""
        t, grade = self.tables, f"CAST({self.tables.grade} AS {_REAL})"
        if self.of_relevant:
            gain = f"CASE WHEN {grade} >= {_number(self.settings['rel'])} THEN 1.0 ELSE 0.0 END"
        else:
            gain = _gain_in_sql(self.settings["gain"], grade)
            if self.policy.negative == "zero":
                gain = f"CASE WHEN {gain} < 0 THEN 0.0 ELSE {gain} END"
        gain = (
            gain if gain == grade else f"CAST({gain} AS {_REAL})"
        )  # else decimal in some databases
        return f"SELECT {t.query}, {t.doc}, {grade} AS grade, {gain} AS gain FROM {t.judgments}"

    def _ranked(self) -> str:
        """Return the documents of the run that count, with their ranks from 1."""
        t, ties = self.tables, self.policy.ties
        join = "JOIN" if self.policy.unjudged == "condense" else "LEFT JOIN"
        name = f"CAST(r.{t.doc} AS TEXT){self.binary_order}"
        orders = {
            "doc_ascending": f"{name} ASC",
            "best": "COALESCE(j.grade, 0) DESC",
            "worst": "COALESCE(j.grade, 0) ASC",
        }
        order = orders.get(ties, f"{name} DESC")
        return (
            f"SELECT r.{t.query}, r.{t.score} AS score, COALESCE(j.gain, 0) AS gain,\n"
            f"  ROW_NUMBER() OVER (PARTITION BY r.{t.query} ORDER BY r.{t.score} DESC, {order}) AS place\n"
            f"FROM {t.run} AS r {join} judged AS j ON j.{t.query} = r.{t.query} AND j.{t.doc} = r.{t.doc}"
        )

    def _within(self, place: str = "place") -> str:
        k = self.measure.cutoff
        return "" if k is None else f" WHERE {place} <= {k}"

    def _worth(self) -> str:
        """Return the discount of a rank, for measures with a discount; else 1."""
        if "discount" not in self.settings:
            return "1.0"
        return _discount_in_sql(self.settings["discount"], self.settings["base"], "place")

    def _listed(self) -> str:
        """Return one row for each query of the run, with the value of its list before normalisation."""
        t, k, name = self.tables, self.measure.cutoff, self.measure.name
        if self.policy.ties == "average":
            inside = "1 = 1" if k is None else f"place <= {k}"
            weight = f"AVG(CASE WHEN {inside} THEN {self._worth()} ELSE 0.0 END) OVER (PARTITION BY {t.query}, score)"
            source = f"(SELECT {t.query}, gain, {weight} AS weight FROM ranked) AS weighted"
            return f"SELECT {t.query}, SUM(gain * weight) AS total FROM {source} GROUP BY {t.query}"
        if name == "AP":
            cumulated = (
                f"SUM(gain) OVER (PARTITION BY {t.query} ORDER BY place ROWS UNBOUNDED PRECEDING)"
            )
            source = f"(SELECT {t.query}, place, gain * {cumulated} / place AS at_place FROM ranked) AS precisions"
            return f"SELECT {t.query}, SUM(at_place) AS total FROM {source}{self._within()} GROUP BY {t.query}"
        totals = {"Success": "MAX(gain)", "RR": "MAX(gain / place)"}
        total = totals.get(name, f"SUM(gain * ({self._worth()}))")
        return f"SELECT {t.query}, {total} AS total FROM ranked{self._within()} GROUP BY {t.query}"

    def _best(self) -> str:
        """Return one row for each judged query, with what its list is divided by."""
        t = self.tables
        if self.of_relevant:
            return f"SELECT {t.query}, SUM(gain) AS total FROM judged GROUP BY {t.query}"
        place = f"ROW_NUMBER() OVER (PARTITION BY {t.query} ORDER BY gain DESC) AS place"
        source = f"(SELECT {t.query}, gain, {place} FROM judged WHERE gain >= 0) AS sorted"
        within = "" if self.settings["depth"] == "all" else self._within()
        return f"SELECT {t.query}, SUM(gain * ({self._worth()})) AS total FROM {source}{within} GROUP BY {t.query}"

    def _measured(self) -> str:
        """Return one row for each query that counts, with its value."""
        t, name, k = self.tables, self.measure.name, self.measure.cutoff
        queries = f"(SELECT DISTINCT {t.query} FROM judged) AS q"
        value = "COALESCE(l.total, 0)" + (f" / {_number(float(k))}" if name == "P" and k else "")
        joins = f"LEFT JOIN listed AS l ON l.{t.query} = q.{t.query}"
        conditions = []
        if name in (*_WITH_IDEAL, "R", "AP"):
            joins += f"\nLEFT JOIN best AS b ON b.{t.query} = q.{t.query}"
            empty = "1.0" if self.policy.empty == "one" else "0.0"
            value = (
                "COALESCE(b.total, 0)"
                if name == "IDCG"
                else f"CASE WHEN b.total > 0 THEN {value} / b.total ELSE {empty} END"
            )
            if self.policy.empty == "skip" and name != "IDCG":
                conditions.append("b.total > 0")
        if self.policy.missing == "skip":
            conditions.append(f"q.{t.query} IN (SELECT {t.query} FROM {t.run})")
        where = f"\nWHERE {' AND '.join(conditions)}" if conditions else ""
        return (
            f"SELECT q.{t.query}, CAST({value} AS {_REAL}) AS value\nFROM {queries}\n{joins}{where}"
        )


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
