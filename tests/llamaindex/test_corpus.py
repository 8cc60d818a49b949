"""Every real definition that was collected, as models of two vendors are told of it."""

import re

import pytest

from deferred_tools import Caller, Session, Toolset
from llama_index.tools.deferred.bind import bind
from tests.llamaindex.payloads import VENDORS, whole
from tests.support.corpus import sources

pytestmark = pytest.mark.thorough

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def test_every_real_tool_reaches_every_vendor_with_its_schema_whole() -> None:
    with Toolset(sources(), retriever="substring") as toolset:
        session = Session(caller=Caller.root())
        entries = toolset.registry.tools
        assert len(entries) == 5549
        tools = [bind(toolset, session, entry) for entry in entries.values()]
        for vendor, told_by in VENDORS.items():
            told = told_by(tools)
            assert list(told) == list(entries)
            for name, entry in entries.items():
                assert NAME.fullmatch(name)
                assert told[name]["description"]
                assert told[name]["parameters"] == whole(vendor, dict(entry.spec.parameters)), name
