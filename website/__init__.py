"""The docs site: what MkDocs is given beside docs/*.md. `make site` builds it into site/.

`hooks` is what MkDocs calls. The other modules know nothing of MkDocs: `dialects` makes the page of
a rule file, `commandline` that of the commands, `pages` the templates they share, `links` holds the
built site to account.
"""
