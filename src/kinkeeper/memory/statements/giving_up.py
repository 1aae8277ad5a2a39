"""What a clause says that it is told instead of, or that is over: "swapped the trumpet for the drums". Pure."""

import re

from kinkeeper.memory.statements.words import lexicon, words_of

_REPLACED = re.compile(
    r"(?:instead of|rather than|in place of|replacing|and not|, not|(?:switch|chang|mov|swapp|upgrad)\w* (?:over )?from) (.+)"
)
_THING = r"((?:(?!(?:for|and|in|but|because|so|at|on|to|by|is|are|was|were|with|instead|now)\b)[^\s,;]++ ?){1,4})"
# "swapped the trumpet for the drums", "is off dry food", "has finished the antibiotics": what is over.
_GIVEN_UP = re.compile(
    rf"\b(?:(?:swapp|trad|exchang|ditch|dropp|finish|cancell?)ed|quit|outgrew|outgrown|(?<!is )(?<!are )(?<!was )(?<!were )left(?! (?:wing|hand|foot|side|back|arm|leg|ear|eye|out|over)\b)|"
    rf"(?:gave|given|give) up|(?:called|call|gone|went|is|am|are|has come|have come) off|(?:decided|voted) against|done with|"
    rf"(?:good)?bye(?: to)?|stepped down from|(?:grew|grown) out of|got rid of|sold|moved out of|not use|not going to|not doing|"
    rf"not with|no more) (?:off |in |going to )?(?:the |my |our |his |her |their |a |an )?{_THING}"
)
_FELL_THROUGH = re.compile(rf"{_THING}(?:fell through|died|broke down|closed down)\b")


def given_up(clause: str) -> frozenset[str]:
    """Return the canonical words of what a clause is told instead of, or says that it is over.

    Args:
        clause: In lower case, contractions opened.
    """
    found = _REPLACED.search(clause) or _GIVEN_UP.search(clause) or _FELL_THROUGH.match(clause)
    if found is None:
        return frozenset()
    return frozenset(word.canon for word in words_of(found[1]) if word.text not in lexicon().light)
