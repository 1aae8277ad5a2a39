"""The household's calendar kept in step, both ways, with a collection on a CalDAV server."""
