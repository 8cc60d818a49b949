"""A loop of your own over `bind_tools`: neither langchain nor langgraph is needed."""

import json
import sys

from langchain_core.messages import AnyMessage, HumanMessage

from deferred_tools import Session, Toolset
from examples.scripted import call, says, script
from langchain_deferred_tools import Conversation


def word_count(text: str) -> int:
    """Count the words of a text."""
    return len(text.split())


def main() -> None:
    """Run the story and check it."""
    model = script(
        says("", call("tool_search", query="count words")),
        says("", call("word_count", text="to be or not to be")),
        says("Six words."),
    )
    with Toolset.from_sources([word_count]) as toolset:
        chat = Conversation(toolset)
        messages: list[AnyMessage] = [HumanMessage("How many words has 'to be or not to be'?")]
        while True:
            answer = model.bind_tools(chat.bound()).invoke(chat.prompt(messages))
            messages.append(answer)
            if not answer.tool_calls:
                break
            messages += chat.run(answer)

    # The session is all there is to keep: JSON, to go on in another process.
    kept = json.loads(chat.session.model_dump_json())
    print("enabled:", [entry.name for entry in Session.model_validate(kept).ledger])
    print("answer:", messages[-1].text)
    assert messages[-2].text == "6"
    assert not {"langchain", "langgraph"} & sys.modules.keys()


if __name__ == "__main__":
    main()
