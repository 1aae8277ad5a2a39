"""The event graph: events, occurrences, participants, responsibilities, conflicts, ICS."""
