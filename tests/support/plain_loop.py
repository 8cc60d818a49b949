"""Goes on with the session that standard input brings, in a process with langchain-core alone."""

import json
import sys

from langchain_core.messages import HumanMessage

from deferred_tools import Session, Toolset
from langchain_deferred_tools import Conversation
from tests.support.scripted_model import ScriptedModel, call, says


def get_weather(city: str) -> str:
    """Weather forecast for a city."""
    return f"sunny in {city}"


def main() -> None:
    """Ask for the weather once."""
    session = Session.model_validate_json(sys.stdin.read())
    model = ScriptedModel(script=[says(call("get_weather", city="Oslo"))])
    with Toolset.from_sources([get_weather]) as toolset:
        chat = Conversation(toolset, session=session)
        ai = model.bind_tools(chat.bound()).invoke(chat.prompt([HumanMessage("go")]))
        [answer] = chat.run(ai)
    report = {
        "bound": model.turns[0].tools,
        "answer": answer.text,
        "session": chat.session.model_dump_json(),
        "frameworks": sorted({"langchain", "langgraph"} & sys.modules.keys()),
    }
    sys.stdout.write(json.dumps(report))


if __name__ == "__main__":
    main()
