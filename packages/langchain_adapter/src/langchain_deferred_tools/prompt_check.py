"""Sees that the level-1 block reaches the model, whatever middleware stands in between."""

from typing import Any
from uuid import UUID

from deferred_tools.errors import ConfigurationError
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs


class PromptCheck(BaseCallbackHandler):
    """Listens to the models that run within one model call of an agent."""

    run_inline = True

    def __init__(self, block: str) -> None:
        self._block = block
        self._started = False
        self._arrived = not block

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        **_: Any,
    ) -> None:
        """Note whether the block is in this model's system message."""
        self._started = True
        for first in (batch[0] for batch in messages if batch):
            self._arrived = self._arrived or self._block in first.text

    def config(self, config: RunnableConfig) -> RunnableConfig:
        """`config` with this listener."""
        return merge_configs(config, {"callbacks": [self]})

    def verify(self) -> None:
        """Call after the model has run.

        Raises:
            ConfigurationError: Models ran, and none of them was given the block.
        """
        if self._started and not self._arrived:
            raise ConfigurationError(
                "the list of deferred tools did not reach the model: another middleware replaced "
                "the system prompt. List it (for example `dynamic_prompt`) before "
                "DeferredToolsMiddleware in create_agent(middleware=[...])"
            )
