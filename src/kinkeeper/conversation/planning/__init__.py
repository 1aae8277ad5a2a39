"""What a message asks for, as typed requests: by rules, and by a model where one is set up."""
