"""Templates of HTML pages."""

import jinja2


def page_templates(package: str, folder: str) -> jinja2.Environment:
    """The templates in a folder of a package, in which everything is escaped."""
    return jinja2.Environment(
        loader=jinja2.PackageLoader(package, folder),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
