"""Hosts stay on this machine: nothing is reported to their makers, and no service is asked."""

import asyncio
import contextlib
import gc
import os
import warnings

import pytest

os.environ |= {
    "ANONYMIZED_TELEMETRY": "False",
    "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
    "DEEPEVAL_DISABLE_DOTENV": "1",
    "DO_NOT_TRACK": "true",
    "GIT_PYTHON_REFRESH": "quiet",
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "HF_HUB_OFFLINE": "1",
    "LANGSMITH_TRACING": "false",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "RAGAS_DO_NOT_TRACK": "true",
    "WANDB_MODE": "offline",
    "WANDB_SILENT": "true",
}


@pytest.fixture(autouse=True, scope="session")
def loops_that_hosts_leave_open():
    """Close the event loop that some hosts make and forget, which pytest would take for a fault."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with contextlib.suppress(RuntimeError):  # there is none
            asyncio.get_event_loop().close()
        asyncio.set_event_loop(None)
        gc.collect()
