"""What a tool costs once it is enabled: every model call after that carries its definition."""

import json

from deferred_tools.prompt import estimate_tokens
from deferred_tools.spec import ToolSpec


def bound_tokens(spec: ToolSpec) -> int:
    """Estimated tokens of one tool as it is bound to a model."""
    bound = {"name": spec.name, "description": spec.description, "parameters": spec.parameters}
    return estimate_tokens(json.dumps(bound, ensure_ascii=False))
