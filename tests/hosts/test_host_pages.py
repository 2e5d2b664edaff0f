"""The pages of heavy hosts, run beside these, and the examples in the adapters themselves."""

import doctest
import importlib
from pathlib import Path

import pytest

import coming_from
from heavy_hosts import HEAVY, HEAVY_PAGES

ROOT = Path(__file__).parents[2]
FLAGS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL


@pytest.mark.parametrize("host", HEAVY_PAGES)
@pytest.mark.filterwarnings("ignore")  # those of the hosts
def test_the_page_of_a_host(host, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if host != "wandb":
        monkeypatch.delenv("WANDB_MODE")  # of which other hosts print a line when they are imported
    page = ROOT / "docs" / "hosts" / f"{host}.md"
    failed, tried = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert failed == 0
    assert tried


@pytest.mark.filterwarnings("ignore")  # those of the hosts
def test_the_page_for_users_of_mteb(tmp_path, monkeypatch, cli):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WANDB_MODE")  # as above
    held = coming_from.check("mteb", cli)
    assert held == {"names": 6, "calls": 0, "choices": 4}


@pytest.mark.parametrize("host", HEAVY)
@pytest.mark.filterwarnings("ignore")  # those of the hosts
def test_the_adapter_of_a_host(host):
    module = importlib.import_module(f"gainful.integrations.{host}")
    assert module.__all__ == sorted(module.__all__)
    for name in module.__all__:
        assert getattr(module, name).__doc__
    failed, _ = doctest.testmod(module, optionflags=FLAGS)
    assert failed == 0
