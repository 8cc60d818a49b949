"""Sees that the level-1 block reaches the model, whatever middleware stands in between."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage
from langchain_core.runnables.config import merge_configs, var_child_runnable_config

from deferred_tools.errors import ConfigurationError


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

    def verify(self) -> None:
        """Call after the model has run.

        Raises:
            ConfigurationError: Models ran, and none of them was given the block.
        """
        if self._started and not self._arrived:
            raise ConfigurationError(
                "the list of deferred tools did not reach the model: another middleware replaced "
                "the system prompt. List that one (`dynamic_prompt`, for example) before "
                "DeferredToolsMiddleware in create_agent(middleware=[...])"
            )


@contextmanager
def prompt_check(block: str) -> Iterator[None]:
    """See that `block` reaches a model that runs within.

    Raises:
        ConfigurationError: Models ran, and none of them was given it.
    """
    check = PromptCheck(block)
    config = merge_configs(var_child_runnable_config.get(), {"callbacks": [check]})
    token = var_child_runnable_config.set(config)
    try:
        yield
    finally:
        var_child_runnable_config.reset(token)
    check.verify()
