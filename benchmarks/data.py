"""The data of the benchmark, made from a seed."""

import numpy as np

JUDGED, JUDGED_AND_RETRIEVED, CORPUS = 50, 30, 500_000
FORMATS = {
    "TREC": "system.run",
    "CSV": "system.csv",
    "JSON lines": "system.jsonl",
    "TREC, gzip": "system.run.gz",
    "TREC, zstd": "system.run.zst",
}


def dicts(queries: int, documents: int):
    """Return judgments and a run as dicts of dicts: 50 judged documents a query, 30 retrieved."""
    rng = np.random.default_rng(1)
    names = [f"D{number:07d}" for number in range(CORPUS)]
    judgments, run = {}, {}
    for number in range(queries):
        retrieved = rng.choice(CORPUS, documents, replace=False)
        # Scores without ties, also in the single precision that some peers use.
        scores = (rng.permutation(documents) + 1) / 16
        run[f"q{number:05d}"] = {
            names[doc]: float(score) for doc, score in zip(retrieved, scores, strict=True)
        }
        others = rng.choice(CORPUS, JUDGED - JUDGED_AND_RETRIEVED)
        judged = np.concatenate(
            (rng.choice(retrieved, JUDGED_AND_RETRIEVED, replace=False), others)
        )
        judgments[f"q{number:05d}"] = {
            names[doc]: int(grade)
            for doc, grade in zip(judged, rng.integers(0, 4, judged.size), strict=True)
        }
    return judgments, run


def batch(lists: int, length: int, *, digits: int | None = None):
    """Return labels and scores [batch, list]; rounded to so many digits, scores tie."""
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 4, (lists, length)).astype(np.float64)
    scores = rng.random((lists, length))
    return labels, scores if digits is None else np.round(scores, digits)


def ragged(lists: int, mean_length: int):
    """Return flat labels, scores and query ids; lists of half to one and a half the mean length."""
    rng = np.random.default_rng(3)
    sizes = rng.integers(mean_length // 2, mean_length * 3 // 2 + 1, lists)
    query = np.repeat(np.arange(lists), sizes)
    labels = rng.integers(0, 4, query.size)
    # float32, which the peer computes in, so that both see the same numbers.
    return labels, rng.random(query.size, dtype=np.float32), query


def trec_files(folder, queries: int, documents: int):
    """Write judgments and a run as TREC files, and return their paths."""
    judgments, run = dicts(queries, documents)
    qrels, system = folder / "judgments.qrels", folder / "system.run"
    qrels.write_text(
        "".join(
            f"{q} 0 {doc} {grade}\n" for q, docs in judgments.items() for doc, grade in docs.items()
        )
    )
    system.write_text(
        "".join(
            f"{q} Q0 {doc} {rank} {score} system\n"
            for q, docs in run.items()
            for rank, (doc, score) in enumerate(docs.items(), 1)
        )
    )
    return qrels, system


def write_every_format(folder, queries: int) -> None:
    """Write judgments, and the same run in all `FORMATS`."""
    import gzip
    import shutil

    import duckdb

    try:
        from compression import zstd
    except ImportError:  # before Python 3.14
        from backports import zstd

    _, run = trec_files(folder, queries, 1000)
    fields = ("query", "q0", "doc", "rank", "score", "tag")
    types = {field: "DOUBLE" if field == "score" else "VARCHAR" for field in fields}
    rows = (
        f"SELECT query, doc, score FROM read_csv('{run}', delim=' ', header=false, quote='', "
        f"escape='', auto_detect=false, columns={types})"
    )
    duckdb.execute(f"COPY ({rows}) TO '{folder / FORMATS['CSV']}' (FORMAT csv, HEADER true)")
    duckdb.execute(f"COPY ({rows}) TO '{folder / FORMATS['JSON lines']}' (FORMAT json)")
    gzipped, zstandard = folder / FORMATS["TREC, gzip"], folder / FORMATS["TREC, zstd"]
    with run.open("rb") as plain, gzip.open(gzipped, "wb", compresslevel=1) as file:
        shutil.copyfileobj(plain, file, 1 << 22)
    with run.open("rb") as plain, zstd.open(zstandard, "wb") as file:
        shutil.copyfileobj(plain, file, 1 << 22)


def parquet_files(folder, rows: int):
    """Write judgments and a run as Parquet files, 1,000 documents a query, and return their paths."""
    import duckdb

    judgments, run = folder / "judgments.parquet", folder / "run.parquet"
    # Every 33rd document of a query is judged, and as many that are not retrieved.
    doc = "'D' || lpad(CAST(hash({0}) % 5000000 AS VARCHAR), 7, '0')"
    duckdb.execute(
        "COPY (SELECT 'q' || lpad(CAST(i // 1000 AS VARCHAR), 6, '0') AS query_id, "
        f"{doc.format('i')} || '-' || (i % 1000) AS doc_id, "
        "CAST((hash(i * 31 + 7) % 1000000007) / 1000003.0 AS DOUBLE) AS score "
        f"FROM range({rows}) t(i)) TO '{run}' (FORMAT parquet)"
    )
    duckdb.execute(
        "COPY (SELECT 'q' || lpad(CAST(i // 1000 AS VARCHAR), 6, '0') AS query_id, "
        f"CASE WHEN i % 2 = 0 THEN {doc.format('i')} || '-' || (i % 1000) ELSE 'E' || i END AS doc_id, "
        "CAST(hash(i) % 4 AS INTEGER) AS relevance "
        f"FROM range(0, {rows}, 33) t(i)) TO '{judgments}' (FORMAT parquet)"
    )
    return judgments, run


def runs_to_fuse(folder, rows: int, runs: int) -> None:
    """Write so many rows as TREC files, 1,000 documents a query; any two runs share half of them."""
    import duckdb

    for run in range(runs):
        # 2,000 documents of a query stand in an order of each run's own, of which it has the first half.
        place = f"row_number() OVER (PARTITION BY query ORDER BY hash(query * 2000 + doc + {run} * 1000003)) - 1"
        noise = f"(hash(query * 7919 + place * 31 + {run}) % 1000003) / 1000003.0 * 0.05"
        duckdb.execute(
            "COPY (SELECT (query * 300007 + 48) % 1048576, 'Q0', "
            "(doc * 4999517 + hash(query) % 8388608) % 8388608, "
            f"row_number() OVER (PARTITION BY query ORDER BY score DESC) AS rank, score, 'run{run}' FROM ("
            f"SELECT *, round(CAST({40 - 10 * run} * pow(1 - place / 1000.0, 2) + 5 + {noise} AS DOUBLE), "
            f"{6 if run else 4}) AS score FROM (SELECT query, doc, {place} AS place "
            f"FROM range({rows // runs // 1000}) a(query), range(2000) b(doc)) WHERE place < 1000) "
            f"ORDER BY query, rank) TO '{folder / f'{run}.run'}' "
            "(FORMAT csv, DELIMITER ' ', HEADER false, QUOTE '', ESCAPE '')"
        )
