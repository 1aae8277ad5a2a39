"""Reads requests about mail; subject and text are the person's own words. Pure."""

import re
from collections.abc import Sequence

from kinkeeper.conversation.planning.case import Case, Groups, Missing, Step, action
from kinkeeper.conversation.planning.people import is_person, is_speaker
from kinkeeper.language.text import enumerated, shorten

_LONGEST_SUBJECT = 60
_SEVERAL = re.compile(r"\s*,\s*(?:and\s+)?|\s+(?:and|&)\s+", re.IGNORECASE)
_BACK_REFERENCE = re.compile(r"^(?:him|her|them|it|that|this)$", re.IGNORECASE)
_ASKS = re.compile(
    r"^(?:to )?ask(?:ing)? (?:(?:him|her|them|everyone|everybody) )?(?P<how>if|whether|to|for)?\s*(?P<what>.+)$",
    re.IGNORECASE,
)
_INVERTED = re.compile(
    r"^(?:he|she|they) (?P<verb>can|could|will|would|is|are|has|have|wants?|needs?) (?P<rest>.+)$",
    re.IGNORECASE,
)
_NOBODY = re.compile(
    r"^(?:me\s+.+|an?|the|my|this|that|e?-?mails?|mails?|address|list|message|.*\b(?:address|account|contact|list)\b.*)$",
    re.IGNORECASE,
)
_SENDING = frozenset(
    {"send", "shoot", "fire off", "fire", "drop", "dash off", "pop", "ping", "get"}
)


_ADDRESSED = re.compile(
    r"^.+?\s+(?:at|on|under|via|by)\s+<?(?P<address>[^\s@<>]+@[^\s@<>]+)>?$", re.IGNORECASE
)
"""Somebody with an address: "coach Tim at tim@club.example"."""


def write(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "email Bob that I'm running late" (a draft) and "send an email to …" (sent, after a yes)."""
    verb, kind = groups["verb"].lower(), groups.get("kind", "").lower()
    name = "send_email" if verb in _SENDING and "draft" not in kind else "create_draft"
    to = recipients(groups.get("to") or "", case)
    if any(_NOBODY.match(each) for each in to):
        return None
    subject, body = contents(groups, case)
    params = {"to": to, "subject": subject, "body": body}
    if not to:
        return [Missing(action("email", name, params), "to", "Who should the email go to?")]
    if not body:
        known = action("email", name, {"to": to})
        return [Missing(known, "body", f"What should I say to {enumerated(to)}?")]
    return [action("email", name, params)]


def passed_on(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "tell gran that the gala is at 9:30": a draft, for what is said to others is sent by people."""
    names = [each for each in re.split(r"\s*(?:,|\band\b)\s*", groups["to"]) if each]
    if not all(is_person(each, case) and not is_speaker(each) for each in names):
        return None
    return write(groups, case)


def contents(groups: Groups, case: Case) -> tuple[str, str]:
    """Return subject and text of a mail: what was said, as a sentence."""
    message = case.message
    said = next(
        (groups[name] for name in ("body", "body0", "body2", "body3") if groups.get(name)), ""
    )
    if groups.get("asked"):
        said = f"ask {groups['asked']}"
    about = groups.get("about") or groups.get("about0") or ""
    body = composed(message.words(said), message.sentence(said))
    subject = message.words(groups.get("subject") or about)
    if not body and about:
        body = message.sentence(f"About {message.words(about)}")
    if not subject:
        subject = shorten(body.rstrip(".!?"), _LONGEST_SUBJECT)
    return (subject[:1].upper() + subject[1:] if not groups.get("subject") else subject), body


def composed(words: str, sentence: str) -> str:
    """Return the text of a mail: a question to the other where the person says to ask one."""
    asks = _ASKS.match(words)
    if asks is None:
        return sentence
    how, what = (asks["how"] or "").lower(), asks["what"].rstrip(".?! ")
    turned = _INVERTED.match(what)
    if how in {"if", "whether"} and turned is not None:
        verb = {"is": "are", "has": "have"}.get(turned["verb"].lower(), turned["verb"].lower())
        lead = (
            f"Do you {verb.rstrip('s')}"
            if verb.startswith(("want", "need"))
            else f"{verb.capitalize()} you"
        )
        return f"{lead} {turned['rest']}?"
    if how == "to":
        return f"Could you please {what}?"
    if how == "for":
        return f"Could you please send me {what}?"
    return f"I wanted to ask {how + ' ' if how else ''}{what}."


def recipients(said: str, case: Case) -> list[str]:
    """Return who a mail goes to, each in the person's words; whom "him" means is left to what was done before."""
    words = re.sub(
        r"\s+(?:an?|the)\s+(?:e?-?mail|mail)$|\s+(?:by|via) (?:e?-?mail|mail)$",
        "",
        case.message.words(said),
        flags=re.IGNORECASE,
    )
    named = [each for part in _SEVERAL.split(words) if (each := part.strip(" ,."))]
    return [_ADDRESSED.sub(r"\g<address>", each) for each in named]


def reply(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "reply to Sarah that Friday works"."""
    to = case.message.words(groups.get("from") or groups["to"])
    to = re.sub(
        r"^(?:the )?(?:last |latest )?(?:e?-?mail|mail|message|letter) (?:from|of) |'s$",
        "",
        to,
        flags=re.IGNORECASE,
    )
    if not to or re.match(
        r"^(?:the|a|that|this) (?:e?-?mail|mail|message|question|phone|door)$|^(?:my|the) (?:question|phone|door)",
        to,
        re.IGNORECASE,
    ):
        return None
    body = case.message.sentence(groups.get("body", ""))
    body = composed(body.rstrip("."), body)
    if not body:
        known = action("email", "reply_to_email", {"sender_name": to})
        return [Missing(known, "body", f"What should I answer {to}?")]
    return [action("email", "reply_to_email", {"sender_name": to, "body": body})]


def search(groups: Groups, case: Case) -> Sequence[Step]:
    """Read "any mail from the school?"."""
    query = case.message.words(groups.get("what", ""))
    query = re.sub(
        r"^(?:the|my|our|a|an|any(?:one|body)?|some(?:one|body)?)\b\s*",
        "",
        query,
        flags=re.IGNORECASE,
    )
    return [action("email", "search", {"query": query or "newest"})]


def asked(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "when did mail come from the school?"; an address that is told ("my email is …") looks for no mail."""
    is_told = "@" in case.message.words(case.message.text) and not groups.get("what")
    return None if is_told else search(groups, case)


def is_reference(name: str) -> bool:
    """Whether a recipient is a word for somebody named before."""
    return _BACK_REFERENCE.match(name) is not None
