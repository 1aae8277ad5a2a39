"""What confirmed actions do outside the database: called once, settled by what is known of the outcome."""
