from fakes.openai_server import Answer, FakeServer, Policy

__all__ = ["Answer", "FakeServer", "Policy"]
