"""Progress: told while work goes on, shown on a terminal alone."""

import gainful as gf


def test_progress_is_told_for_every_run(tmp_path):
    qrels = tmp_path / "qrels.csv"
    qrels.write_text("query,doc,grade\nq,a,1\n")
    told = []
    runs = {"one": {"q": {"a": 1}}, "two": {"q": {"a": 2}}}
    gf.evaluate_runs(qrels, runs, progress=lambda share, name: told.append((share, name)))
    assert [(share, name) for share, name in told if share in (0.5, 1.0)] == [
        (0.5, "one"),
        (1.0, "two"),
    ]
    shares = []
    gf.evaluate(qrels, runs["one"], progress=shares.append)
    assert shares[-1] == 1.0


def test_nothing_is_shown_without_a_terminal(cli, tmp_path):
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("q 0 a 1\n")
    run.write_text("q Q0 a 1 1 t\n")
    assert cli("evaluate", qrels, run).stderr == ""
