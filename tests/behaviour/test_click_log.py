"""Every shape of a log becomes the same rows, and everything odd is counted."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gainful as gf

# Two lists of "soup", one of "rice": what was shown, and what was clicked.
SHOWN = {("s1", "soup"): ["a", "b", "c"], ("s2", "soup"): ["b", "a"], ("s2", "rice"): ["x", "a"]}
CLICKED = {("s1", "soup"): ["b"], ("s2", "soup"): [], ("s2", "rice"): ["a", "x"]}


def rows(first=1):
    return [
        {"session": session, "query": query, "doc": doc, "position": place, "clicked": int(doc in CLICKED[session, query])}
        for (session, query), docs in SHOWN.items()
        for place, doc in enumerate(docs, first)
    ]  # fmt: skip


def told(log):
    """Return what a log says: how often each document of a query was at each rank, and clicked."""
    cells = {}
    shown = log.shown
    weights = np.ones(len(shown.pairs)) if shown.weights is None else shown.weights
    for pair, rank, click, weight in zip(
        shown.pairs, shown.ranks, shown.clicks, weights, strict=True
    ):
        key = (log.queries[pair], log.docs[pair], int(rank))
        seen, clicks = cells.get(key, (0, 0))
        cells[key] = (seen + weight, clicks + weight * click)
    return cells


EXPECTED = told(gf.behaviour.read_log(rows()))


def test_the_expected_rows_are_those_shown():
    assert EXPECTED == {
        ("soup", "a", 1): (1, 0), ("soup", "b", 2): (1, 1), ("soup", "c", 3): (1, 0),
        ("soup", "b", 1): (1, 0), ("soup", "a", 2): (1, 0),
        ("rice", "x", 1): (1, 1), ("rice", "a", 2): (1, 1),
    }  # fmt: skip


def as_csv(table, folder):
    table.to_csv(folder / "log.csv", index=False)
    return folder / "log.csv"


def as_tsv(table, folder):
    table.to_csv(folder / "log.tsv", index=False, sep="\t")
    return str(folder / "log.tsv")


def as_jsonl(table, folder):
    table.to_json(folder / "log.jsonl", orient="records", lines=True)
    return folder / "log.jsonl"


def as_json(table, folder):
    table.to_json(folder / "log.json", orient="records")
    return folder / "log.json"


def as_parquet(table, folder):
    pq.write_table(pa.Table.from_pandas(table), folder / "log.parquet")
    return folder / "log.parquet"


def as_relation(table, _):
    import duckdb

    return duckdb.connect().from_df(table)


FORMS = {
    "pandas": lambda table, _: table,
    "polars": lambda table, _: pl.from_pandas(table),
    "arrow": lambda table, _: pa.Table.from_pandas(table),
    "duckdb": as_relation,
    "csv": as_csv, "tsv": as_tsv, "jsonl": as_jsonl, "json": as_json, "parquet": as_parquet,
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("first", [0, 1])
def test_every_form_of_a_row_per_shown_document(form, first, tmp_path):
    log = gf.behaviour.read_log(FORMS[form](pd.DataFrame(rows(first)), tmp_path))
    assert told(log) == EXPECTED
    assert (log.first_position, log.lists, log.sessions) == (first, 3, 2)
    assert log.oddities == ()


def test_rows_in_any_order():
    shuffled = pd.DataFrame(rows()).sample(frac=1, random_state=1)
    assert told(gf.behaviour.read_log(shuffled)) == EXPECTED


@pytest.mark.parametrize("clicks", ["ids", "from 0", "from 1"])
@pytest.mark.parametrize("as_text", [False, True])
def test_a_row_per_list(clicks, as_text):
    table = []
    for key, docs in SHOWN.items():
        clicked = CLICKED[key]
        if clicks != "ids":
            clicked = [docs.index(doc) + int(clicks == "from 1") for doc in clicked]
        if as_text:
            docs, clicked = " ".join(docs), ",".join(map(str, clicked))
        table.append({"session": key[0], "query": key[1], "shown": docs, "clicked": clicked})
    if clicks == "from 0":  # a click on the first document shows that positions start at 0
        assert any("0" in str(row["clicked"]) for row in table)
    log = gf.behaviour.read_log(table)
    assert told(log) == EXPECTED
    assert log.lists == 3


def ubi(first=0):
    events, queries = [], []
    for (session, query), docs in SHOWN.items():
        query_id = f"{session}/{query}"
        queries.append(
            {
                "query_id": query_id,
                "user_query": query,
                "client_id": session,
                "query_response_hit_ids": docs,
            }
        )
        for doc in CLICKED[session, query]:
            events.append({  # noqa: PERF401
                "action_name": "click", "query_id": query_id, "session_id": session, "timestamp": "2026-03-01T10:00:00Z",
                "event_attributes": {"object": {"object_id": doc}, "position": {"ordinal": docs.index(doc) + first}},
            })  # fmt: skip
    return events, queries


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("export", [False, True])
def test_ubi_events_with_their_queries(first, export, tmp_path):
    for name, records in zip(("events", "queries"), ubi(first), strict=True):
        if export:
            records = [
                {"_index": "ubi", "_id": str(place), "_source": record}
                for place, record in enumerate(records)
            ]
        (tmp_path / name).write_text("\n".join(map(json.dumps, records)))
    log = gf.behaviour.read_log(tmp_path / "events", lists=tmp_path / "queries")
    assert told(log) == EXPECTED
    assert log.oddities == ()


def test_ubi_in_a_search_response(tmp_path):
    for name, records in zip(("events", "queries"), ubi(), strict=True):
        hits = [
            {"_index": "ubi", "_id": str(place), "_source": record}
            for place, record in enumerate(records)
        ]
        (tmp_path / name).write_text(
            json.dumps({"took": 3, "hits": {"total": {"value": 3}, "hits": hits}})
        )
    assert told(gf.behaviour.read_log(tmp_path / "events", lists=tmp_path / "queries")) == EXPECTED


def test_ubi_impressions_instead_of_lists():
    events, _ = ubi()
    for event in events:
        event["user_query"] = event["query_id"].split("/")[1]
    for (session, query), docs in SHOWN.items():
        events += [
            {
                "action_name": "impression", "query_id": f"{session}/{query}", "session_id": session, "user_query": query,
                "timestamp": "2026-03-01T09:59:00Z",
                "event_attributes": {"object": {"object_id": doc}, "position": {"ordinal": place}},
            }
            for place, doc in enumerate(docs)
        ]  # fmt: skip
    log = gf.behaviour.read_log(events)
    assert told(log) == EXPECTED
    assert log.first_position == 0


def test_counts():
    table = [
        {
            "query": query,
            "document": doc,
            "position": rank,
            "impressions": 10 * seen,
            "clicks": 10 * clicks,
        }
        for (query, doc, rank), (seen, clicks) in EXPECTED.items()
    ]
    log = gf.behaviour.read_log(table)
    assert told(log) == {key: (10 * seen, 10 * clicks) for key, (seen, clicks) in EXPECTED.items()}
    assert not log.has_lists
    assert log.impressions == 70
    with pytest.raises(
        gf.errors.InputError, match=r"lists that were shown, which sdbn needs.*ctr, coec, pbm"
    ):
        gf.behaviour.click_judgments(log, "sdbn")
    assert gf.behaviour.click_judgments(log, "ctr")["rice"]["a"] == pytest.approx(10.5 / 11)


def test_users_are_split_into_sessions_by_time():
    # soup at 10:00, and again at 10:20 (the same session shows it twice) and 12:00 (another session)
    table = [
        {"user": "u", "query": "soup", "doc": doc, "position": place, "clicked": doc == "b", "time": time}
        for time in ("2026-03-01 10:00:00", "2026-03-01 12:00:00") for place, doc in enumerate("ab", 1)
    ]  # fmt: skip
    log = gf.behaviour.read_log(table)
    assert (log.lists, log.sessions) == (2, 1)
    assert gf.behaviour.read_log(table, session_gap=150).lists == 1
    seconds = [dict(row, time=36_000 + 7200 * (row["time"] > "2026-03-01 11")) for row in table]
    assert gf.behaviour.read_log(seconds).lists == 2
    millis = [dict(row, time=1.7e12 + 1000 * row["time"]) for row in seconds]
    assert gf.behaviour.read_log(millis).lists == 2


def test_actions_have_weights():
    events, queries = ubi()
    events.append(dict(events[0], action_name="purchase"))
    actions = {"click": 1, "purchase": 5}
    log = gf.behaviour.read_log(events, lists=queries, actions=actions)
    assert sorted(log.values[log.values > 0]) == [1, 1, 5]
    judgments = gf.behaviour.click_judgments(log, "ctr")
    plain = gf.behaviour.click_judgments(events, "ctr", lists=queries)
    mean = 7 / 3  # of the three weights
    assert judgments["soup"]["b"] / plain["soup"]["b"] == pytest.approx((5 + mean) / 2)
    table = [dict(row, purchase=int(row["doc"] == "b" and row["clicked"])) for row in rows()]
    log = gf.behaviour.read_log(table, actions=actions)
    assert sorted(log.values[log.values > 0]) == [1, 1, 5]


def test_oddities_are_counted():
    events, queries = ubi()
    events.append(events[0])  # clicked twice
    events.append(
        dict(
            events[0],
            event_attributes={"object": {"object_id": "never"}, "position": {"ordinal": 0}},
        )
    )
    events.append(dict(events[0], action_name="scroll"))
    log = gf.behaviour.read_log(events, lists=queries)
    assert [str(oddity) for oddity in log.oddities] == [
        "Repeated clicks on a document of a list: 1 (counted once)",
        "Clicks on documents that weren't shown: 1 (left out)",
        "Events with other actions: 1 (left out)",
    ]
    assert told(log) == EXPECTED


def test_rows_without_a_time_are_counted():
    hours = ["2026-01-01 10:00", "2026-01-01 12:00", "noon", None]
    table = [
        {"user": "u", "time": hour, "query": "q", "doc": doc, "position": place, "clicked": place == 1}
        for hour in hours
        for place, doc in enumerate("ab", 1)
    ]  # fmt: skip
    log = gf.behaviour.read_log(table)
    assert [str(oddity) for oddity in log.oddities] == [
        "Rows without a readable time: 4 (counted in their user's last session)",
        "Documents shown again in the same list: 4 (counted once, at their first position)",
    ]
    assert (log.lists, log.impressions) == (2, 4)


def test_repeated_rows_and_gaps_are_counted():
    table = [
        *rows(),
        dict(rows()[0], position=5, clicked=1),
        dict(rows()[0], doc="z", position=9),
        dict(rows()[0], doc=None),
    ]
    log = gf.behaviour.read_log(table)
    assert [(oddity.count, oddity.what) for oddity in log.oddities] == [
        (1, "rows without a query or a document"),
        (1, "documents shown again in the same list"),
        (1, "gaps in the positions of a list"),
    ]
    assert told(log)["soup", "a", 1] == (1, 1)  # clicked at its second place


def test_busy_sessions_are_counted_or_left_out():
    robot = [
        {"session": "bot", "query": f"q{place}", "doc": doc, "position": rank, "clicked": rank == 1}
        for place in range(101) for rank, doc in enumerate("ab", 1)
    ]  # fmt: skip
    log = gf.behaviour.read_log([*rows(), *robot])
    assert [str(oddity) for oddity in log.oddities] == [
        "Sessions with more than 100 clicks: 1 (kept; most_clicks leaves them out)"
    ]
    log = gf.behaviour.read_log([*rows(), *robot], most_clicks=100)
    assert told(log) == EXPECTED
    assert [str(oddity) for oddity in log.oddities] == [
        "Sessions with more than 100 clicks: 1 (left out as bots)",
        "Pairs of query and document that appear only in rows or sessions left out: 202 (not graded)",
    ]
    judgments = gf.behaviour.click_judgments(log, "ctr")
    assert {query: [*docs] for query, docs in judgments.items()} == {
        "rice": ["a", "x"], "soup": ["a", "b", "c"],
    }  # fmt: skip
    assert judgments.impressions.min() == 1


def test_counts_without_impressions_are_not_graded():
    table = [
        {"query": "q", "doc": doc, "impressions": shown, "clicks": clicks}
        for doc, shown, clicks in (("a", 10, 3), ("b", 0, 0), ("c", 10, 1))
    ]
    log = gf.behaviour.read_log(table)
    assert [str(oddity) for oddity in log.oddities] == [
        "Pairs of query and document without impressions: 1 (not graded)"
    ]
    assert [*gf.behaviour.click_judgments(log)["q"]] == ["a", "c"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda row: row | {"clicked": 0}, "at least one click, found none on 7 shown documents"),
        (lambda row: row | {"clicked": 1}, "documents that were shown and not clicked"),
        (lambda row: row | {"position": row["position"] - 3}, "whole numbers from 0 or 1"),
        (lambda row: row | {"position": 1.5}, "whole numbers from 0 or 1 to 10,000, found 1.5"),
        (
            lambda row: {name: row[name] for name in ("session", "query", "doc", "clicked")},
            "the position of each document",
        ),
        (
            lambda row: {name: row[name] for name in ("session", "doc")},
            "a row per shown document .* found the columns",
        ),
    ],
)
def test_bad_logs_are_explained(change, message):
    with pytest.raises(gf.errors.InputError, match=message):
        gf.behaviour.read_log([change(row) for row in rows()])


def test_clicks_alone_are_not_enough():
    events, _ = ubi()
    with pytest.raises(
        gf.errors.InputError, match=r"documents that were shown.*Clicks alone don't show"
    ):
        gf.behaviour.read_log(events)


def test_lists_in_another_order_than_the_clicks():
    events, queries = ubi()
    for query in queries:
        query["query_response_hit_ids"] = [*map(str, range(9)), *query["query_response_hit_ids"]]
    with pytest.raises(gf.errors.InputError, match="3 of 3 clicks at other positions"):
        gf.behaviour.read_log(events, lists=queries)


def test_unusual_columns():
    table = pd.DataFrame(rows()).rename(
        columns={"doc": "sku2", "session": "s", "clicked": "tapped"}
    )
    columns = {"doc": "sku2", "session": "s", "clicks": "tapped"}
    assert told(gf.behaviour.read_log(table, columns=columns)) == EXPECTED
    with pytest.raises(gf.errors.InputError, match="the column 'sku3' for doc"):
        gf.behaviour.read_log(table, columns=columns | {"doc": "sku3"})
    with pytest.raises(gf.errors.InputError, match="roles among"):
        gf.behaviour.read_log(table, columns={"document": "sku2"})


def test_first_position_can_be_set():
    table = [row for row in rows(1) if row["position"] > 1]
    assert gf.behaviour.read_log(table).shown.ranks.min() == 2
    assert gf.behaviour.read_log(table, first_position=0).shown.ranks.min() == 3
    with pytest.raises(gf.errors.InputError, match="expected positions from 1"):
        gf.behaviour.read_log(rows(0), first_position=1)


@pytest.mark.parametrize(
    ("values", "clicks"),
    [(("yes", "no"), 1), (("1", "nan"), 1), (("True", ""), 1), ((2.0, 0.0), 1), ((True, False), 1)],
)
def test_values_that_say_what_was_clicked(values, clicks, tmp_path):
    table = [
        {"session": "s", "query": "q", "doc": doc, "position": place, "tapped": value}
        for place, (doc, value) in enumerate(zip("ab", values, strict=True), 1)
    ]  # fmt: skip
    pd.DataFrame(table).to_csv(tmp_path / "log.csv", index=False)
    for log in (table, tmp_path / "log.csv"):
        for role in ("clicks", "clicked"):
            assert gf.behaviour.read_log(log, columns={role: "tapped"}).clicks == clicks


@pytest.mark.parametrize("value", ["maybe", "2026-03-01 10:00", -1])
def test_other_values_are_refused(value):
    table = [dict(row, clicked=value if row["doc"] == "c" else row["clicked"]) for row in rows()]
    with pytest.raises(
        gf.errors.InputError, match="expected 0 or 1, true or false, or the number of clicks"
    ):
        gf.behaviour.read_log(pd.DataFrame(table).astype({"clicked": str}))


def test_several_and_missing_clicks_are_counted():
    table = [
        dict(row, clicked={"b": 3, "c": float("nan")}.get(row["doc"], row["clicked"]))
        for row in rows()
    ]
    log = gf.behaviour.read_log(pd.DataFrame(table))
    assert [(oddity.count, oddity.treatment) for oddity in log.oddities] == [
        (1, "counted as not clicked"), (2, "counted once"),
    ]  # fmt: skip


def test_counts_have_a_model_without_lists():
    table = [
        {"query": "q", "doc": doc, "impressions": 10, "clicks": number}
        for doc, number in (("a", 3), ("b", 1))
    ]
    assert gf.behaviour.click_judgments(table).model == "ctr"
    places = [dict(row, position=place) for place, row in enumerate(table)]
    assert (
        gf.behaviour.click_judgments(
            [*places, *[dict(row, position=1 - row["position"]) for row in places]], rounds=500
        ).model
        == "pbm"
    )


def long_table(lists=3000, queries=40, depth=6):
    rng = np.random.default_rng(0)
    query = np.repeat(rng.integers(0, queries, lists), depth)
    return pd.DataFrame({
        "session": np.repeat([f"s{place}" for place in range(lists)], depth), "query": [f"query {q}" for q in query],
        "doc": [f"d{d}" for d in rng.random((lists, 20)).argsort(axis=1)[:, :depth].ravel()],
        "position": np.tile(np.arange(depth), lists), "clicked": rng.random(lists * depth) < 0.2,
    })  # fmt: skip


def written(table, form, folder):
    """Write a frame in some form, and return what read_log accepts."""
    path = folder / f"log.{form}"
    if form == "csv":
        table.to_csv(path, index=False)
    elif form == "jsonl":
        table.to_json(path, orient="records", lines=True)
    elif form == "parquet":
        table.to_parquet(path, row_group_size=2000)
    elif form == "files":
        path.mkdir()
        for place, size in enumerate(range(0, len(table), 5000)):
            part = table.iloc[size : size + 5000]
            part.to_parquet(path / f"part_{place:02}.parquet", row_group_size=2000)
    return table if form == "frame" else path


@pytest.mark.parametrize("form", ["frame", "csv", "jsonl", "parquet", "files"])
@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("gaps", [False, True])
def test_long_logs_are_read_in_blocks(monkeypatch, shuffled, form, gaps, tmp_path):
    table = long_table().sample(frac=1, random_state=1) if shuffled else long_table()
    whole = gf.behaviour.read_log(table)
    if gaps:
        table = pd.concat([table.head(9).assign(query=None), table, table.head(9).assign(doc=None)])
    given = written(table, form, tmp_path)
    monkeypatch.setattr("gainful.behaviour.log_rows._BLOCK_ROWS", 1000)
    log = gf.behaviour.read_log(given, engine=gf.Engine(memory="64MB", threads=1))
    assert told(log) == told(whole)
    assert (log.lists, log.sessions) == (whole.lists, whole.sessions)
    assert [oddity.count for oddity in log.oddities] == ([18] if gaps else [])
    for model in ("sdbn", "ubm"):  # which depend on the order of the rows
        grades = [
            gf.behaviour.click_judgments(part, model, rounds=500).grades for part in (log, whole)
        ]
        assert grades[0] == pytest.approx(grades[1])


def test_a_log_that_changes_while_it_is_read_is_noticed(monkeypatch):
    monkeypatch.setattr("gainful.behaviour.log_rows._PAIR", "hash(query, doc, random())")
    with pytest.raises(gf.errors.InputError, match="expected the same rows each time it is read"):
        gf.behaviour.read_log(rows())


def test_keys_that_differ_in_their_last_bits_only():
    from gainful.arithmetic.kernels.numbered_keys import numbered

    rng = np.random.default_rng(0)
    keys = (rng.integers(0, 50, 2000).astype(np.uint64) << np.uint64(40)) + rng.integers(
        0, 9, 2000
    ).astype(np.uint64)
    distinct, numbers = np.unique(keys, return_inverse=True)
    assert [each.tolist() for each in numbered(keys)] == [numbers.tolist(), distinct.tolist()]
    assert [len(each) for each in numbered(distinct[:0])] == [0, 0]


def clicks_by_rank(log):
    return [(row.rank, row.shown, row.clicks) for row in log.ranks]


def test_the_first_position_of_rows_per_list():
    table = [
        {"query": query, "shown": ["a", "b", "c"], "clicked": [1]} for query in ("soup", "stew")
    ]
    log = gf.behaviour.read_log(table)
    assert (log.first_position, clicks_by_rank(log)) == (1, [(1, 2, 2), (2, 2, 0), (3, 2, 0)])
    log = gf.behaviour.read_log(table, first_position=0)
    assert (log.first_position, clicks_by_rank(log)) == (0, [(1, 2, 0), (2, 2, 2), (3, 2, 0)])
    assert gf.behaviour.read_log([*table, dict(table[0], clicked=[0])]).first_position == 0
    with pytest.raises(gf.errors.InputError, match="positions from 1, found 0"):
        gf.behaviour.read_log([*table, dict(table[0], clicked=[0])], first_position=1)


@pytest.mark.parametrize("first", [0, 1])
def test_the_first_position_of_ubi(first):
    """Lists have no numbers of their own: whatever the events' first position, their first document has rank 1."""
    events, queries = ubi(first)
    assert (
        gf.behaviour.read_log(events, lists=queries, first_position=first).first_position == first
    )
    for options in ({}, {"first_position": first}):
        assert told(gf.behaviour.read_log(events, lists=queries, **options)) == EXPECTED
    # The results of one list weren't logged, so its impressions replace them.
    query_id, docs = queries[0]["query_id"], queries[0].pop("query_response_hit_ids")
    events += [
        {
            "action_name": "impression", "query_id": query_id, "session_id": "s", "timestamp": "2026-03-01T09:59:00Z",
            "event_attributes": {"object": {"object_id": doc}, "position": {"ordinal": place}},
        }
        for place, doc in enumerate(docs, first)
    ]  # fmt: skip
    log = gf.behaviour.read_log(events, lists=queries)
    assert (told(log), log.first_position, log.oddities) == (EXPECTED, first, ())


