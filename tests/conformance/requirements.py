"""What every adapter promises, as data: an id that never changes, and a sentence.

Each is proved by a test beside this file, which runs once with each adapter.
"""

from typing import NamedTuple

ADAPTERS = {
    "langchain": "tests.conformance.langchain_driver:LangChainDriver",
    "llamaindex": "tests.conformance.llamaindex_driver:LlamaIndexDriver",
}
"""Who drives each adapter."""


class Requirement(NamedTuple):
    """One promise."""

    id: str
    sentence: str


REQUIREMENTS = tuple(
    Requirement(*one)
    for one in (
        # --- finding and binding
        ("search-binds", "What a search finds is bound, schema whole, in the next model call."),
        ("gate-refuses", "What is not enabled does not run; the error says how to enable it."),
        ("same-step-refused", "A tool cannot be called in the message that searches for it."),
        ("parallel-merge", "Of searches side by side none loses what another has enabled."),
        ("binding-order", "Bound are own tools, tool_search, then the rest as first enabled."),
        ("byte-stable-block", "The level-1 block is the same bytes in every model call."),
        ("block-escaped", "No description can end the level-1 block or begin another tool's."),
        ("safe-names", "A tool is bound under a name that every provider takes, and called so."),
        ("search-read-leniently", "A search is read as it was meant, or told what is amiss."),
        ("budget", "Searches of one turn are bounded; the next turn may search again."),
        ("limit-evicts", "Beyond the limit the tool used longest ago is no longer enabled."),
        ("own-tools-kept", "The agent's own tools stay bound and run, whatever is enabled."),
        ("collision-refused", "A name that two tools claim is refused, and names the tool."),
        # --- calling
        ("validated-arguments", "What does not fit the schema is complained of, and never runs."),
        ("coerced-arguments", "What is clearly meant is put right, and runs."),
        ("is-error-kept", "A result that is an error stays one, with its text."),
        ("content-blocks", "Content blocks of a result reach the model as what they are."),
        ("structured-only", "A result of structured content alone is told as its JSON."),
        ("return-direct", "A tool that answers the user directly ends the turn."),
        ("source-away", "Of a server that is away search and call say so; the turn goes on."),
        # --- keeping
        ("second-turn", "What is enabled stays enabled in the next turn."),
        ("resume", "It survives being stored as text, and an agent made anew."),
        ("history-forgotten", "It survives the loss of all messages."),
        ("ledger-without-caller", "What is stored is JSON, and does not say who called."),
        ("ledger-garbage", "What is stored and cannot be read costs only what it enabled."),
        ("changed-tool-refused", "A tool that has changed must be searched for again."),
        ("removed-tool-dropped", "A tool that has gone is not bound, and a call is told so."),
        ("conversations-apart", "What one conversation enables no other one has."),
        # --- policy
        ("unknown-is-unseen", "Forbidden is told as unknown, letter for letter."),
        ("caller-unknown", "For a caller who cannot be told nothing exists."),
        ("other-hands", "A conversation has the reach of whose hands it is in."),
        ("revoke", "What is revoked is neither bound nor run, even once it is called."),
        ("no-self-enable", "No text of a user's or a tool's enables anything."),
        ("trifecta-refused", "The tool that completes the trifecta is not enabled, nor run."),
        ("trifecta-in-one-step", "Calls side by side know what all of them bring in."),
        ("approval", "The host lets through what it says, and nothing else."),
        ("approval-kept", "Nobody is asked twice about what was let through."),
        ("refusal-asked-anew", "What the host refused it is asked about if the model insists."),
        ("exposure-comes-up", "What an agent within a tool has read its asker is exposed to."),
        ("exposure-goes-down", "An agent within a tool is exposed to what its asker has read."),
        ("inherit", "An agent within a tool has what its host lets it inherit."),
        ("observed-once", "Plugins hear of each search, enabling, call and refusal once."),
    )
)
