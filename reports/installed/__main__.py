"""`python -m hook_conformance` is the command, where its folder is not on the path."""

from .command import main

raise SystemExit(main())
