"""What is said to a person: from receipts by templates, or by a model whose words are checked before they are shown."""
