"""Test suites that a test runs in its own process, by pytester."""

import sys
from pathlib import Path

import pytest
from _pytest.pytester import SysModulesSnapshot


@pytest.fixture(scope="module", autouse=True)
def keep_modules(tmp_path_factory):
    """Keep what a suite imports, apart from its tests: pytester would forget it.

    NumPy loads but once in a process, and tests of other files would import half of gainful anew.
    """
    forget, tests = SysModulesSnapshot.restore, tmp_path_factory.getbasetemp()

    def restore(snapshot):
        imported = {
            name: module
            for name, module in sys.modules.items()
            if not Path(getattr(module, "__file__", None) or "/").is_relative_to(tests)
        }
        forget(snapshot)
        sys.modules.update({**imported, **sys.modules})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SysModulesSnapshot, "restore", restore)
        yield
