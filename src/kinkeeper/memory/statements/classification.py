"""Which category a statement belongs to, what kind of sentence it is, and whether what it tells lasts."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from kinkeeper.language.sorting.sorter import Kind, Sorted, Sorter, load_cues, sorted_by_cues
from kinkeeper.language.text import shorten, strip_controls
from kinkeeper.memory.model import Category, StatementType
from kinkeeper.memory.statements.canonical_words import opened
from kinkeeper.memory.statements.clauses import Framing, unframed
from kinkeeper.memory.statements.statement_reader import read_statement
from kinkeeper.models.embedding.embedder import Embedder

_PACKAGE = "kinkeeper.memory.statements"
_LONGEST_TITLE = 80
_CUES = load_cues("category_cues", _PACKAGE)
_OF_READING = (
    *(f"slot_{category}" for category in Category),
    "of_another",
    "of_another_in_slot",
    "is_denied",
    "is_over",
    "no_slot",
)
_SHOWN_BY = {
    Category.TECHNICAL: "technical",
    Category.EMOTIONAL: "feels",
    Category.PREFERENCE: "likes",
}
# Anything may be somewhere, or at some time.
_TELL_NO_CATEGORY = frozenset(("place", "when"))
_EVENT = re.compile(
    r"\b(?:yesterday|last night|this morning|today|tonight|just|on (?:mon|tues|wednes|thurs|fri|satur|sun)day|last (?:week|month|weekend|\w+day)|"
    r"got (?:married|engaged|divorced)|was born|had a baby|died|passed away|celebrated|turned \w+|graduated|\w+ days? ago|won|broke (?:his|her|my|a)|"
    r"had (?:twins|a (?:boy|girl|baby)))\b"
)
_RULE = re.compile(
    r"^(?:no|never|always|nobody|only|at most)\b|\b(?:must(?:n't)?|has to|have to|are to|is to|needs? to|not allowed|allowed to|may (?:not|only)|"
    r"comes? (?:before|first)|off in the|stays? (?:in|out|off)|bedtime|curfew|rules?|forbid\w*|banned|gets? \w+ (?:until|without|unless)|before (?:breakfast|dinner|bed|stories)|pocket money)\b"
)
_PLAN = re.compile(
    r"\b(?:plan\w*|organi[sz]\w+|going to|preparing|putting together|getting ready|drafting|arranging|about to|booked|next (?:week|month|year)|this week)\b"
)
_NOTE = re.compile(
    r"\b(?:password|pin|passcode|code|number|key|keys|fuse box|spare|hangs|lies|is kept|are kept|address|combination|account|reference)\b.*\b(?:is|are|hangs|lies|kept)\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Classified:
    """What a statement is.

    Attributes:
        type: What kind of sentence it is.
        title: One line.
        confidence: The chance that the category is right, in [0, 1].
        chances: Of each category; they add up to 1.
        stage: What gave them: "cues" alone, or the model whose vector was read beside the cues.
    """

    category: Category
    type: StatementType
    title: str
    confidence: float
    chances: Mapping[Category, float]
    stage: str


def classify(text: str) -> Classified:
    """Return what a statement is, by rules alone."""
    return _classified(text, sorted_by_cues(KIND, text))


def classify_personal(text: str) -> Classified:
    """Return what a statement is to those who keep it: technical, a feeling or a taste only where its words show it.

    In doubt it tells of people as they are, since what is technical never gives way to news, and a feeling is
    forgotten after a while.
    """
    found = classify(text)
    unshown = _unshown(text)
    if found.category not in unshown:
        return found
    category = max(set(Category) - unshown, key=lambda each: (found.chances[each], each))
    return replace(
        found, category=category, type=_type_of(text, category), confidence=found.chances[category]
    )


def _unshown(text: str) -> frozenset[Category]:
    """Return the categories that need words of their own, of which a statement has none.

    What fills a slot of people is not technical, whatever its words ("our wifi password").
    """
    seen = _CUES.seen_in(text)
    slots = {reading.category for reading in read_statement(text)[:1]} - {""}
    unshown = {each for each, cue in _SHOWN_BY.items() if cue not in seen and each not in slots}
    return frozenset(unshown | ({Category.TECHNICAL} if slots - {Category.TECHNICAL} else set()))


class StatementClassifier:
    """Tells what statements are.

    Args:
        embedder: None judges by rules alone.
    """

    def __init__(self, embedder: Embedder | None) -> None:
        self._sorter = Sorter(KIND, embedder)

    async def classify(self, texts: Sequence[str]) -> list[Classified]:
        """Return what each statement is."""
        found = await self._sorter.sort(texts)
        return [_classified(text, each) for text, each in zip(texts, found, strict=True)]


def _cues_of(text: str) -> dict[str, float]:
    """Return the cues of a statement: patterns in it, and what was read in it."""
    cues = _CUES.seen_in(text)
    for reading in read_statement(text)[:1]:
        is_of_another = reading.subject != "me"
        if reading.category and reading.slot not in _TELL_NO_CATEGORY:
            cues[f"slot_{reading.category}"] = 1.0
            cues["of_another_in_slot"] = float(is_of_another)
        else:
            cues["no_slot"] = 1.0
        cues["of_another"] = float(is_of_another)
        cues["is_denied"] = float(reading.is_negative)
        cues["is_over"] = float(reading.is_retraction)
    return cues


KIND = Kind(
    name="category", package=_PACKAGE, cue_names=(*_CUES.names, *_OF_READING), cues_of=_cues_of
)


def _classified(text: str, found: Sorted) -> Classified:
    category = Category(found.best)
    return Classified(
        category=category,
        type=_type_of(text, category),
        title=title_of(text),
        confidence=found.chances[category],
        stage=found.stage,
        chances={each: found.chances[each] for each in Category},
    )


def _type_of(text: str, category: Category) -> StatementType:
    plain = opened(text)
    if category is Category.EMOTIONAL:
        return StatementType.FEELING
    if category is Category.GOAL:
        return StatementType.PLAN
    if category is Category.PREFERENCE:
        return StatementType.PREFERENCE
    if category is Category.CONSTRAINT:
        return StatementType.RULE if _RULE.search(plain) else StatementType.STATEMENT
    if category is Category.PROJECT_ACTIVE:
        return StatementType.PLAN if _PLAN.search(plain) else StatementType.STATEMENT
    if category in {Category.IDENTITY, Category.RELATIONSHIP} and _EVENT.search(plain):
        return StatementType.EVENT
    if category is Category.IDENTITY and _NOTE.search(plain):
        return StatementType.NOTE
    return StatementType.STATEMENT


def title_of(text: str) -> str:
    """Return a statement as one short line."""
    return shorten(told_plainly(text), _LONGEST_TITLE)


_TURNS = frozenset((Framing.HYPOTHETICAL, Framing.PAST, Framing.RETRACTION))
"""Without such a frame a statement says the opposite."""


def told_plainly(text: str) -> str:
    """Return a statement without what frames it and changes nothing of its sense, its first letter large."""
    plain = " ".join(strip_controls(text).split()).rstrip(" .!,;:")
    core, framings = unframed(plain.lower())
    is_turned = not _TURNS.isdisjoint(framings)
    if framings and not is_turned and len(core) < len(plain) and plain.lower().endswith(core):
        plain = plain[len(plain) - len(core) :]
    return plain[:1].upper() + plain[1:]


# Whether a sentence of the chat tells something about a person that lasts. Pure.
#
# Strict on purpose: what is overheard asks for somebody's attention, so all but plain sentences of
# few kinds are left alone. They tell what somebody must not eat, what they are and always will be,
# what they like best, who is who to them, and their birthday and sizes. Whoever it is about must be
# named or be the speaker; "she" and "they" may be anybody.

_KIN = (
    "mother mum mom father dad sister brother son daughter wife husband partner grandmother grandma granny gran "
    "nan grandfather grandpa grandad granddad aunt auntie uncle cousin niece nephew godmother godfather"
)
_AROUND = (
    f"{_KIN} teacher doctor gp pediatrician paediatrician dentist orthodontist therapist coach trainer tutor boss "
    "manager landlord landlady neighbour neighbor vet nanny babysitter childminder friend roommate flatmate"
)
_STATES = (
    "vegetarian",
    "vegan",
    "pescatarian",
    "coeliac",
    "celiac",
    "diabetic",
    "asthmatic",
    "epileptic",
    "dyslexic",
    "autistic",
    "deaf",
    "teetotal",
    "left-handed",
    "left handed",
    "colour-blind",
    "colour blind",
    "color-blind",
    "color blind",
    "short-sighted",
    "lactose intolerant",
    "gluten intolerant",
    "gluten free",
    "gluten-free",
)

_OPENING = re.compile(
    r"^(?:(?:btw|fyi|ps|p\.s\.|by the way|for the record|just so (?:you|everyone) knows?|just remember(?:ed)?|"
    r"reminder|remember|heads up|note|so|and|but|oh|also|actually|well)\b[\s,:–-]*(?:that\s+)?)+",
    re.IGNORECASE,
)
_PASSING = re.compile(
    r"[?]|\b(?:today|tonight|tomorrow|tmrw|yesterday|now|rn|atm|this (?:morning|afternoon|evening|week|weekend)|"
    r"last (?:night|week)|soon|later|again|if|unless|maybe|might|probably|think|guess|pretend\w*|joke|joking|jk|"
    r"kidding|lol|haha\w*)\b",
    re.IGNORECASE,
)
_LONGEST = 14
_DEGREE = r"(?:(?:also|still|really|very|so|badly|severely|quite|mildly|super|actually)\s+)*"
_IS = r"(?:\s+(?:am|is|are)|['’](?:m|s|re))\s+"
_MONTHS = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    "nov(?:ember)?|dec(?:ember)?"
)


def is_lasting(sentence: str, names: Iterable[str]) -> bool:
    """Return whether a sentence tells something that lasts about the speaker or somebody named.

    Args:
        sentence: As said, without the words around it.
        names: Names of the household's people.
    """
    told = _OPENING.sub("", sentence.strip()).rstrip(" .!")
    if _PASSING.search(sentence) or not told or len(told.split()) > _LONGEST:
        return False
    return any(frame.fullmatch(told) for frame in _frames(frozenset(names)))


@lru_cache(maxsize=64)
def _frames(names: frozenset[str]) -> tuple[re.Pattern[str], ...]:
    named = "|".join(sorted(map(re.escape, names), key=len, reverse=True)) or r"(?!)"
    kin = _either(_KIN)
    person = rf"(?:i|{named}|my\s+(?:{kin})(?:\s+[A-Z]\w+)?)"
    other = rf"(?:{named}|my\s+(?:{kin})(?:\s+[A-Z]\w+)?)"
    whose = rf"(?:my|(?:{named})['’]s?)"
    states = "|".join(map(re.escape, _STATES))
    frames = (
        rf"{person}{_IS}{_DEGREE}(?:allergic|intolerant)\s+to\s+.+",
        rf"{person}\s+(?:has|have)\s+(?:an?\s+)?{_DEGREE}[\w\s-]*(?:allergy|intolerance)(?:\s+to\s+.+)?",
        (
            rf"{person}\s+(?:can(?:no|['’])?t|can\s+not|must(?:n['’]?t|\s+not)|do(?:es)?n['’]?t|do(?:es)?\s+not|never)\s+"
            r"(?:eats?|drinks?|tolerates?)\s+.+"
        ),
        rf"{person}{_IS}{_DEGREE}(?:an?\s+)?(?:{states})",
        rf"{whose}\s+(?:absolute\s+)?favou?rite\s+[\w\s-]+\s+(?:is|are)\s+.+",
        (
            rf"{other}\s+(?:absolutely\s+|really\s+)?(?:loves|hates|adores|detests|can['’]?t\s+stand)\s+"
            r"(?!(?:it|this|that|you|me|him|her|us|them|when|how|my|your|his)\b)[\w\s'’-]+"
        ),
        (
            rf"{whose}\s+(?:new\s+|best\s+|class\s+|form\s+)?(?:{_either(_AROUND)})(?:\s+is|['’]s)\s+(?:called\s+|named\s+)?"
            r"(?-i:(?:(?:Mr|Mrs|Ms|Miss|Dr)\.?\s+)?[A-Z]\w+(?:\s+[A-Z]\w+)?)"
        ),
        (
            rf"{whose}\s+birthday\s+is\s+(?:on\s+)?(?:the\s+)?(?:\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?(?:{_MONTHS})|"
            rf"(?:{_MONTHS})\s+(?:the\s+)?\d{{1,2}}(?:st|nd|rd|th)?)(?:\s+\d{{4}})?"
        ),
        rf"{person}\s+(?:wears?|takes?)\s+(?:an?\s+)?(?:shoe\s+)?size\s+\w+(?:\s+(?:shoes|in\s+[\w\s]+))?",
    )
    return tuple(re.compile(frame, re.IGNORECASE) for frame in frames)


def _either(words: str) -> str:
    return "|".join(words.split())
