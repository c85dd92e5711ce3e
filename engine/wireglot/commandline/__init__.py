"""The command line: what the commands do, read and print."""
