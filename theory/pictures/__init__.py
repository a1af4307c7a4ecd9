"""Pictures: automata, mirrors and runs."""
