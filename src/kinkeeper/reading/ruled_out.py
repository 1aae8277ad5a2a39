"""Words by which something is not to be done for a while, or may be done once more. Pure."""

import re

_RULES_OUT = re.compile(
    r"\b(?:(?:ca|must|should|is|are|wo)n[’']?t|(?:can|must|may|should|is|are) ?not|not (?:allowed|to|before)"
    r"|no|off|out of|banned|barred|excused|sit(?:s|ting)? out|skip(?:s|ping)?|miss(?:es|ing)?|rest(?:s|ing)?)\b",
    re.IGNORECASE,
)
"""Words by which something is not to be done for a while."""
_ALLOWS_AGAIN = re.compile(
    r"\b(?:back|again|resumes?|returns?|restarts?|not before|earliest)\b", re.IGNORECASE
)
"""Words by which something may be done once more, and so not before."""


def rules_out(text: str) -> bool:
    """Whether a text says that something is not to be done, without saying for how long."""
    return bool(_RULES_OUT.search(text))


def allows_again(text: str) -> bool:
    """Whether a text says that something may be done once more: before that it may not."""
    return bool(_ALLOWS_AGAIN.search(text))
