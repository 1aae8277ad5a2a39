"""Ways of asking that are no plain question: a statement with a tag, "I wonder if", "karate what time?". Pure."""

import re

from kinkeeper.conversation.planning.message import TIME_MARK

_TAG = re.compile(
    r"[\s,]+(?:(?:is|are|was|were|do|does|did|have|has|had|will|can|could|would|should)n['’]?t (?:it|we|he|she|they|i|you|there)"
    r"|(?:right|correct|yeah|yes|no|innit|eh|huh|am i right|or (?:what|not|no))"
    r"|(?<=,) ?(?:is|are|was|were|do|does|did|have|has|will|can) (?:it|we|he|she|they|i|you|there))\s*$",
    re.IGNORECASE,
)
_ASKS_WHETHER = re.compile(
    r"^(?:(?:please )?(?:i (?:wonder|wondered|was wondering|am wondering|would like to know|want to know|need to know)|i'm wondering"
    r"|(?:(?:do|would|might|can|could) you )?(?:happen to )?know|(?:have you )?any idea|no idea|not sure|(?:just )?checking|double[- ]checking|tell me|let me know|check|find(?: out)?|see|remind me|(?:please )?confirm|make sure)"
    r"[\s,:]+(?:(?:about )?(?P<whether>if|whether|that)\s+(?=\S)|(?=(?:who|whose|when|where|what|which|how)(?:'s)?\b)))",
    re.IGNORECASE,
)
_ALL_OF = re.compile(
    r"^(?:please )?(?:list|show(?: me)?|tell me|give me|read(?: me)?(?: out)?|name)\s+(?:everything|all(?: the (?:things|events))?|anything|what)(?: that)?\s+(?!you\b)(?=\S)",
    re.IGNORECASE,
)
_OF_A_TIME = re.compile(
    rf"^(?:tell me(?: more)? about|talk me through|run me through|take me through|brief me on)\s+(?:the\s+)?(?={TIME_MARK}$)",
    re.IGNORECASE,
)
_ASKS_LAST = re.compile(
    r"^(?P<what>(?!(?:until|till|since|from|at|by|on|in|for)\s)\S+(?:\s+\S+){0,4}?)[\s,:-]+(?P<wh>what time|when|where|how long|until when|till when|which day|what day|who with|who)$",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"^(?:who|whose|what|which|when|where|how|is|are|do|does|did|can|could|will)\b", re.IGNORECASE
)
_SHORTENED = (
    (re.compile(r"^(\w+)'re\b", re.IGNORECASE), r"\1 are"), (re.compile(r"^(i)'m\b", re.IGNORECASE), r"\1 am"),
    (re.compile(r"^(\w+)'ve\b", re.IGNORECASE), r"\1 have"), (re.compile(r"^(\w+)'ll\b", re.IGNORECASE), r"\1 will"),
    (re.compile(r"^((?:it|he|she|there|that|everyone|everybody|\w+))'s(?= (?:not|still|on|off|at|in|free|busy|away|home|here|going|coming|playing|doing|\w+ing)\b)", re.IGNORECASE), r"\1 is"),
)  # fmt: skip
_AUXILIARY = re.compile(
    r"^(?P<who>(?!(?:to|and|that|which|who)\b)\S+(?: (?!(?:to|and|that|which|who)\b)\S+){0,3}?) (?P<verb>is|are|am|was|were|will|can|could|has|have|had|does|do|did|must|should|would)\b(?P<rest>.*)$",
    re.IGNORECASE,
)


def plainly_asked(clause: str) -> tuple[str, bool]:
    """Return a clause as a plain question, and whether it was put as one in another way.

    Args:
        clause: With marks, without politeness.
    """
    plain, asks = _ASKS_WHETHER.subn("", clause)
    is_indirect = asks > 0 and _ASKS.match(plain) is None
    plain, listed = _ALL_OF.subn("what ", _OF_A_TIME.sub("what's on ", plain))
    untagged = _TAG.sub("", plain)
    is_tagged = untagged != plain and len(untagged.split()) > 1 and _ASKS.match(untagged) is None
    if is_tagged or is_indirect:
        return _inverted(untagged if is_tagged else plain), True
    last = _ASKS_LAST.match(plain)
    if last is not None and _ASKS.match(plain) is None:
        return f"{last['wh']} {last['what']}", True
    return plain, listed > 0 or asks > 0


def _inverted(statement: str) -> str:
    """Return a statement with its verb before whom it is about: "we're free on Sunday" as "are we free on Sunday"."""
    for pattern, long in _SHORTENED:
        statement = pattern.sub(long, statement, count=1)
    found = _AUXILIARY.match(statement)
    if found is None:
        return f"does {statement}"
    return f"{found['verb']} {found['who']}{found['rest']}"
