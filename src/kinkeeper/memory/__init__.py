"""What the household's assistant remembers: episodes, facts and their evidence, and how they are found again."""
