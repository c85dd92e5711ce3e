"""The playground: a page that converts in the browser, and what builds it into the site.

Pyodide is not of this repository: `make playground` has npm fetch it.
"""
