"""What pages are made of, whatever they show: templates, pictures, and how figures are written."""

from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "network": "evidence as draw_evidence, ring as draw_ring",
        "notebook": "DrawnNode, WIDGET",
        "svg": (
            "LETTER as LETTER_WIDTH, pieces as page_pieces, PLOT as PLOT_FRAME, Point as PlotPoint, "
            "scatter as draw_scatter"
        ),
    },
)
