"""Makes the small static model of the package, `retrievers/data/meaning.gz`.

    python tools/fit_meaning.py                      fit to everything, and write the file
    python tools/fit_meaning.py --evaluate           say what it is worth on sets it has not seen
    python tools/fit_meaning.py --leave-out SET ...  the same for these sets alone

How, and with what result: `data/README.md` beside the file. Needs scipy and the extra
`embeddings`, and the shared folder, found by DEFERRED_TOOLS_SHARED or beside the repository. The
sentence model reads 67,000 texts, which takes ten minutes of one processor; the `--cache` keeps
its vectors, and the rest takes half a minute for each fit. The same inputs give the same bytes
with OPENBLAS_NUM_THREADS=1.
"""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from unittest.mock import patch

from meaning_fit import Student, fit, texts, words_by_stem
from meaning_lessons import SETS, Lesson, Material
from platformdirs import user_cache_path

from deferred_tools.evaluation.data import sample
from deferred_tools.evaluation.run import evaluate
from deferred_tools.retrievers import bm25
from deferred_tools.retrievers.embedder import Vector
from deferred_tools.retrievers.minilm import IDENTITY, MiniLM
from deferred_tools.retrievers.text import Analyser
from deferred_tools.retrievers.vector_cache import VectorCache
from deferred_tools.retrievers.vectors import Vectors

ROOT = Path(__file__).parents[1]
FILE = ROOT / "packages/core/src/deferred_tools/retrievers/data/meaning.gz"
MOST = 250
"""Queries of a set that are measured."""


def main() -> None:
    """Fit, and write or measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--evaluate", action="store_true", help="measure all, write nothing")
    parser.add_argument("--leave-out", nargs="+", choices=SETS, default=(), help="measure these")
    cache = user_cache_path("deferred-tools", appauthor=False) / "fit-meaning"
    parser.add_argument("--cache", type=Path, default=cache, help="a folder for vectors of texts")
    parser.add_argument("--to", type=Path, default=FILE, help="the file to write")
    options = parser.parse_args()
    folder = Path(os.environ.get("DEFERRED_TOOLS_SHARED", ROOT.parent / "shared"))
    if not all((folder / part).is_dir() for part in ("data", "corpus")):
        parser.exit(1, "No shared data: set DEFERRED_TOOLS_SHARED to the folder that holds it.\n")
    material, analyser = Material.read(folder), Analyser()
    lessons = material.lessons(analyser)
    vectors = _vectors(texts(lessons, words_by_stem(lessons, analyser)), options.cache)
    if options.evaluate or options.leave_out:
        _measure(material, options.leave_out or SETS, analyser, vectors)
    else:
        student = _student(lessons, analyser, vectors)
        options.to.write_bytes(student.packed())
        _say(f"{len(student.stems)} stems, {options.to.stat().st_size} bytes: {options.to}")


def _vectors(of: Sequence[str], cache: Path) -> dict[str, Vector]:
    """The sentence model's; asked for all at once, because a batch shows in the last digits."""

    def tell(done: int, total: int) -> None:
        end = "\n" if done == total else ""
        sys.stderr.write(f"\r{done} of {total} texts are embedded{end}")

    model = Vectors(MiniLM(), model=IDENTITY, cache=VectorCache(cache), progress=tell)
    return dict(zip(of, model.documents(of), strict=True))


def _student(
    lessons: Sequence[Lesson], analyser: Analyser, vectors: Mapping[str, Vector]
) -> Student:
    return fit(lessons, words_by_stem(lessons, analyser), vectors)


def _measure(
    material: Material, names: Sequence[str], analyser: Analyser, vectors: Mapping[str, Vector]
) -> None:
    """Print nDCG@10 of the default retriever, by its words alone and with a student of the rest."""
    _say(f"{'set':14}{'words':>8}{'student':>9}")
    gained: list[tuple[float, float]] = []
    for name in names:
        lessons = material.without(name).lessons(analyser)
        student = _student(lessons, analyser, vectors)
        tools, queries = material.tools[name], sample(material.queries[name], MOST)
        words = evaluate("words", bm25.BM25Retriever(meaning=False), tools, queries)
        with patch.object(bm25, "read_meaning", student.meaning):
            both = evaluate("student", bm25.BM25Retriever(), tools, queries)
        gained.append((100 * words.scores.ndcg_10, 100 * both.scores.ndcg_10))
        _say(f"{name:14}{gained[-1][0]:8.2f}{gained[-1][1]:9.2f}")
    means = [fmean(column) for column in zip(*gained, strict=True)]
    _say(f"{'mean':14}{means[0]:8.2f}{means[1]:9.2f}")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