@pytest.mark.parametrize(
    ("shown", "clicked"),
    [
        ('["red shoe", "pot"]', '["red shoe"]'),
        ('["red shoe", "pot"]', "red shoe"),
        ("['red shoe', 'pot']", "['red shoe']"),
        ("red shoe|pot", "red shoe"),
        ("red shoe; pot", "1"),
        ("(red shoe, pot)", "0"),
    ],
)
def test_texts_with_several_ids(shown, clicked, tmp_path):
    rows = [
        {"query": "q", "shown": shown, "clicked": clicked},
        {"query": "r", "shown": shown, "clicked": ""},
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "log.csv", index=False)
    for log in (rows, tmp_path / "log.csv"):
        assert told(gf.behaviour.read_log(log)) == {
            ("q", "red shoe", 1): (1, 1), ("q", "pot", 2): (1, 0),
            ("r", "red shoe", 1): (1, 0), ("r", "pot", 2): (1, 0),
        }  # fmt: skip


def test_ids_keep_their_apostrophes_and_commas():
    urls = ["http://a.com/?q=1,2", "o'neil"]
    table = [{"query": "q", "shown": json.dumps(urls), "clicked": urls[1:]}]
    assert sorted(gf.behaviour.read_log(table).docs) == urls


def test_what_lists_and_counts_leave_out_is_counted():
    lists = [
        {"query": "q", "shown": ["a", "b"], "clicked": ["a"]},
        {"query": "q", "shown": [], "clicked": []},
        {"query": "q", "shown": None, "clicked": None},
    ]
    assert [*map(str, gf.behaviour.read_log(lists).oddities)] == [
        "Lists without documents: 2 (left out)"
    ]
    counts = [
        {"query": query, "doc": doc, "position": place, "impressions": 10, "clicks": 1}
        for query, doc, place in (("q", "a", 1), ("q", "b", None), (None, "c", 1), ("q", None, 2))
    ]
    log = gf.behaviour.read_log(counts)
    assert [*map(str, log.oddities)] == [
        "Rows without a query or a document: 2 (left out)",
        "Rows without a position: 1 (left out)",
        "Pairs of query and document without impressions: 1 (not graded)",
    ]
    assert log.impressions == 10
    events, queries = ubi()
    lost = dict(events[0], action_name="impression", query_id=None)
    log = gf.behaviour.read_log([*events, lost], lists=queries)
    assert [*map(str, log.oddities)] == ["Impressions without a list or a document: 1 (left out)"]


