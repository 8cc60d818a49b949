"""Contracts: tools that the host defines, each with an implementation of its own or none."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deferred_tools.errors import ConfigurationError
from deferred_tools.settings import Contract
from deferred_tools.sources.base import Tool, ToolResult
from deferred_tools.sources.functions import as_tool
from deferred_tools.spec import Tier, ToolSpec

CONTRACTS = "contracts"
"""The namespace of contracts."""


@dataclass(frozen=True, slots=True)
class ContractTool:
    """A contract under its name, and what runs it: None until a server's tool is mapped to it."""

    name: str
    contract: Contract
    implementation: Tool | None = None

    @property
    def spec(self) -> ToolSpec:
        """What the contract says; what its implementation says of itself does not matter."""
        return ToolSpec(
            source=CONTRACTS,
            tool=self.name,
            title=self.contract.title,
            description=self.contract.description,
            input_schema=self.contract.input,
            output_schema=self.contract.output,
            tags=frozenset(self.contract.tags),
            aliases=self.contract.aliases,
            tier=Tier.CONTRACT,
        )

    async def call(self, arguments: dict[str, Any]) -> ToolResult:
        """Run the implementation once.

        Raises:
            ConfigurationError: There is none.
        """
        if self.implementation is None:
            raise ConfigurationError(f"nothing implements the contract {self.name!r}")
        return await self.implementation.call(arguments)


def contract_tools(
    contracts: Mapping[str, Contract], made: Mapping[str, Tool]
) -> tuple[list[ContractTool], dict[str, str]]:
    """The tools of `contracts`, and by name what is wrong with those that cannot be made.

    One of `made` is taken over where its contract is still the same.
    """
    tools = []
    problems: dict[str, str] = {}
    for name, contract in contracts.items():
        known = made.get(name)
        if isinstance(known, ContractTool) and known.contract == contract:
            tools.append(known)
            continue
        implementation = None
        try:
            if contract.implementation is not None:
                implementation = as_tool(contract.implementation, CONTRACTS)
        except ConfigurationError as error:
            problems[name] = str(error)
        tools.append(ContractTool(name, contract, implementation))
    return tools, problems
