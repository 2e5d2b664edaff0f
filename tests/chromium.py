"""The browser of the tests: the Chromium of this machine."""

import os
import shutil
import subprocess
from contextlib import contextmanager

import pytest
from playwright.sync_api import sync_playwright

ADVICE = "The tests of the page need a browser: install Debian's chromium, or put one on the PATH"


def call(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=400, check=False)


def installed_chromium():
    """Return the system's chromium; install Debian's where that is allowed."""
    found = shutil.which("chromium")
    if found:
        return found
    rights = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if not shutil.which("apt-get"):
        pytest.fail(f"{ADVICE}; there is no apt-get here.", pytrace=False)
    # Its fonts are named: what it recommends would bring ninety packages more, such as printing.
    wanted = ["chromium", "fonts-liberation"]
    install = [*rights, "apt-get", "install", "-y", "--no-install-recommends", *wanted]
    done = call(*install)
    if done.returncode:
        call(*rights, "apt-get", "update")
        done = call(*install)
    found = shutil.which("chromium")
    if not found:
        pytest.fail(f"{ADVICE}; `{' '.join(install)}` said: {done.stderr[-500:]}", pytrace=False)
    return found


@contextmanager
def launched():
    """Start the browser, and close it afterwards."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=installed_chromium(), args=["--no-sandbox", "--disable-gpu"]
        )
        yield chromium
        chromium.close()
