"""Record what pytrec_eval answers to the tests: stand_ins/ has it for machines without a wheel.

Run it where pytrec_eval is installed, after a change of a test that asks it:

    PYTHONPATH=tests python -m pytest --deep -p record_pytrec_eval tests/evaluation tests/compat \
        tests/dialects/test_dialects_against_tools.py tests/measures tests/project/test_coming_from.py

and in the environment of the heavy hosts the same with tests/hosts. What was recorded before is kept.
"""

import importlib.util
import json
import lzma
from pathlib import Path

import pytrec_eval

PLACE = Path(__file__).parent / "stand_ins" / "pytrec_eval.py"
spec = importlib.util.spec_from_file_location("recorded", PLACE)
stand_in = importlib.util.module_from_spec(spec)
spec.loader.exec_module(stand_in)

names, answers = stand_in.RECORDED.get("names", []), stand_in.RECORDED.get("answers", {})


class Recording(pytrec_eval.RelevanceEvaluator):
    def __init__(self, *given, **options):
        super().__init__(*given, **options)
        self.asked = stand_in.asked(*given, **options)

    def evaluate(self, scores):
        found = super().evaluate(scores)
        columns = [*next(iter(found.values()), ())]
        if columns not in names:
            names.append(columns)
        rows = {query: [*row.values()] for query, row in found.items()}
        answers[stand_in.key(("evaluate", self.asked, scores))] = {
            "names": names.index(columns),
            "rows": rows,
        }
        return found


def aggregate(measure, values, compute=pytrec_eval.compute_aggregated_measure):
    found = compute(measure, values)
    answers[stand_in.key(("aggregate", measure, values))] = found
    return found


pytrec_eval.RelevanceEvaluator = Recording
pytrec_eval.compute_aggregated_measure = aggregate


def pytest_sessionfinish():
    recorded = {
        "version": pytrec_eval.__version__,
        "measures": sorted(pytrec_eval.supported_measures),
        "names": names,
        "answers": answers,
    }
    stand_in.ANSWERS.write_bytes(lzma.compress(json.dumps(recorded).encode(), preset=9))
