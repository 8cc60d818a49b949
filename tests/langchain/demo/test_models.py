"""Which model plays."""

import pytest

from deferred_tools.errors import ConfigurationError
from langchain_deferred_tools.demo.models import choose


def test_without_a_key_the_script_plays_and_it_is_said() -> None:
    choice = choose(None, {})
    assert choice.model is None
    assert choice.notice.startswith("No API key found")


def test_the_script_can_be_asked_for_in_spite_of_a_key() -> None:
    assert choose("scripted", {"OPENAI_API_KEY": "k"}).model is None


def test_a_key_without_its_package_says_what_to_install_and_keeps_the_key_to_itself() -> None:
    choice = choose(None, {"MISTRAL_API_KEY": "very-secret"})
    assert choice.model is None
    assert "langchain-mistralai" in choice.notice
    assert "very-secret" not in choice.notice


def test_a_model_that_was_asked_for_is_not_replaced_by_another() -> None:
    with pytest.raises(ConfigurationError, match="'nobody:nothing' cannot be used"):
        choose("nobody:nothing", {})
