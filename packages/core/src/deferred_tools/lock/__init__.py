"""`tools.lock`: what servers said of their tools when somebody last looked at it."""

from deferred_tools.lock.tools_lock import ToolsLock

__all__ = ["ToolsLock"]
