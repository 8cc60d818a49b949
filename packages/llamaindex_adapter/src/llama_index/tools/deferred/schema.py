"""What a model of LlamaIndex's is told of a tool: its JSON Schema, whole.

LlamaIndex rebuilds schemas as pydantic models and keeps five of their keys, which loses bounds,
alternatives and much else. Here nothing is built: the schema is handed on.
"""

from collections.abc import Mapping
from typing import Any

from llama_index.core.tools import ToolMetadata
from pydantic import BaseModel, ConfigDict


def metadata_of(
    *, name: str, description: str, parameters: Mapping[str, Any], return_direct: bool = False
) -> ToolMetadata:
    """What the model is told of a tool.

    Args:
        name: The model-facing name; it goes out as it is.
        description: Of any length: APIs that bound it are rare, and refuse what is too long.
        parameters: JSON Schema of the arguments, an object's; nothing in it is resolved, and each
            reader gets a copy, as LlamaIndex's models write into what they are given.
        return_direct: Whether the answer ends the agent's run.
    """
    return _JsonMetadata(name, description, parameters, return_direct)


class _JsonMetadata(ToolMetadata):
    """The schema as it came, wherever LlamaIndex looks for it."""

    def __init__(
        self, name: str, description: str, parameters: Mapping[str, Any], return_direct: bool
    ) -> None:
        self._parameters = parameters
        self._model: type[BaseModel] | None = None
        super().__init__(description, name, None, return_direct)

    @property
    def fn_schema(self) -> type[BaseModel] | None:
        """A model that takes any object and says that it is the schema."""
        # Made when asked for, which few models do: pydantic takes 0.3 ms for a class.
        if self._model is None:
            self._model = _model_of(self.get_name(), self._parameters)
        return self._model

    @fn_schema.setter
    def fn_schema(self, model: type[BaseModel] | None) -> None:
        self._model = model

    def get_parameters_dict(self) -> dict[str, Any]:
        """The schema, as a copy."""
        return _copied(self._parameters)

    def to_openai_tool(self, skip_length_check: bool = False) -> dict[str, Any]:
        """The tool in OpenAI's form, however long its description is."""
        return super().to_openai_tool(skip_length_check=True)


def _model_of(name: str, parameters: Mapping[str, Any]) -> type[BaseModel]:
    class Arguments(BaseModel):
        model_config = ConfigDict(extra="allow", title=name)

        @classmethod
        def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
            return _copied(parameters)

    return Arguments


def _copied(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _copied_value(value) for key, value in schema.items()}


def _copied_value(value: Any) -> Any:
    # JSON has no other containers; `copy.deepcopy` would take three times as long.
    if isinstance(value, dict):
        return {key: _copied_value(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_copied_value(one) for one in value]
    return value
