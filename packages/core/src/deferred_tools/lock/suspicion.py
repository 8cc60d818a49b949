r"""Signs that a server wrote a text to lead a model astray. Pure.

Signs, not proof: a text without any is not thereby safe, and one with some may be honest. They
are for somebody to look at before a tool is accepted. No pattern can take more than a few passes.
"""

import re
import unicodedata

HIDDEN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    r"\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    r"\ud800-\udfff\ue000-\uf8ff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U0010ffff]"
)
"""A character that shows as nothing, steers a terminal or turns the direction of text."""
# Some scripts need them between two letters, and pictures are put together with them.
_JOINED = re.compile(
    r"(?<=[^\x00-\x7f\u200b-\u200f\ufe00-\ufe0f])"
    r"(?:\ufe0f?[\u200c\u200d](?=[^\x00-\x7f\u200b-\u200f\ufe00-\ufe0f])|\ufe0f)"
    r"|(?<=[#*0-9])\ufe0f(?=\u20e3)"
)
_ENCODED = re.compile(r"[A-Za-z0-9+/_-]{160,}={0,2}")

_NEVER = r"(?:do not|don[' ]?t|never|must not|should not|without|avoid|refrain from)"
_TELL = (
    r"(?:tell|mention|inform|notify|reveal|disclose|alert|warn"
    r"|telling|mentioning|informing|notifying|revealing|disclosing|alerting|warning)"
)
_PRIVATE = (
    r"(?:private key|ssh key|id_rsa|id_ed25519|credentials? file|access tokens?|passwords?"
    r"|system prompt|environment variables|\.env\b|mcp\.json"
    r"|(?:conversation|chat|message) history|(?:previous|all) (?:user )?messages)"
)
_SIGNS = {
    "opens or closes a part of the prompt": re.compile(
        r"</ ?(?:available_tools|tools?|system|instructions?|important|assistant|user|human"
        r"|function_results?|tool_results?|context|prompt)\b"
        r"|< ?(?:available_tools|system|important|assistant)(?: [^<>]{0,80})?>"
        r"|<\|[a-z_]{2,30}\|>|\[/?inst\]|<</?sys>>"
    ),
    "tells to ignore instructions": re.compile(
        r"\b(?:ignore|disregard|forget|override|bypass)\b[^.!?]{0,30}"
        r"\b(?:previous|prior|above|earlier|preceding|system|other|all|your|safety)\b[^.!?]{0,20}"
        r"\b(?:instructions?|prompts?|rules|guidelines|directives?|messages)\b"
    ),
    "tells to hide something from the user": re.compile(
        rf"\b{_NEVER}\b[^.!?]{{0,30}}\b{_TELL}\b[^.!?]{{0,40}}\b(?:user|human|anyone)\b"
        rf"|\b{_NEVER} {_TELL} (?:this|that|it)\b"
        r"|\b(?:hide|conceal|keep)\b[^.!?]{0,40}\bfrom the (?:user|human)\b"
        r"|\b(?:secretly|covertly)\b"
        r"|\bsilently (?:send|call|invoke|read|include|pass|upload|add|run|execute|forward|copy)\b"
    ),
    "steers the use of other tools": re.compile(
        r"\b(?:before|after|when|whenever|instead of) (?:you |ever )?"
        r"(?:using|calling|invoking|use|call|invoke) (?:any|every|all|other|another)\b"
        r"[^.!?]{0,20}\btools?\b"
        r"|\b(?:must|always|need to|have to|should) (?:first |also |then )?"
        r"(?:(?:call|invoke|run) (?:the )?[`'\"][\w.-]+[`'\"]"
        r"|(?:call|invoke|use|run) [a-z0-9]+_\w+)"
    ),
    "is after secrets": re.compile(
        r"/\.(?:ssh|aws|gnupg|kube|docker|netrc|cursor|env)\b"
        r"|/etc/(?:passwd|shadow)\b|\bid_(?:rsa|ed25519)\b"
        r"|\b(?:read|open|cat|load|fetch|collect|gather|send|include|pass|attach|upload|append"
        rf"|copy|paste|leak|exfiltrate)\b[^.!?]{{0,40}}{_PRIVATE}"
    ),
}


def suspicions(text: str) -> tuple[str, ...]:
    """What is suspicious about a text, in words that hold nothing of it; mostly nothing."""
    read = _read(text)
    found = [sign for sign, pattern in _SIGNS.items() if pattern.search(read)]
    if HIDDEN.search(_JOINED.sub("", text)):
        found.append("holds characters that do not show")
    if _ENCODED.search(text):
        found.append("holds something encoded")
    return tuple(found)


def visible(text: str) -> str:
    """`text` with an escape in place of each character that does not show."""
    return HIDDEN.sub(lambda found: found.group().encode("unicode_escape").decode(), text)


def _read(text: str) -> str:
    """What a model reads in it: no tricks with look-alikes, hidden characters, lines or case."""
    return " ".join(unicodedata.normalize("NFKC", HIDDEN.sub("", text)).casefold().split())
