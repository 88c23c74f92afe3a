"""What messages, copies and flags cost on the machines that come with Espalier."""
