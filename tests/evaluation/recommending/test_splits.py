"""Splits of ratings: what is held out, by a literal implementation, and what leaks."""

from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest

import gainful as gf

FORMS = {
    "MovieLens.csv": "userId,movieId,rating,timestamp\n7,1,3,978300760\n7,2,2,978300761\n8,1,5,978300763\n8,3,4,978300762\n",
    "u.data": "7\t1\t3\t978300760\n7\t2\t2\t978300761\n8\t1\t5\t978300763\n8\t3\t4\t978300762\n",
    "RecBole.inter": "user_id:token\titem_id:token\trating:float\ttimestamp:float\n7\t1\t3\t978300760\n7\t2\t2\t978300761\n8\t1\t5\t978300763\n8\t3\t4\t978300762\n",
    "RecTools.csv": "user_id,item_id,weight,datetime\n7,1,3,2024-01-01\n7,2,2,2024-01-02\n8,1,5,2024-01-04\n8,3,4,2024-01-03\n",
    "Microsoft.csv": "userID,itemID,rating,timestamp,genre\n7,1,3,978300760,x\n7,2,2,978300761,\n8,1,5,978300763,y\n8,3,4,978300762,x\n",
    "ncf.train.rating": "7\t1\t3\t978300760\n7\t2\t2\t978300761\n8\t1\t5\t978300763\n8\t3\t4\t978300762\n",
}


@pytest.mark.parametrize("name", FORMS)
def test_files_of_datasets_and_tools(tmp_path, name):
    path = tmp_path / name
    path.write_text(FORMS[name])
    tables = [path]
    if "," in FORMS[name]:
        tables.append(pd.read_csv(path))
        if "datetime" in FORMS[name]:
            tables.append(pd.read_csv(path, parse_dates=["datetime"]))
    for table in tables:
        parts = gf.recommending.split(table)
        assert parts.judgments == {"7": {"2": 2.0}, "8": {"1": 5.0}}
        assert parts.seen == {"7": {"1": 3.0}, "8": {"3": 4.0}}
        assert (parts.later, parts.new_items) == (1, ("2",))
        assert gf.evaluate(parts.judgments, {"7": ["2"], "8": ["3", "1"]}, "RR")["RR"] == 0.75
        assert gf.recommending.evaluate_recommendations({"7": ["3"]}, "Novelty@1", history=parts.seen)["Novelty@1"] == 1.0  # fmt: skip


def test_two_colons(tmp_path):
    path = tmp_path / "ratings.dat"
    path.write_text(FORMS["u.data"].replace("\t", "::"))
    with pytest.raises(gf.errors.InputError, match="sed 's/::/"):
        gf.recommending.split(path)


USES = {
    "judgments": lambda path: gf.evaluate(path, {"1": ["9"]}, "R@1"),
    "run": lambda path: gf.evaluate({"1": ["9"]}, path, "R@1"),
    "ratings": gf.recommending.split,
    "history": lambda path: gf.recommending.evaluate_recommendations({"1": ["9"]}, "Novelty@1", history=path),
}  # fmt: skip


@pytest.mark.parametrize("use", USES)
def test_candidates_of_ncf(tmp_path, use):
    path = tmp_path / "ml-1m.test.negative"
    path.write_text(
        "".join(f"({user},9)\t" + "\t".join(map(str, range(10, 40))) + "\n" for user in "12")
    )
    with pytest.raises(gf.errors.InputError, match=r"NCF's candidates.*\.test\.rating"):
        USES[use](path)


