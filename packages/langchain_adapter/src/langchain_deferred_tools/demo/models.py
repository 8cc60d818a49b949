"""Which model plays: the one that was asked for, one that a key is there for, or the script."""

from collections.abc import Mapping
from dataclasses import dataclass

from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel

from deferred_tools.errors import ConfigurationError
from deferred_tools.spec import one_line

SCRIPTED = "scripted"
"""What to ask for to have the script in spite of a key."""
_BY_KEY = {
    "ANTHROPIC_API_KEY": "anthropic:claude-sonnet-4-5",
    "OPENAI_API_KEY": "openai:gpt-5-mini",
    "GOOGLE_API_KEY": "google_genai:gemini-flash-latest",
    "MISTRAL_API_KEY": "mistralai:mistral-medium-latest",
}
_SCRIPT_PLAYS = "a scripted model plays the model's part; searching, binding and calls are real."


@dataclass(frozen=True, slots=True)
class Choice:
    """A chat model, or None for the script, and what to say of it."""

    model: BaseChatModel | None
    notice: str


def choose(asked: str | None, environ: Mapping[str, str]) -> Choice:
    """The model to use.

    Raises:
        ConfigurationError: The model that was asked for cannot be used.
    """
    if asked == SCRIPTED:
        return Choice(None, f"As you asked, {_SCRIPT_PLAYS}")
    if asked:
        return Choice(_init(asked), f"The model is {asked}.")
    for key, default in _BY_KEY.items():
        if environ.get(key):
            try:
                return Choice(_init(default), f"{key} is set: the model is {default}.")
            except ConfigurationError as error:
                return Choice(None, f"{key} is set, but {error}. Until then, {_SCRIPT_PLAYS}")
    return Choice(None, f"No API key found ({', '.join(_BY_KEY)}): {_SCRIPT_PLAYS}")


def _init(name: str) -> BaseChatModel:
    try:
        model: BaseChatModel = init_chat_model(name)
    except Exception as error:  # each provider's package has its own
        told = one_line(str(error), 300).rstrip(".")
        raise ConfigurationError(f"the model {name!r} cannot be used: {told}") from error
    return model
