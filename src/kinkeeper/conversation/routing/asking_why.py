"""Whether a message asks why the assistant said or did what it did. Pure."""

import re

_WHY = re.compile(
    r"(?:(?:but|and|so|ok|okay|hm+|wait|sorry)[\s,]+)*"
    r"(?:why(?: (?:did|do|would|have|didn't|don't) you\b.*| that| not| is that| so)?"
    r"|how (?:do|did|would|can) you (?:know|tell|come to|figure)(?: (?:that|this|it|so|out))*"
    r"|where (?:do|did|have) you (?:get|got|have|hear|read|find)\b.*(?:that|this|it)(?: from)?"
    r"|(?:who|what) (?:told|says?|made|makes) (?:you|so)\b.*|says who"
    r"|what (?:did|do) you (?:use|base|look at|go by)\b.*)",
    re.IGNORECASE,
)


def asks_why(text: str) -> bool:
    """Return whether a whole message asks for the reasons of the last answer ("why?", "how do you know that?")."""
    return _WHY.fullmatch(text.strip().rstrip("?!. ")) is not None
