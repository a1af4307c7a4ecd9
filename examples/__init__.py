"""Programs that show what the package does; `python -m mirrormata.examples.demo` runs one."""
