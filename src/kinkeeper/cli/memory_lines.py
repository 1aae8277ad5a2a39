"""Lines of files about memory: episodes, facts and queries. Pure."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from kinkeeper.brain.evidence_search import Kind, check_kinds
from kinkeeper.cli.chat_files import BadLine
from kinkeeper.cli.import_audience import Audiences
from kinkeeper.core.errors import InputError
from kinkeeper.core.time import instant_told, latest_told
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE
from kinkeeper.memory.ingest import ImportedFact
from kinkeeper.memory.model import Category, Episode, Origin
from kinkeeper.memory.statements.classification import classify
from kinkeeper.messaging.message_json import parse_record

T = TypeVar("T")

_SOURCE = "import"
_MOST_HITS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A line of a file of queries.

    Attributes:
        text: What to look for.
        scopes: What is searched beside the household's, if anything.
        limit: Most hits.
        kinds: What may be found.
        as_of: As of when, aware; None where it is asked what holds now.
    """

    id: Any
    text: str
    scopes: frozenset[str]
    limit: int
    kinds: tuple[Kind, ...]
    as_of: datetime | None


def read_lines(
    lines: Iterable[bytes], read: Callable[[Mapping[str, Any]], T]
) -> Iterator[T | BadLine]:
    """Yield what each line says, in their order; blank lines are left out.

    Args:
        lines: Of a file of JSON objects.
    """
    for number, raw in enumerate(lines, start=1):
        line = raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw
        if not line.strip():
            continue
        try:
            yield read(parse_record(line))
        except InputError as error:
            yield BadLine(number=number, error=str(error))


def episode_of(
    record: Mapping[str, Any],
    *,
    household: str,
    zone: ZoneInfo,
    audiences: Audiences | None = None,
) -> Episode:
    """Return the episode of a record; where it does not say who may see it, its words tell.

    Args:
        record: Of a line.
        zone: Of a time without an offset.
        audiences: Reads its words; None where no member is known, and all is the household's.

    Raises:
        InputError: A field is missing or of the wrong type.
    """
    scope = _optional(record, "scope")
    said = Episode(
        household=household, id=_text(record, "id"), text=_text(record, "text"),
        speaker=_optional(record, "member") or _optional(record, "speaker"), session=_optional(record, "session"),
        scope=scope or HOUSEHOLD_SCOPE, said_at=instant_told(_text(record, "at"), zone),
        origin=Origin.IMPORTED, source=_SOURCE, channel=_SOURCE,
    )  # fmt: skip
    return said if audiences is None else audiences.of_episode(said, is_open=not scope)


def fact_of(
    record: Mapping[str, Any], *, zone: ZoneInfo, audiences: Audiences | None = None
) -> ImportedFact:
    """Return the fact of a record; where it names no category, or not who may see it, its words tell.

    Args:
        record: Of a line.
        zone: Of a time without an offset.
        audiences: Reads its words; None where no member is known, and all is the household's.

    Raises:
        InputError: A field is missing, of the wrong type, or impossible.
    """
    text = _text(record, "text")
    told = classify(text)
    evidence = record.get("evidence", [])
    if not isinstance(evidence, list) or not all(isinstance(each, str) for each in evidence):
        raise InputError('"evidence" must be a list of episode ids')
    scope = _optional(record, "scope")
    fact = ImportedFact(
        id=_text(record, "id"), text=text, title=told.title, type=told.type,
        category=_category(record) or told.category, confidence=_share(record, "confidence"),
        at=instant_told(_text(record, "at"), zone), scope=scope or HOUSEHOLD_SCOPE, evidence=tuple(evidence),
    )  # fmt: skip
    return fact if scope or audiences is None else audiences.of_fact(fact)


def query_of(record: Mapping[str, Any], *, zone: ZoneInfo) -> Query:
    """Return the query of a record; as of a time it is one to memory alone unless it says otherwise.

    Args:
        record: Of a line.
        zone: Of a time without an offset.

    Raises:
        InputError: A field is missing, of the wrong type, or impossible.
    """
    limit = record.get("k", 10)
    if isinstance(limit, bool) or not isinstance(limit, int) or not 0 < limit <= _MOST_HITS:
        raise InputError(f'"k" must be a number from 1 to {_MOST_HITS}')
    told = _optional(record, "as_of")
    as_of = None if told is None else latest_told(told, zone)
    usual = [kind.value for kind in Kind if as_of is None or kind is not Kind.EVENT]
    types = record.get("types", usual)
    if not isinstance(types, list) or not all(each in [*Kind] for each in types):
        raise InputError(f'"types" must be a list of {", ".join(Kind)}')
    kinds = tuple(kind for kind in Kind if kind in types)
    check_kinds(kinds, as_of=as_of)
    scope = _optional(record, "scope")
    return Query(
        id=record.get("id"), text=_text(record, "query"), limit=limit,
        scopes=frozenset({HOUSEHOLD_SCOPE} | ({scope} if scope else set())),
        kinds=kinds, as_of=as_of,
    )  # fmt: skip


def _text(record: Mapping[str, Any], name: str) -> str:
    value = _optional(record, name)
    if value is None or not value.strip():
        raise InputError(f'"{name}" is missing or empty')
    return value


def _optional(record: Mapping[str, Any], name: str) -> str | None:
    value = record.get(name)
    if value is not None and not isinstance(value, str):
        raise InputError(f'"{name}" must be text')
    # Halves of a character can be neither stored nor written out again.
    return None if value is None else value.encode("utf-8", "replace").decode()


def _share(record: Mapping[str, Any], name: str) -> float | None:
    value = record.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InputError(f'"{name}" must be a number from 0 to 1')
    return float(value)


def _category(record: Mapping[str, Any]) -> Category | None:
    value = _optional(record, "category")
    if value is None:
        return None
    try:
        return Category(value)
    except ValueError as error:
        known = ", ".join(category.value for category in Category)
        raise InputError(f"unknown category {value!r}; choose one of {known}") from error
