"""Whether a sentence of the chat tells something about a person that lasts. Pure.

Strict on purpose: what is overheard asks for somebody's attention, so all but plain sentences of few
kinds are left alone. They tell what somebody must not eat, what they are and always will be, what they
like best, who is who to them, and their birthday and sizes. Whoever it is about must be named or be the
speaker; "she" and "they" may be anybody.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

_KIN = (
    "mother mum mom father dad sister brother son daughter wife husband partner grandmother grandma granny gran "
    "nan grandfather grandpa grandad granddad aunt auntie uncle cousin niece nephew godmother godfather"
)  # fmt: skip
_AROUND = (
    f"{_KIN} teacher doctor gp pediatrician paediatrician dentist orthodontist therapist coach trainer tutor boss "
    "manager landlord landlady neighbour neighbor vet nanny babysitter childminder friend roommate flatmate"
)  # fmt: skip
_STATES = (
    "vegetarian", "vegan", "pescatarian", "coeliac", "celiac", "diabetic", "asthmatic", "epileptic",
    "dyslexic", "autistic", "deaf", "teetotal", "left-handed", "left handed", "colour-blind",
    "colour blind", "color-blind", "color blind", "short-sighted", "lactose intolerant",
    "gluten intolerant", "gluten free", "gluten-free",
)  # fmt: skip

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
        (rf"{person}\s+(?:can(?:no|['’])?t|can\s+not|must(?:n['’]?t|\s+not)|do(?:es)?n['’]?t|do(?:es)?\s+not|never)\s+"
        r"(?:eats?|drinks?|tolerates?)\s+.+"),
        rf"{person}{_IS}{_DEGREE}(?:an?\s+)?(?:{states})",
        rf"{whose}\s+(?:absolute\s+)?favou?rite\s+[\w\s-]+\s+(?:is|are)\s+.+",
        (rf"{other}\s+(?:absolutely\s+|really\s+)?(?:loves|hates|adores|detests|can['’]?t\s+stand)\s+"
        r"(?!(?:it|this|that|you|me|him|her|us|them|when|how|my|your|his)\b)[\w\s'’-]+"),
        (rf"{whose}\s+(?:new\s+|best\s+|class\s+|form\s+)?(?:{_either(_AROUND)})(?:\s+is|['’]s)\s+(?:called\s+|named\s+)?"
        r"(?-i:(?:(?:Mr|Mrs|Ms|Miss|Dr)\.?\s+)?[A-Z]\w+(?:\s+[A-Z]\w+)?)"),
        (rf"{whose}\s+birthday\s+is\s+(?:on\s+)?(?:the\s+)?(?:\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?(?:{_MONTHS})|"
        rf"(?:{_MONTHS})\s+(?:the\s+)?\d{{1,2}}(?:st|nd|rd|th)?)(?:\s+\d{{4}})?"),
        rf"{person}\s+(?:wears?|takes?)\s+(?:an?\s+)?(?:shoe\s+)?size\s+\w+(?:\s+(?:shoes|in\s+[\w\s]+))?",
    )  # fmt: skip
    return tuple(re.compile(frame, re.IGNORECASE) for frame in frames)


def _either(words: str) -> str:
    return "|".join(words.split())
