"""Where commands have their tools from."""

import sys
from pathlib import Path

import pytest

from deferred_tools.cli import catalogue
from deferred_tools.errors import ConfigurationError
from deferred_tools.limits import Limits
from tests.support.command import DIES, MUTE, configured, listing

SEND = {"name": "send.it", "description": "Send a letter"}


def test_tools_of_servers_go_by_the_names_that_models_see(tmp_path: Path) -> None:
    config = configured(tmp_path / "mcp.json", {"my mail": listing(SEND)})
    (spec,) = catalogue.tools_of(None, config)
    assert (spec.source, spec.tool, spec.name) == ("my_mail", "send.it", "my_mail__send_it")


def test_a_server_that_is_still_starting_is_told_and_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(catalogue, "_PATIENCE", Limits(startup_seconds=0.1))
    config = configured(tmp_path / "mcp.json", {"mute": MUTE})
    with pytest.raises(ConfigurationError, match="offers a tool: there is nothing to look at"):
        catalogue.tools_of(None, config)
    assert capsys.readouterr().err == "mute: left out, as it was not ready in time\n"


def test_without_the_extra_the_cure_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "deferred_tools.sources.mcp", None)
    with pytest.raises(ConfigurationError, match=r'pip install "deferred-tools\[mcp\]"'):
        catalogue.tools_of(None, tmp_path / "mcp.json")


def test_what_a_server_listed_wrongly_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = {"name": "bad", "inputSchema": {"$ref": "https://example.org/schema.json"}}
    config = configured(tmp_path / "mcp.json", {"mail": listing(SEND, bad), "dead": DIES})
    assert [spec.tool for spec in catalogue.tools_of(None, config)] == ["send.it"]
    told = capsys.readouterr().err
    assert "server 'mail', tool 'bad': left out" in told
    assert "dead: unavailable: the connection was closed; it exited with code 3" in told


def test_a_disabled_server_is_not_started(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    servers = {"mail": listing(SEND), "off": {**DIES, "disabled": True}}
    config = configured(tmp_path / "mcp.json", servers)
    assert len(catalogue.tools_of(None, config)) == 1
    assert capsys.readouterr().err == "off: disabled: disabled in its configuration\n"
