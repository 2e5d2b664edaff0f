"""Hosts stay on this machine: nothing is reported to their makers, and no service is asked."""

import asyncio
import gc
import os

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


@pytest.fixture(autouse=True, scope="module")
def loops_that_hosts_leave_open():
    """Close the event loops that some hosts make and forget, which pytest would take for a fault."""
    yield
    for each in gc.get_objects():
        if issubclass(type(each), asyncio.BaseEventLoop) and not each.is_running():
            each.close()
