"""POST /observe: messages of a chat, from whatever program bridges it."""

from starlette.routing import Route

routes: list[Route] = []
