"""Evaluations in threads: a process that is copied meanwhile works, and one that ends meanwhile says nothing odd."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
# A thread is held in the midst of a value that is computed once; the copy then needs one of another object.
FORKED = """
import os, signal, threading, gainful as gf
from gainful.evaluation.gains_ranks_and_ideals import Worksheet
from gainful.matching.dict_matching import match_queries
from gainful.measures.policy import Policy

policy = Policy(ties="doc")
matched = match_queries([("q", {"a": 2, "b": 1}, {"a": 1.0})], policy)
held, go_on = threading.Event(), threading.Event()

class Held(Worksheet):
    @property
    def matched(self):
        if threading.current_thread() is not threading.main_thread():
            held.set()
            go_on.wait(20)
        return matched

    @matched.setter
    def matched(self, _):
        pass

thread = threading.Thread(target=lambda: Held(matched, policy).owner)
thread.start()
assert held.wait(20)
child = os.fork()
if not child:
    signal.alarm(10)  # seconds, after which it hangs
    gf.evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, ["nDCG@10", "AP", "P@5"])
    os._exit(0)
go_on.set()
thread.join()
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
# The work goes on in a thread while the interpreter ends, as in a notebook's or a server's.
ENDING = """
import sys, threading, time, gainful as gf
import concurrent.futures, numpy as np
from gainful.arithmetic import cores

cores._of_process = lambda: 4  # whatever the machine has
ended = threading.Event()
started = threading.Event()

def work():
    started.set()
    threading.main_thread().join()  # from now on no executor takes work
    labels = np.tile([1.0, 0.0], (200_000, 5))
    try:
        WORK
        print("done")
    except gf.errors.GainfulError as problem:
        print("refused:", problem)

threading.Thread(target=work, daemon=DAEMON).start()
started.wait()
"""
WORKS = {
    "in_parallel": "print(cores.in_parallel(lambda part: part + 1, [1, 2, 3]))",
    "in_turn": "print(list(cores.in_turn(lambda part: part + 1, [1, 2, 3])))",
    "beside": "cores.beside(lambda: 1).__enter__()",
    "arrays": "gf.evaluate_arrays(labels=labels, scores=labels)",
    "resampling": "gf.compare({f'q{i}': {'a': 1, 'b': i % 3} for i in range(50)}, "
    "{'x': {f'q{i}': {'a': i % 4, 'b': 1} for i in range(50)}, "
    "'y': {f'q{i}': {'a': 1, 'b': i % 4} for i in range(50)}}, 'nDCG@2', interval='bca')",
}


def ran(program):
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False,
        env={"PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


if hasattr(os, "fork"):  # Windows has none

    def test_a_fork_while_a_thread_evaluates():
        assert ran(FORKED) == (0, "0\n", "")


@pytest.mark.parametrize("daemon", [True, False])
@pytest.mark.parametrize("work", WORKS)
def test_work_in_a_thread_at_the_end_of_the_interpreter(work, daemon):
    code, _, said = ran(ENDING.replace("WORK", WORKS[work]).replace("DAEMON", str(daemon)))
    assert (code, said) == (0, "")
