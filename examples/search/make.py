"""Write the files of the guide for search teams, from those in ../cooking.

    python examples/search/make.py

`before.jsonl` and `after.jsonl` are what a script saves that sends each query to Elasticsearch: a response
a line, with the query beside it. `grades.csv` is a spreadsheet of grades, exported with semicolons.
"""

import csv
import io
import json
from pathlib import Path

HERE = Path(__file__).resolve().parent
COOKING = HERE.parent / "cooking"
DEPTH = 10


def titles() -> dict[str, str]:
    """Return the title of each recipe by its id."""
    lines = (COOKING / "docs.tsv").read_text(encoding="utf-8").splitlines()[1:]
    return {line.split("\t")[0]: line.split("\t")[1] for line in lines}


def responses(run: str) -> str:
    """Return a run as responses of Elasticsearch, one on each line."""
    found: dict[str, list[tuple[float, str]]] = {}
    for line in (COOKING / run).read_text(encoding="utf-8").splitlines():
        query, _, doc, _, score, _ = line.split()
        found.setdefault(query, []).append((float(score), doc))
    names, lines = titles(), []
    for query, scored in found.items():
        best = sorted(scored, reverse=True)[:DEPTH]
        hits = [
            {"_index": "recipes", "_id": doc, "_score": score, "_source": {"title": names[doc]}}
            for score, doc in best
        ]
        total = {"value": len(scored), "relation": "eq"}
        body = {"total": total, "max_score": best[0][0], "hits": hits}
        lines.append(json.dumps({"query": query, "took": 3, "timed_out": False, "hits": body}))
    return "\n".join(lines) + "\n"


def grades() -> str:
    """Return the judgments as a spreadsheet exports them."""
    out, names = io.StringIO(), titles()
    table = csv.writer(out, delimiter=";", lineterminator="\n")
    table.writerow(["search term", "recipe", "title", "grade"])
    for line in (COOKING / "judgments.qrels").read_text(encoding="utf-8").splitlines():
        query, _, doc, grade = line.split()
        table.writerow([query, doc, names[doc], grade])
    return out.getvalue()


def files() -> dict[str, str]:
    """Return what each file holds."""
    return {
        "before.jsonl": responses("keyword.run"),
        "after.jsonl": responses("hybrid.run"),
        "grades.csv": grades(),
    }


if __name__ == "__main__":
    for name, text in files().items():
        (HERE / name).write_text(text, encoding="utf-8")
