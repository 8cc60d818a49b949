"""Arguments that a model wrote as text, the schema that they are for, and what was meant."""

SCHEMA = {
    "type": "object",
    "properties": {
        "days": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "zip": {"type": "string"},
        "note": {"type": "string", "minLength": 1},
    },
    "required": ["days"],
    "additionalProperties": False,
}
WRITTEN = {"days": "3", "tags": '["a"]', "zip": "01234", "note": ""}
MEANT = {"days": 3, "tags": ["a"], "zip": "01234"}
