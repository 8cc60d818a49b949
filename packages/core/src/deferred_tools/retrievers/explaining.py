"""How the default retriever came to a score, worked out anew for who wants to know."""

from collections.abc import Sequence

from deferred_tools.retrievers.explanation import Explanation, Term
from deferred_tools.retrievers.indexed import Indexed
from deferred_tools.retrievers.lexicon import Asked
from deferred_tools.retrievers.ranking import rank
from deferred_tools.retrievers.request import Phrase, Request
from deferred_tools.retrievers.synonyms import LONGEST
from deferred_tools.retrievers.tool_terms import ToolTerms


def explain(index: Indexed, query: str, names: Sequence[str]) -> list[Explanation]:
    """An explanation for each of `names`; the lock of `index` is held."""
    known = [index.numbers[name] for name in names if name in index.numbers]
    ranking = rank(index, query, most=1, within=None, also=known)
    request = Request.of(query, index.analyser).whole
    asked, said = index.lexicon.ask(request), _said(index, request)
    explanations: list[Explanation] = []
    for name in names:
        number = index.numbers.get(name)
        if number is None:
            explanations.append(Explanation(name=name, score=0.0))
            continue
        at = ranking.numbers.index(number)
        parts = {
            "words": ranking.words[at],
            "parts of the request": ranking.clauses[at],
            "meaning": ranking.meaning[at],
            "named": ranking.named[at],
        }
        explanation = Explanation(
            name=name,
            score=ranking.scores()[at],
            parts=tuple((label, value) for label, value in parts.items() if value),
            terms=_terms(index, number, asked, said),
        )
        explanations.append(explanation)
    return explanations


def _said(index: Indexed, request: Phrase) -> dict[str, str]:
    """The words of the request that each term stands for: as few as do."""
    said: dict[str, str] = {}
    words = request.words
    for length in range(1, LONGEST + 1):
        for start in range(len(words) - length + 1):
            some = words[start : start + length]
            stems = tuple(map(index.analyser.stem, some))
            for term in index.lexicon.terms(Phrase(some, stems)):
                said.setdefault(term, " ".join(some))
    return said


def _terms(index: Indexed, number: int, asked: Asked, said: dict[str, str]) -> tuple[Term, ...]:
    """What each term of the request adds for one tool, the heaviest first."""
    held = ToolTerms.of(index.tools[number].spec, index.analyser)
    weights = held.weights()
    found = [
        Term(
            term,
            said.get(term, term),
            held.fields_of(term),
            asked.unit * factor * weights[term],
        )
        for term, factor in asked.terms.items()
        if term in weights
    ]
    return tuple(sorted(found, key=lambda term: -term.weight))
