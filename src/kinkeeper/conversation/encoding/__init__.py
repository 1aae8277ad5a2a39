"""What becomes of an exchange once it is over: a gist, an episode, and facts, each as durable work."""
