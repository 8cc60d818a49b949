"""Signing in and out from the command line, with a keyring that lives in memory."""

import sys
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import anyio
import pytest

from deferred_tools.cli.list import list_command
from deferred_tools.cli.login import login_command, logout_command
from deferred_tools.cli.signing_in import kept_sign_ins
from deferred_tools.errors import ConfigurationError
from tests.support.command import app_of, configured, run
from tests.support.oauth_server import CANARY, OAuthWorld, oauth_world
from tests.support.web_origin import visit

LOGIN = app_of(login_command)
LOGOUT = app_of(logout_command)


@pytest.fixture
def world() -> Iterator[OAuthWorld]:
    with oauth_world() as world:
        yield world


@pytest.fixture
def config(world: OAuthWorld, tmp_path: Path) -> Path:
    return configured(tmp_path / "mcp.json", {"web": {"url": world.url}, "local": {"command": "x"}})


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that were opened in a browser whose owner agrees to everything."""
    opened: list[str] = []

    def agree(url: str) -> bool:
        opened.append(url)
        return visit(url) == 200

    monkeypatch.setattr(webbrowser, "open", agree)
    return opened


@pytest.fixture
def keyring(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], str]:
    """What the keyring holds."""
    held: dict[tuple[str, str], str] = {}
    backend = SimpleNamespace(
        priority=5,
        get_password=lambda service, name: held.get((service, name)),
        set_password=lambda service, name, text: held.update({(service, name): text}),
        delete_password=lambda service, name: held.pop((service, name)),
    )
    # As with several backends installed, the first of which must not get a token.
    chain = SimpleNamespace(priority=10, backends=[SimpleNamespace(priority=0.5), backend])
    monkeypatch.setitem(sys.modules, "keyring", SimpleNamespace(get_keyring=lambda: chain))
    return held


def test_a_person_signs_in_once_and_out(
    world: OAuthWorld, config: Path, browser: list[str], keyring: dict[tuple[str, str], str]
) -> None:
    done = run("web", "--config", config, app=LOGIN)
    assert (done.exit_code, done.stdout) == (0, "Signed in at 'web'.\n")
    [url] = browser
    assert url in done.stderr
    assert CANARY not in done.output
    assert {service for service, _ in keyring} == {"deferred-tools"}
    assert all(name.startswith(f"{world.url} ") for _, name in keyring)
    again = run("web", "--config", config, app=LOGIN)
    assert again.stdout == "'web' lets you in as it is. With --again you sign in anew.\n"
    assert len(browser) == 1
    out = run("web", "--config", config, app=LOGOUT)
    assert (out.exit_code, out.stdout) == (0, "Signed out at 'web'.\n")
    assert keyring == {}
    assert "/revoke" in world.authority.paths()
    assert world.authority.refreshing == {}
    assert run("web", "--config", config, app=LOGOUT).exit_code == 0


def test_later_commands_use_the_sign_in(
    config: Path, browser: list[str], keyring: dict[tuple[str, str], str]
) -> None:
    before = run("web", "--config", config, app=app_of(list_command))
    assert before.exit_code == 3
    assert run("web", "--config", config, app=LOGIN).exit_code == 0
    after = run("web", "--config", config, app=app_of(list_command))
    assert after.exit_code == 0, after.output
    assert len(browser) == 1


def test_scopes_are_asked_for_on_demand(
    config: Path, browser: list[str], keyring: dict[tuple[str, str], str]
) -> None:
    assert run("web", "--config", config, "--scope", "read", app=LOGIN).exit_code == 0
    assert "scope=read&" in browser[0] + "&"
    assert run("web", "--config", config, "--scope", "read write", app=LOGIN).exit_code == 0
    assert "scope=read+write" in browser[1]


def test_nobody_who_answers_is_told_in_time(
    config: Path, keyring: dict[tuple[str, str], str]
) -> None:
    done = run("web", "--config", config, "--no-browser", "--wait", "1", app=LOGIN)
    assert done.exit_code == 4
    assert "nobody signed in within 1 s" in done.stderr
    assert keyring == {}


@pytest.mark.parametrize(
    ("name", "told"),
    [("wbe", "did you mean 'web'?"), ("local", "nobody signs in there")],
)
def test_a_server_that_nobody_can_sign_in_at_is_refused(
    config: Path, keyring: dict[tuple[str, str], str], name: str, told: str
) -> None:
    done = run(name, "--config", config, app=LOGIN)
    assert done.exit_code == 1
    assert told in done.stderr


def test_without_a_keyring_it_says_what_to_install(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    done = run("web", "--config", config, app=LOGIN)
    assert done.exit_code == 4
    assert 'pip install "deferred-tools[keyring]"' in done.stderr

    async def stored() -> object:
        return await kept_sign_ins().store.at("key").get_tokens()

    with pytest.raises(ConfigurationError, match="'keyring', which is not installed"):
        anyio.run(stored)


def test_a_keyring_that_keeps_plain_text_is_refused(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weak = SimpleNamespace(get_keyring=lambda: SimpleNamespace(priority=0.5))
    monkeypatch.setitem(sys.modules, "keyring", weak)
    done = run("web", "--config", config, app=LOGIN)
    assert done.exit_code == 4
    assert "there is no keyring on this machine that can keep tokens" in done.stderr
