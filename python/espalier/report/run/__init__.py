"""What a run did, drawn: its last calls by rank and time, when ranks came, and how near to the machine's limits calls were."""
