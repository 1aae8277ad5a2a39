"""What people say of how they are called, and of what they want to stay with. Pure, and quick."""

import re

from kinkeeper.language.sentences import STOP_INSIDE, mask_stops

_LONGEST = 40
_PART = rf"[\w'{STOP_INSIDE}-]*"
_NAME = (
    rf"(?P<name>(?:(?:mrs?|ms|dr){STOP_INSIDE}? )?[^\W\d_]{_PART}(?: (?-i:[A-Z]){_PART}){{0,2}})"
)
_SAID = re.compile(
    r"(?:^|[.!?,;] *|\b(?:hi|hello|hey|and|by the way|btw|so|well|actually|no|please)[,!]? +)"
    r"(?:my (?:first |full |real )?name(?:'s|’s| is)(?: actually| now)? |(?:please |just |you can |you may |could you |can you )*call me "
    r"|i go by |i(?:'m| am|’m) (?:called|named) |(?:everyone|everybody|people|friends|my friends) calls? me |the name(?:'s|’s| is) )"
    rf"{_NAME}(?P<rest>[^.!?,;]*)",
    re.IGNORECASE,
)
_NO_NAME = re.compile(
    r"(?:an?|the|it|that|this|your|my|his|her|their|our|back|later|tomorrow|tonight|today|when|whenever|once|if|at|in|on|for|up|as|by"
    r"|so|not|never|now|then|again|before|after|asap|and|or|but|to|crazy|old|soon|immediately|anytime|about|with|because|really"
    r"|some\w+|any\w+|what|whatever|mom's|dad's)",
    re.IGNORECASE,
)
_TAILS = re.compile(
    r"\s*(?:please|instead|from now on|now|ok|okay|thanks|though|then|not .*|and .*|but .*|if you (?:like|want|don't mind|don’t mind)|,.*)?\s*",
    re.IGNORECASE,
)
_FOCUS_ON = re.compile(
    r"^\W*(?:please |let'?s |let us |can we |i want to |i need to )*(?:stay|stick|keep) (?:with|to|on) (?:this|that|it|the|one)\b"
    r"|^\W*(?:please |let'?s |let us |can we |i want to |i need to )*(?:focus|concentrate) on\b",
    re.IGNORECASE,
)
_FOCUS_OFF = re.compile(
    r"\b(?:stop|done|finished|enough) (?:focus(?:s?ing)?|concentrating)\b|\b(?:something|anything) else now\b|\bchange (?:of|the) (?:topic|subject)\b|\blet'?s move on\b",
    re.IGNORECASE,
)


def read_identity(text: str) -> str | None:
    """Return what a message says its person is called; None where it does not.

    Args:
        text: The message.
    """
    plain = " ".join(text.split()).replace("’", "'")
    found = _SAID.search(mask_stops(plain))
    if found is None or not _TAILS.fullmatch(found["rest"]):
        return None
    name = plain[found.start("name") : found.end("name")].strip(" '-")
    if _NO_NAME.fullmatch(name.split()[0]) or len(name) > _LONGEST:
        return None
    return name if any(letter.isupper() for letter in name) else name.title()


def read_focus(text: str) -> bool | None:
    """Return whether a message wants to stay with its topic, or no longer; None where it says nothing of that.

    Args:
        text: The message.
    """
    if _FOCUS_OFF.search(text):
        return False
    return True if _FOCUS_ON.search(text) else None
