"""Math graphs as pictures.

::

    placement   where each node is drawn: left to right, row by row
    svg         draw_math_graph: the picture, with its virtual nodes
    page        write_page: the picture in one HTML file, members lit by the mouse
"""

from mathamr_kedro.graph.drawing.page import write_page
from mathamr_kedro.graph.drawing.svg import draw_math_graph

__all__ = ["draw_math_graph", "write_page"]
