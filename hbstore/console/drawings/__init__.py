"""Drawings of the console's pages: plain values become SVG."""
