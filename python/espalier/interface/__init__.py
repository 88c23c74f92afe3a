"""How the commands meet their user: help, suggestions, documents, the way they end."""
