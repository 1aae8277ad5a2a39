"""What a server takes of a call to a model, as far as its refusals tell. Pure."""

from dataclasses import dataclass, replace

_LIMIT, _OTHER_LIMIT = "max_tokens", "max_completion_tokens"


@dataclass(frozen=True, slots=True, kw_only=True)
class Manners:
    """How a model is to be asked.

    Attributes:
        takes_schema: Whether by schema; else for any JSON object, with the schema in the text.
        takes_temperature: Whether it may be told how freely to answer.
        limit_key: What the longest answer is called in OpenAI's protocol; newer models want another.
    """

    takes_schema: bool = True
    takes_temperature: bool = True
    limit_key: str = _LIMIT

    def after_refusal(self, parameter: str | None, *, has_schema: bool) -> "Manners | None":
        """Return how to ask after a call was refused; None where there is no other way.

        Args:
            parameter: What the server says it does not take; None where it does not say.
            has_schema: Whether the call asks for an answer by schema.
        """
        if parameter == _LIMIT and self.limit_key == _LIMIT:
            return replace(self, limit_key=_OTHER_LIMIT)
        if parameter == "temperature" and self.takes_temperature:
            return replace(self, takes_temperature=False)
        if has_schema and self.takes_schema:
            return replace(self, takes_schema=False)
        return None
