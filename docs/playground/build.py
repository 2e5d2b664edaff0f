"""Write playground.html, the page that can be shared, from its parts."""

import base64
import hashlib
import re
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE / "playground.html"
SCRIPTS = ("ndcg.js", "lessons.js", "page.js")


def built() -> str:
    """Return the page with its style and its scripts inside, which alone its own policy lets run."""
    css = _lines((HERE / "page.css").read_text(encoding="utf-8"))
    parts = [(HERE / name).read_text(encoding="utf-8") for name in SCRIPTS]
    script = _lines("\n".join(_joined(part) for part in parts))
    policy = (
        f"default-src 'none'; style-src '{_hash(css)}'; script-src '{_hash(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    page = (HERE / "page.html").read_text(encoding="utf-8")
    for name, text in (("site", _site()), ("policy", policy), ("css", css), ("script", script)):
        page = page.replace(f"{{{name}}}", text)
    return page


def _site() -> str:
    """Return where the site is, as `site_url` of mkdocs.yml says; without that, the way from the page to its root.

    Programs that show a preview of a link find its picture only by a full address.
    """
    text = (HERE.parents[1] / "mkdocs.yml").read_text(encoding="utf-8")
    found = re.search(r"^site_url: *(\S+?)/?$", text, re.MULTILINE)
    return f"{found[1]}/" if found else "../"


def _joined(script: str) -> str:
    """Return a module without its imports and exports, as the modules before it declare what it imports."""
    script = re.sub(r"^import \{.*?\} from .*?;\n", "", script, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"^export ", "", script, flags=re.MULTILINE)


def _lines(source: str) -> str:
    """Return a source without comments that have a line of their own, indentation and empty lines."""
    source = re.sub(r"^/\*.*\*/$", "", source, flags=re.MULTILINE)
    lines = (line.strip() for line in source.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


if __name__ == "__main__":
    PAGE.write_text(built(), encoding="utf-8")
