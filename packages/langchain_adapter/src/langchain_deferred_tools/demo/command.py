"""The command `deferred-tools demo`: prepare a scene, start its sources, run an agent on it."""

import os
import tempfile
from contextlib import closing
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.live import Live

from deferred_tools.errors import ConfigurationError, HostError
from deferred_tools.policy import Caller
from deferred_tools.toolset import Toolset
from langchain_deferred_tools.demo import environment, show
from langchain_deferred_tools.demo.agent import (
    Watch,
    all_schemas_tokens,
    run,
    shortcomings,
    surface_tokens,
)
from langchain_deferred_tools.demo.corpus import corpus_scene
from langchain_deferred_tools.demo.models import Choice, choose
from langchain_deferred_tools.demo.scene import Scene
from langchain_deferred_tools.demo.script import ScriptedModel
from langchain_deferred_tools.demo.servers import OTHERS, servers_scene
from langchain_deferred_tools.demo.starting import Starting
from langchain_deferred_tools.search_tool import SearchTool


class Tools(StrEnum):
    """What the agent has to work with."""

    SERVERS = "servers"
    CORPUS = "corpus"


def demo(
    tools: Annotated[
        Tools,
        typer.Option(
            help="Real MCP servers and functions, or 5,549 definitions of real tools "
            "(searched and bound for real; calls are refused)."
        ),
    ] = Tools.SERVERS,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="PROVIDER:MODEL",
            help="For example anthropic:claude-sonnet-4-5, or `scripted`. "
            "Default: by the API key in the environment, else scripted.",
        ),
    ] = None,
    question: Annotated[
        str | None, typer.Option(help="What to ask; needs a model that is not scripted.")
    ] = None,
    plain: Annotated[
        bool, typer.Option("--plain", help="Stable text: no colours, no animation, 100 columns.")
    ] = False,
) -> None:
    """See an agent search for tools, get them bound and call them, step by step."""
    choice = choose(model, os.environ)
    if question and choice.model is None:
        raise ConfigurationError(
            "the scripted model knows only its own question: set an API key or give `--model` to "
            "ask another"
        )
    console = show.console(plain=plain)
    prefix = "deferred-tools-demo-"
    with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as folder:
        show.notice(console, choice.notice)
        if tools is Tools.CORPUS:
            scene = corpus_scene(os.environ)
        else:
            scene = servers_scene(Path(folder), _interpreter_of_others(console))
        for note in scene.notes:
            show.notice(console, note)
        _play(console, scene, choice, question)


def _interpreter_of_others(console: Console) -> Path | None:
    """The environment for servers that cannot share ours; None, and said, if there is none."""
    cache = environment.cache_folder(os.environ)
    if python := environment.existing(cache, OTHERS):
        return python
    names = " and ".join(OTHERS)
    try:
        with console.status(f"Only this once: installing {names} in an environment of their own"):
            return environment.make(cache, OTHERS)
    except HostError as error:
        show.notice(console, f"Left out: {names}, as they could not be installed: {error}")
        return None


def _play(console: Console, scene: Scene, choice: Choice, question: str | None) -> None:
    """Start the sources, show what there is, and run the agent.

    Raises:
        HostError: The demo did not show what it is there to show.
    """
    starting = Starting(source.name for source in scene.sources)
    with closing(Toolset.from_sources(scene.sources, plugins=[starting])) as toolset:
        with Live(starting, console=console, transient=True):
            toolset.open()
        everything = all_schemas_tokens(toolset)
        show.sources(console, toolset.registry)
        block = toolset.prompt(Caller.root())
        show.block(console, block)
        show.costs(
            console,
            tools=len(toolset.registry),
            everything=everything,
            block_alone=surface_tokens(block, ()),
            deferred=surface_tokens(block, [SearchTool()]),
        )

        show.asked(console, question or scene.question)
        watch, messages = Watch(), []
        model = choice.model or ScriptedModel(steps=scene.steps)
        for message in run(toolset, model, question or scene.question, watch):
            messages.append(message)
            show.message(console, message, watch.surfaces[-1])
        show.surfaces(console, everything, watch.surfaces)
    expected = scene.steps if choice.model is None else ()
    if problems := shortcomings(expected, messages):
        raise HostError(f"The demo did not work: {'; '.join(problems)}.")
