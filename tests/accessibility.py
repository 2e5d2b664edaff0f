"""The accessibility scan: axe-core, and what it finds that is serious."""

import hashlib
import os
import shutil
import tarfile
from pathlib import Path

import pytest

from chromium import call

AXE = "4.14.0"
AXE_HASH = "20c09fe157a8a34a30e241aaa1fcdade657734f08ab379ecfbeb7d45cc46e878"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gainful-tests"
GRAVE = ("serious", "critical")


def axe_source():
    """Return the source of axe-core, from npm, kept between sessions."""
    source = CACHE / f"axe-{AXE}.min.js"
    if not source.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        if not shutil.which("npm"):
            pytest.fail("The accessibility scan needs npm, to fetch axe-core.", pytrace=False)
        done = call("npm", "pack", f"axe-core@{AXE}", "--silent", "--pack-destination", str(CACHE))
        if done.returncode:
            pytest.fail(f"npm cannot fetch axe-core: {done.stderr[-500:]}", pytrace=False)
        packed = CACHE / f"axe-core-{AXE}.tgz"
        with tarfile.open(packed) as archive:
            member = archive.extractfile("package/axe.min.js")
            assert member is not None
            source.write_bytes(member.read())
        packed.unlink()
    content = source.read_bytes()
    assert hashlib.sha256(content).hexdigest() == AXE_HASH, f"{source} is not axe-core {AXE}"
    return content.decode()


def findings(page, axe, **options):
    """Return the grave faults of a page as axe-core finds them: rule, impact, and up to three places."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(axe)
    found = page.evaluate(
        "options => axe.run(document, options)", {"resultTypes": ["violations"], **options}
    )
    return [
        (each["id"], each["impact"], [node["target"] for node in each["nodes"]][:3])
        for each in found["violations"]
        if each["impact"] in GRAVE
    ]
