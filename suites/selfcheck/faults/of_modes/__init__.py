"""Faults in the machinery of modes, which each name the part of a mode that shows them."""

from suites.selfcheck.faults.of_modes import cheap, compiled
from suites.selfcheck.faults.of_modes.registry import FAULTS

__all__ = ["FAULTS", "cheap", "compiled"]
