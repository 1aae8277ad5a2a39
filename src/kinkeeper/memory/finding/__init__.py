"""How what is remembered is found again: by words, by meaning, by who said it and when."""