@pytest.mark.parametrize("impressions", [float("inf"), "many", None])
def test_impossible_counts_are_refused(impressions):
    table = [{"query": "q", "doc": "a", "impressions": impressions, "clicks": 1}]
    with pytest.raises(gf.errors.InputError, match="from 0 clicks to as many as impressions"):
        gf.behaviour.read_log(pd.DataFrame(table))


def test_options_that_a_log_cannot_use_are_refused():
    counts = [{"query": "q", "doc": "a", "impressions": 10, "clicks": 1}]
    lists = [{"query": "q", "shown": ["a", "b"], "clicked": ["a"]}]
    for table in (counts, lists):
        with pytest.raises(gf.errors.InputError, match=r"actions: expected events, or a row per"):
            gf.behaviour.read_log(table, actions={"purchase": 2})
        with pytest.raises(
            gf.errors.InputError, match=r"most_clicks: expected a log with sessions"
        ):
            gf.behaviour.read_log(table, most_clicks=9)


@pytest.mark.parametrize("weight", [1e-60, 1e60])
def test_weights_have_a_plausible_size(weight):
    with pytest.raises(gf.errors.InputError, match="a weight from 1e-9 to 1e9"):
        gf.behaviour.read_log(rows(), actions={"click": weight})


def test_rows_without_a_session_are_left_out():
    table = pd.DataFrame(rows())
    unknown = table.assign(session=None)
    log = gf.behaviour.read_log(pd.concat([table, unknown]))
    assert told(log) == EXPECTED
    assert [*map(str, log.oddities)] == [f"Rows without a session: {len(table)} (left out)"]
    with pytest.raises(gf.errors.InputError, match="the session of each row, found none"):
        gf.behaviour.read_log(unknown)


