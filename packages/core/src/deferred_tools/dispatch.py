"""Calls in one world: resolve, ask the host where it wants to be asked, run, tell observers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from deferred_tools import resolve as resolving
from deferred_tools.approval import ApprovalRequest, Approve, ask_nobody
from deferred_tools.call import CallContext, call
from deferred_tools.checking import check_arguments
from deferred_tools.errors import ApprovalNeededError, DeferredToolsError, UnknownToolError
from deferred_tools.limits import Limits
from deferred_tools.plugins import Plugins
from deferred_tools.policy import Caller
from deferred_tools.registered import RegisteredTool
from deferred_tools.registry import Registry
from deferred_tools.session import Session
from deferred_tools.sources.base import OnProgress, ToolResult
from deferred_tools.workflows import Step, WorkflowTool


@dataclass(frozen=True, slots=True)
class Admitted:
    """A call that may run."""

    entry: RegisteredTool
    arguments: dict[str, Any]
    """As the tool takes them."""
    notes: tuple[str, ...]
    """What was read from text or dropped for that."""
    session: Session
    """The conversation, with what the host approved meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatch:
    """Calls over one state of the registry."""

    registry: Registry
    plugins: Plugins
    limits: Limits

    def resolve(
        self, session: Session, name: str, approve: Approve = ask_nobody
    ) -> tuple[RegisteredTool, Session]:
        """The enabled tool that `session` may call as `name`, and the session then.

        Raises:
            ModelError: There is none, or it may not be called now.
        """
        try:
            return self._resolved(session, name, approve)
        except DeferredToolsError as error:
            self._refused(session.caller, name, error)
            raise

    def check(
        self,
        session: Session,
        name: str,
        arguments: Any,
        *,
        strict: Callable[[RegisteredTool], bool],
        approve: Approve = ask_nobody,
    ) -> Admitted:
        """See whether a call may run. Arguments must fit where `strict` says so of the tool.

        Raises:
            ModelError: It may not; the message tells the model what to do instead.
        """
        entry, after = self.resolve(session, name, approve)
        try:
            fitted = check_arguments(
                entry,
                arguments,
                coerce=self.registry.settings.coerce,
                strict=strict(entry),
            )
        except DeferredToolsError as error:
            self._refused(session.caller, entry.spec.name, error)
            raise
        return Admitted(entry, fitted.value, fitted.notes, after)

    async def call(
        self,
        session: Session,
        name: str,
        arguments: Any,
        run: str,
        progress: OnProgress | None = None,
    ) -> ToolResult:
        """Resolve and call a tool, once; `progress` hears how far it is.

        Raises:
            ModelError: It was not run; the message tells the model what to do instead.
            HostError: It could not be reached or did not answer in time.
        """
        entry, _ = self.resolve(session, name)
        return await self._run(entry, arguments, session.caller, run, progress)

    def _resolved(
        self, session: Session, name: str, approve: Approve
    ) -> tuple[RegisteredTool, Session]:
        limit = self.limits.enabled_tools
        try:
            entry = resolving.resolve(name, registry=self.registry, session=session, limit=limit)
        except ApprovalNeededError as error:
            spec = self.registry.tools[error.name].spec
            if spec.name not in set(approve([ApprovalRequest(spec, error.reason)])):
                raise
            approved = session.approve([spec])
            # From the start: much may have changed while the host thought about it.
            return self._resolved(approved, name, ask_nobody)
        return entry, session

    async def _run(
        self,
        entry: RegisteredTool,
        arguments: Any,
        caller: Caller,
        run: str,
        progress: OnProgress | None = None,
    ) -> ToolResult:
        context = CallContext(
            ctx=self._ctx(caller, run), step=self._steps(entry, run), progress=progress
        )
        name = entry.spec.name
        try:
            result = await call(
                entry,
                arguments,
                context=context,
                limits=self.limits,
                coerce=self.registry.settings.coerce,
            )
        except DeferredToolsError as error:
            self._refused(caller, name, error)
            raise
        self.plugins.tell("deferred_tools_called", caller=caller, name=name, result=result)
        return result

    def _steps(self, entry: RegisteredTool, run: str) -> Step:
        """What the workflow `entry` calls its tools with; nothing else needs it."""

        async def step(name: str, arguments: dict[str, Any]) -> ToolResult:
            uses = entry.tool.workflow.uses if isinstance(entry.tool, WorkflowTool) else ()
            caller = Caller.workflow(entry.spec.name)
            used = self.registry.get(name)
            if name not in uses or used is None or not self.registry.gate.allows(caller, used.spec):
                error = UnknownToolError(name)
                self._refused(caller, name, error)
                raise error
            return await self._run(used, arguments, caller, run)

        return step

    def _ctx(self, caller: Caller, run: str) -> Mapping[str, Any]:
        told = {
            "kind": caller.kind.value,
            "name": caller.name,
            "roles": list(caller.roles),
            "agent": caller.agent,
        }
        return {"instance": self.registry.settings.instance, "run": run, "caller": told}

    def _refused(self, caller: Caller, name: str, error: Exception) -> None:
        self.plugins.tell("deferred_tools_refused", caller=caller, name=name, error=error)
