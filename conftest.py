"""The suite is a plug-in, which an installed one needs, too."""

pytest_plugins = ["suites.wiring"]
