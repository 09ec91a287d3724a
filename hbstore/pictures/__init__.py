"""Pictures in SVG: text in the page's own colour, nothing loaded from elsewhere, no script."""
