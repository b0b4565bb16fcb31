"""How things look: style, planes, boxes, violins, tables and pictures, for figures, plots and pages."""
