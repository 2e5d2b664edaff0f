"""Processes that write to a history while others do, and while they are killed."""

import multiprocessing
import os
import random
import signal
import sys
import time
import warnings

import numpy as np
import pytest

import gainful as gf

JUDGMENTS = {f"q{at}": {"a": 1, "b": 2} for at in range(3000)}
FORKS = multiprocessing.get_context("fork") if sys.platform == "linux" else None
on_linux = pytest.mark.skipif(FORKS is None, reason="kills forked processes")


def scores_of(seed=1, queries=3000):
    draw = random.Random(seed)  # noqa: S311
    judgments = {query: JUDGMENTS[query] for query in [*JUDGMENTS][:queries]}
    run = {
        query: {"a": draw.random(), "b": draw.random(), "c": draw.random()} for query in judgments
    }
    return gf.evaluate(judgments, run, ["nDCG@10", "AP"])


def add_forever(place, scores, done, writer):
    for number in range(100_000):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the entry of a killed process is removed
            gf.history.add(place, scores, label=f"{writer}-{number}")
        os.write(done, b"%d\n" % number)


def kill_writers(place, kills, *, longest=0.08):
    """Kill writers at random times; every entry they completed must be there, and no other but the last."""
    draw, scores = random.Random(7), scores_of()  # noqa: S311
    gf.history.add(place, scores, label="first")
    expected = ["first"]
    for kill in range(kills):
        reading, writing = os.pipe()
        writer = FORKS.Process(target=add_forever, args=(place, scores, writing, kill))
        writer.start()
        os.close(writing)
        time.sleep(draw.uniform(0.005, longest))
        os.kill(writer.pid, signal.SIGKILL)
        writer.join()
        with os.fdopen(reading, "rb") as pipe:
            count = len(pipe.read().split())  # that the writer was told are stored
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            labels = labels_in(place)
        own = [label for label in labels if label.startswith(f"{kill}-")]
        assert own[:count] == [f"{kill}-{number}" for number in range(count)]
        assert len(own) <= count + 1  # it may be killed between the disk and its answer
        expected += own
        assert labels == expected
    gf.history.add(place, scores, label="last")
    history = gf.history.read(place)
    assert history[-1].label == "last"
    for entry in {0, len(history) // 2, len(history) - 1}:
        np.testing.assert_array_equal(history[entry].scores.values, scores.values)


def labels_in(place):
    return [entry.label for entry in gf.history.read(place)]


def write_at_once(place, *, writers=4, each=15):
    """Have processes add entries at the same time; all must be there, with every value."""

    def write(writer):
        scores = scores_of(writer, queries=300 + writer % 2)
        for number in range(each):
            gf.history.add(place, scores, label=f"{writer}-{number}", run=f"writer {writer}")

    processes = [FORKS.Process(target=write, args=(writer,)) for writer in range(writers)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    history = gf.history.read(place)
    for writer in range(writers):
        entries = history.of(f"writer {writer}")
        assert [entry.label for entry in entries] == [f"{writer}-{at}" for at in range(each)]
        expected = scores_of(writer, queries=300 + writer % 2)
        for entry in entries:
            np.testing.assert_array_equal(entry.scores.values, expected.values)
