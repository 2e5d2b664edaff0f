"""A quicker start and end of a process that measures once: what it imports stays until it ends."""

import gc
import os


def import_quickly() -> None:
    """Spare what only slows the imports of a command that measures.

    Python would look through all modules for garbage again and again, and NumPy's library for
    matrices would start a thread for each core. Measuring has no use for these threads, other
    commands do; a number that the user has set is kept.
    """
    gc.disable()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def keep_imports() -> None:
    """Look for garbage again, but among what is made from now on.

    Modules are then not searched and taken apart piece by piece at the end, which takes longer
    than a small evaluation. Objects of the work itself, such as files, are closed as ever.
    """
    gc.freeze()
    gc.enable()
