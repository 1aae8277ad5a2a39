"""Goals: what somebody wants that is too much for one turn, and how far its work has come."""
