"""What an agent may call: data (name, JSON schema) and a function each, over one session."""
