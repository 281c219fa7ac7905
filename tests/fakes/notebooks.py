"""A notebook's kernel and anywidget, of which nothing is there but what we use of them."""

from fakes.inside import inside
from orienteer.page import DrawnNode

VIEW = "application/vnd.jupyter.widget-view+json"


class FakeWidget:
    """What anywidget's class does: it keeps a content, hears messages and sends replies."""

    made: list["FakeWidget"] = []

    def __init__(self, content):
        self.content, self.sent, self._hear = content, [], None
        self.made.append(self)

    def on_msg(self, hear):
        self._hear = hear

    def hear(self, message):
        """Take a message of the picture, and return what is sent back."""
        self.sent.clear()
        self._hear(self, message, [])
        return self.sent[0] if self.sent else None

    def send(self, reply):
        self.sent.append(reply)

    def _repr_mimebundle_(self):
        return {VIEW: {"model_id": str(len(self.made))}, "text/plain": "Picture()"}, {}


def shown(monkeypatch, thing):
    """Display a thing in a notebook that has anywidget, and return its widget."""
    monkeypatch.setattr(inside(DrawnNode), "_has_kernel", lambda: True)
    monkeypatch.setattr(inside(DrawnNode), "_widget_class", lambda: FakeWidget)
    FakeWidget.made.clear()
    bundle, _ = thing._repr_mimebundle_(include=None, exclude=None)
    assert list(bundle) == [VIEW]
    return FakeWidget.made[-1]
