"""Settings of the documentation site: ``make docs``.

Pages are the Markdown files of this folder. ``made.py`` adds what is made from the package: the pages of commands and
figures, the full report, the page of searches, and the notebooks.
"""

import sys
from pathlib import Path

import whiffclock

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import made  # noqa: E402

project, author = "whiffclock", "The whiffclock developers"
copyright = author
version = release = whiffclock.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_design",
    "sphinx_copybutton",
    "matplotlib.sphinxext.plot_directive",
]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # notebooks are stored with their output; tests run them
autodoc_typehints = "none"
napoleon_use_rtype = False
plot_include_source = True
plot_html_show_source_link = plot_html_show_formats = False
plot_formats = [("png", 150)]
exclude_patterns = ["README.md"]
copybutton_exclude = ".linenos, .gp, .go"

html_theme = "pydata_sphinx_theme"
html_title = "whiffclock"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_extra_path = ["made/site"]
html_show_sourcelink = False
html_context = {"default_mode": "auto"}
html_theme_options = {
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": []}

made.everything(HERE / "made")


def setup(app):
    """Check the links that Sphinx does not: those to files that are copied, and in raw HTML."""
    app.connect("build-finished", lambda app, failed: None if failed else made.check_links(Path(app.outdir)))
