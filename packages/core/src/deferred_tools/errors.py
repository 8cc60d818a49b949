"""Every error that deferred-tools raises, split by who must act.

    DeferredToolsError
    ├── DeveloperError            the code or the configuration is wrong
    │   ├── ConfigurationError
    │   ├── RegistryBuildError
    │   └── PluginError
    ├── ModelError                the model can act on it; becomes a tool result
    │   ├── UnknownToolError
    │   ├── ToolNotEnabledError
    │   ├── ToolRefusedError
    │   │   └── ApprovalNeededError
    │   └── InvalidArgumentsError
    └── HostError                 the outside world failed; becomes a tool result too
        ├── SourceUnavailableError
        ├── MappingFailedError
        ├── StepFailedError
        └── ToolTimeoutError

Messages name both parties and the cure. This module imports nothing of ours.
"""

from collections.abc import Sequence


class DeferredToolsError(Exception):
    """Base of every error here."""


class DeveloperError(DeferredToolsError):
    """The code or the configuration is wrong: it should not start, or not go on."""


class ConfigurationError(DeveloperError):
    """A setting, a file or an argument that the developer gave cannot be used."""


class RegistryBuildError(DeveloperError):
    """The registry cannot be built; `problems` holds every finding, not only the first."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        listed = "\n".join(f"  - {problem}" for problem in self.problems)
        super().__init__(f"{len(self.problems)} problem(s) in the tool registry:\n{listed}")


class PluginError(DeveloperError):
    """A plugin could not be loaded, or one of its hooks failed."""


class ModelError(DeferredToolsError):
    """Something that the model can put right: adapters turn it into a tool result."""


class UnknownToolError(ModelError):
    """No such tool, or none that this caller may know of: the text is the same for both."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(
            f"There is no tool named {name!r} available to you. "
            "Call `tool_search` with what you need to do to find one that is."
        )


class ToolNotEnabledError(ModelError):
    """The tool exists and may be used, but was not enabled in this conversation."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(
            f"{name!r} is not enabled in this conversation, so it was not run. "
            f'Call `tool_search` with names=["{name}"], wait for its result, '
            f"then call {name!r} again in a later message."
        )


class ToolRefusedError(ModelError):
    """The tool is known to this caller and may not be run now; `reason` says why."""

    def __init__(self, name: str, reason: str) -> None:
        self.name = name
        self.reason = reason
        super().__init__(
            f"{name!r} was not run: {reason}. Do not call it again; go on without it, or tell the "
            "user."
        )


class ApprovalNeededError(ToolRefusedError):
    """The host can let it run here: `Session.approve`. Until then it is refused."""


class InvalidArgumentsError(ModelError):
    """The arguments do not fit the tool's input schema; the tool was not run."""

    def __init__(self, name: str, problems: Sequence[str]) -> None:
        self.name = name
        self.problems = tuple(problems)
        listed = "; ".join(self.problems)
        super().__init__(
            f"The arguments for {name!r} do not fit its schema, so it was not run: {listed}. "
            "Correct them and call it again."
        )


class HostError(DeferredToolsError):
    """The outside world failed: a server, the clock or a bound. Not the model's fault."""


class SourceUnavailableError(HostError):
    """The source of a tool cannot be reached at the moment."""

    def __init__(self, source: str, reason: str) -> None:
        self.source = source
        self.reason = reason
        super().__init__(f"The tool source {source!r} is unavailable: {reason}")


class MappingFailedError(HostError):
    """The host's mapping did not take these arguments; nothing was sent."""

    def __init__(self, name: str, problem: str) -> None:
        self.name = name
        self.problem = problem
        super().__init__(
            f"{name!r} was not run: its arguments could not be mapped to the tool that carries it "
            f"out: {problem}"
        )


class StepFailedError(HostError):
    """A step of a workflow could not be run; `__cause__` says why, which is the host's business."""

    def __init__(self, workflow: str) -> None:
        self.workflow = workflow
        super().__init__(
            f"{workflow!r} stopped, as one of its steps could not be run. What it did before may "
            "have had an effect; check before calling it again."
        )


class ToolTimeoutError(HostError):
    """A call did not end within its deadline. It may have had an effect all the same."""

    def __init__(self, name: str, seconds: float) -> None:
        self.name = name
        self.seconds = seconds
        super().__init__(
            f"{name!r} did not answer within {seconds:g} s. It may have had an effect; "
            "check before calling it again."
        )
