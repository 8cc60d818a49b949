"""The error of mappings."""


class MappingError(ValueError):
    """An expression that cannot be compiled, or not evaluated over what came."""
