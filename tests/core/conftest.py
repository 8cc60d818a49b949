"""How properties are tested here."""

from hypothesis import settings

# A busy machine must not fail a test; the run has a deadline of its own.
settings.register_profile("core", deadline=None, max_examples=60)
settings.load_profile("core")
