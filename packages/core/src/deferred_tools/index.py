"""Placeholder until the retrievers land."""


class ToolIndex:
    """Placeholder."""