def test_pairs_may_be_ids(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("(1,2)\t7\t3\t978300760\n(1,2)\t8\t4\t978300761\n")
    assert gf.recommending.split(path).judgments == {"(1,2)": {"8": 4.0}}


def random_rows(seed=0, rows=400):
    rng = np.random.default_rng(seed)
    columns = rng.integers(0, 30, rows), rng.integers(0, 40, rows), rng.integers(0, 50, rows)
    return [
        {"user": f"u{user}", "item": f"i{item}", "rating": 1 + n % 5, "time": int(time)}
        for n, (user, item, time) in enumerate(zip(*columns, strict=True))
    ]


def firsts(rows):
    """The first interaction of each user with each item, in time; of several at once, the first row."""
    first = {}
    for row in rows:
        pair = row["user"], row["item"]
        if pair not in first or row["time"] < first[pair]["time"]:
            first[pair] = row
    return [*first.values()]


def core(rows, least):
    """Leave out users and items with too few rows, one after the other, until all have enough."""
    while True:
        for key in ("user", "item"):
            for name in {row[key] for row in rows}:
                mine = [row for row in rows if row[key] == name]
                if len(mine) < least:
                    rows = [row for row in rows if row[key] != name]
                    break
            else:
                continue
            break
        else:
            return rows


def pairs(nested):
    return {(user, item, rating) for user, own in nested.items() for item, rating in own.items()}


def triples(rows):
    return {(row["user"], row["item"], float(row["rating"])) for row in rows}


@pytest.mark.parametrize("least", [1, 5, 7])
@pytest.mark.parametrize("size", [1, 3])
def test_latest_by_hand(least, size):
    rows = random_rows()
    parts = gf.recommending.split(rows, method="latest", size=size, core=least)
    kept = core(firsts(rows), least)
    assert parts.kept == len(kept)
    assert parts.repeated == len(rows) - len(firsts(rows))
    assert parts.filtered == len(firsts(rows)) - len(kept)
    held = []
    for user in {row["user"] for row in kept}:
        own = [row for row in kept if row["user"] == user]
        own.sort(key=lambda row: (row["time"], len(row["item"]), row["item"]))
        held += own[-size:] if len(own) > size else []
    training = triples(kept) - triples(held)
    assert (pairs(parts.judgments), pairs(parts.seen)) == (triples(held), training)
    earliest = min(row["time"] for row in held)
    assert parts.later == sum(row["time"] > earliest for row in kept if row not in held)
    assert {*parts.new_items} == {row["item"] for row in held} - {item for _, item, _ in training}
    assert {*parts.unsplit} == {row["user"] for row in kept} - {row["user"] for row in held}


@pytest.mark.parametrize("how", [{"at": 30}, {"at": "30"}, {"share": 0.3}, {}])
def test_from_a_moment_on(how):
    rows = firsts(random_rows(1))
    parts = gf.recommending.split(rows, method="time", **how)
    times = sorted(row["time"] for row in rows)
    moment = 30 if "at" in how else times[-int(np.ceil(how.get("share", 0.2) * len(times)))]
    assert pairs(parts.judgments) == triples(row for row in rows if row["time"] >= moment)
    assert pairs(parts.seen) == triples(row for row in rows if row["time"] < moment)
    assert parts.later == 0
    assert "Leakage" not in str(parts)


def test_random_depends_on_the_seed_and_not_on_the_order_of_rows():
    rows = [{"user": row["user"], "item": row["item"]} for row in firsts(random_rows(2))]
    first = gf.recommending.split(rows, method="random", seed=3)
    assert gf.recommending.split(rows[::-1], method="random", seed=3) == first
    assert gf.recommending.split(rows, method="random", seed=4) != first
    assert first.later is None
    assert "Without times" in str(first)
    assert {len(own) for own in first.judgments.values()} == {1}
    assert pairs(first.judgments).isdisjoint(pairs(first.seen))


def test_random_draws_each_interaction_equally_often():
    rows = [{"user": "u", "item": item} for item in "abcd"]
    drawn = [next(iter(gf.recommending.split(rows, method="random", seed=seed).judgments["u"])) for seed in range(400)]  # fmt: skip
    counts = np.array([drawn.count(item) for item in "abcd"])
    assert (
        (counts - 100) ** 2 / 100
    ).sum() < 16.3  # chi-squared with 3 degrees of freedom, p = 0.001


def test_dates_and_moments():
    rows = [("u", "a", "2024-01-01"), ("u", "b", "2024-01-02T12:00:00"), ("u", "c", "2024-01-03T00:00:00+02:00")]  # fmt: skip
    table = [{"user": user, "item": item, "date": date} for user, item, date in rows]
    for at in ("2024-01-02T20:00", datetime(2024, 1, 2, 20), datetime(2024, 1, 2, 20, tzinfo=UTC)):
        assert gf.recommending.split(table, method="time", at=at).judgments == {"u": {"c": 1.0}}


ROWS = [{"user": "u", "item": "a", "time": 1}, {"user": "u", "item": "b", "time": 2}]


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        (ROWS, {"method": "last"}, "latest"),
        ({"u": {"a": 3, "b": 1}}, {}, "a time for each row"),
        (ROWS, {"at": 2}, "method='time'"),
        (ROWS, {"method": "time", "at": 2, "share": 0.5}, "one of them"),
        (ROWS, {"method": "time", "at": 9}, "some interactions to hold out"),
        (ROWS, {"method": "time", "at": "soon"}, "a date such as"),
        (ROWS, {"core": 2}, "interactions left"),
        (ROWS, {"columns": {"user": "u"}}, "query"),
        (ROWS, {"columns": {"grade": "starz"}}, "starz"),
        (ROWS, {"columns": {"time": "tyme"}}, "tyme"),
        ([{**ROWS[0], "time": "soon"}], {}, "a date such as"),
        ([{**ROWS[0], "rating": None}, {**ROWS[1], "rating": 2}], {}, "a rating"),
    ],
)
def test_what_cannot_be_split(table, options, message):
    with pytest.raises(gf.errors.InputError, match=message):
        gf.recommending.split(table, **options)


def test_columns_may_be_named():
    table = [
        {"who": "u", "what": item, "stars": 3, "when": time} for item, time in (("a", 2), ("b", 1))
    ]
    columns = {"query": "who", "doc": "what", "grade": "stars", "time": "when"}
    assert gf.recommending.split(table, columns=columns).judgments == {"u": {"a": 3.0}}


def test_on_the_command_line(tmp_path, cli):
    path, liked, seen = (tmp_path / name for name in ("u.data", "liked.csv", "seen.csv"))
    path.write_text(FORMS["u.data"])
    done = cli(
        "convert", path, liked, "--as", "judgments", "--hold-out", "latest", "--training", seen
    )
    assert done.returncode == 0, done.stderr
    assert "Leakage: 1 training interaction is later" in done.stderr
    assert liked.read_text() == "query,doc,grade\n7,2,2.0\n8,1,5.0\n"
    assert seen.read_text() == "query,doc,grade\n7,1,3.0\n8,3,4.0\n"
    assert cli("convert", path, liked, "--as", "judgments", "--hold-out", "time", "--at", "978300762").returncode == 0  # fmt: skip
    assert liked.read_text() == "query,doc,grade\n8,1,5.0\n8,3,4.0\n"
    assert cli("convert", path, liked, "--as", "run", "--hold-out", "latest").returncode == 2
    assert cli("convert", path, liked, "--as", "judgments", "--training", seen).returncode == 2
