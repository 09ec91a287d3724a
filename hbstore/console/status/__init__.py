"""What the page about a server shows: what is late, what is stuck, what changed last, and what the server runs on."""