def test_lists_without_a_user_are_independent():
    """All lists of people who aren't logged in would otherwise count as those of one user."""
    table = pd.DataFrame(rows()).assign(user=None)
    sessions = table["session"].nunique()
    assert gf.behaviour.read_log(table).sessions == sessions
    table.loc[table["session"] == table["session"].iloc[0], "user"] = "u"
    assert gf.behaviour.read_log(table).sessions == sessions
    named = table.rename(columns={"session": "list_id"})
    assert gf.behaviour.read_log(named).sessions == gf.behaviour.read_log(named).lists
    lists = [
        {"user": user, "query": "q", "shown": ["a", "b"], "clicked": ["a"]}
        for user in ("u", None, None)
    ]
    assert gf.behaviour.read_log(lists).sessions == 3


@pytest.mark.parametrize("unit", [1, 1e3, 1e6, 1e9])
def test_times_in_parts_of_a_second(unit):
    table = [
        {"user": "u", "query": "soup", "doc": doc, "position": place, "clicked": doc == "b", "time": int((1.77e9 + 60 * minute) * unit)}
        for minute in (0, 10, 120) for place, doc in enumerate("ab", 1)
    ]  # fmt: skip
    assert gf.behaviour.read_log(table).lists == 2


def test_clocks_that_jump_are_counted():
    def at(*times):
        return [
            {"user": "u", "query": "q", "doc": doc, "position": place, "clicked": doc == "b", "time": time}
            for place, (doc, time) in enumerate(zip("abc", times, strict=True), 1)
        ]  # fmt: skip

    fine = at("2026-03-01 10:00", "2026-03-01 10:01", "2026-03-01 10:02")
    assert gf.behaviour.read_log(fine).oddities == ()
    log = gf.behaviour.read_log(at("2026-03-01 10:00", "1970-01-01 00:00", "2026-03-01 10:02"))
    assert str(log.oddities[0]) == (
        "Jumps of the clock within a list, by more than the gap between sessions: 2 (the list was split)"
    )
    with pytest.raises(
        gf.errors.InputError, match=r"column 'time': expected times such as.*found '1/3"
    ):
        gf.behaviour.read_log(at(*["1/3/2026 at 10"] * 3))


def test_flattened_attributes():
    events, queries = ubi()
    table = pd.json_normalize(events)
    assert "event_attributes.object.object_id" in table
    assert told(gf.behaviour.read_log(table, lists=queries)) == EXPECTED
    columns = {"doc": "event_attributes.object.object_id"}
    assert told(gf.behaviour.read_log(table, lists=queries, columns=columns)) == EXPECTED


def test_missing_columns_come_with_a_remedy():
    events, queries = ubi()
    table = pd.DataFrame(events).drop(columns="event_attributes")
    with pytest.raises(gf.errors.InputError, match=r"a column for doc.*Name it: columns doc=…"):
        gf.behaviour.read_log(table, lists=queries)
