"""What a person is asked to confirm: made, corrected, replaced and taken back."""
