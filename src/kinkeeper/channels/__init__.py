"""Ways into and out of chats that people use; one package each."""
