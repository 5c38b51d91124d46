"""What torch does otherwise than a clause says: declared, ranged, witnessed. One that matches nothing fails."""

from typing import Tuple

from fixtures.clause import Deviation

DEVIATIONS: Tuple[Deviation, ...] = ()
