"""Text, HTML and SVG for people; nothing here knows what a release is."""
