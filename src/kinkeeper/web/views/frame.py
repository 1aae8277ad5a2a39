"""What surrounds every page: whose household it is, who looks, where one can go. Pure."""

from dataclasses import dataclass

from kinkeeper.web.views.people import Person


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """The frame of a page.

    Attributes:
        bot_name: What the assistant is called.
        viewer: Who looks; None where nobody is logged in.
        pending: How many decisions wait.
        here: Key of the page in the navigation; empty where it is none of it.
        csrf: Token that every form sends back; empty where nobody is logged in.
        cursor: Where the page's live updates go on from; empty where it has none.
        may_decide: Whether the viewer may confirm.
        sees_all: Whether the viewer is of the family: neither a guest nor a screen on the wall.
        may_speak: Whether the viewer may talk with the assistant.
    """

    bot_name: str
    viewer: Person | None = None
    pending: int = 0
    here: str = ""
    csrf: str = ""
    cursor: str = ""
    may_decide: bool = False
    sees_all: bool = True
    may_speak: bool = False
