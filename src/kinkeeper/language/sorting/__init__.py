"""What kind of thing is said: the parts of the assistant a request is for, the category of a statement."""
