"""The unpublished workspace stands in for the packages: it must say the same as they do."""

import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
OWN = ("deferred-tools", "langchain-deferred-tools", "llama-index-tools-deferred")


def _project(folder: Path) -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    return project


PACKAGES = [_project(path.parent) for path in sorted(ROOT.glob("packages/*/pyproject.toml"))]
WORKSPACE = _project(ROOT)


def test_all_packages_have_the_same_version_and_ask_for_it_of_each_other() -> None:
    versions = {package["version"] for package in PACKAGES}
    assert len(versions) == 1
    (version,) = versions
    own = [need for package in PACKAGES for need in _needs(package) if need.startswith(OWN)]
    assert all(need.endswith(f"=={version}") for need in own)


def test_the_workspace_installs_what_the_packages_need_in_the_same_ranges() -> None:
    wanted = {need for package in PACKAGES for need in _needs(package)}
    foreign = {need for need in wanted if not need.startswith(OWN)}
    assert foreign <= set(WORKSPACE["dependencies"])


def test_the_workspace_does_not_depend_on_names_that_are_not_ours_yet() -> None:
    assert not [need for need in WORKSPACE["dependencies"] if need.startswith(OWN)]


def test_the_workspace_offers_the_packages_commands_and_entry_points() -> None:
    points: dict[str, dict[str, str]] = {}
    scripts: dict[str, str] = {}
    for package in PACKAGES:
        scripts |= package.get("scripts", {})
        for group, entries in package.get("entry-points", {}).items():
            points.setdefault(group, {}).update(entries)
    assert WORKSPACE["scripts"] == scripts
    assert WORKSPACE["entry-points"] == points


def _needs(package: dict[str, Any]) -> list[str]:
    extras: dict[str, list[str]] = package.get("optional-dependencies", {})
    return [*package["dependencies"], *(need for extra in extras.values() for need in extra)]
