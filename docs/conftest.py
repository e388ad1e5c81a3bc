"""Pages are tests, scripts are not: they would run on import, and tests/docs runs the gallery."""

collect_ignore_glob = ["conf.py", "_ext/*", "_build/*", "gallery/*.py", "auto_gallery/*"]
