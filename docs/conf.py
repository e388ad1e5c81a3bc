"""How the site is built: ``make -C docs html``. Nothing here, or in the pages, needs a network."""

from __future__ import annotations

import sys
from pathlib import Path

import eigensieve

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "eigensieve"
author = "The eigensieve developers"
project_copyright = author
release = eigensieve.__version__
version = ".".join(release.split(".")[:2])

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "command_pages",
    "reference",
    "root_pages",
    "solver_table",
    "tidy_blocks",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_templates", "gallery", "methods/figures"]
nitpicky = True

# -- pages in markdown -----------------------------------------------------------------
myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 4
toc_object_entries_show_parents = "hide"
highlight_language = "none"  # a block without a language is shell, or a sketch

# -- the reference ---------------------------------------------------------------------
default_role = "py:obj"  # `fit` is the method of the class at hand; other words stay code
autosummary_generate = True
# files of the names study and Study would be one file where case does not count
autosummary_filename_map = {"eigensieve.Study": "eigensieve.Study-class"}
autodoc_default_options = {"members": True, "inherited-members": True, "member-order": "groupwise"}
autodoc_typehints = "none"  # the parameters say it, in words
autodoc_preserve_defaults = False  # values, not the names of constants
numpydoc_show_class_members = False  # autodoc shows them
numpydoc_class_members_toctree = False

# -- the gallery -----------------------------------------------------------------------
sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "reset_modules": ("matplotlib", "gallery_rules.warnings_are_errors"),
    "reset_modules_order": "both",
    "doc_module": ("eigensieve",),
    "reference_url": {"eigensieve": None},
    "backreferences_dir": "api/generated/examples",
    "min_reported_time": 1e9,  # how long an example took says more of the builder than of us
    "write_computation_times": False,  # that page would load scripts from elsewhere
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "plot_gallery": "True",
}

# -- the looks -------------------------------------------------------------------------
html_theme = "pydata_sphinx_theme"
html_title = "eigensieve"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": [], "start": []}  # nothing lies below them
html_context = {"default_mode": "auto"}
html_theme_options = {
    "navigation_with_keys": False,
    "show_nav_level": 1,
    "navigation_depth": 3,
    "header_links_before_dropdown": 7,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
copybutton_exclude = ".linenos, .gp, .go"  # what is copied can be pasted: no prompts, no output
