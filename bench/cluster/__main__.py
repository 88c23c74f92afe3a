"""`python bench/cluster --help`"""

import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
for folder in ("bench", "tools"):
    sys.path.insert(0, str(REPOSITORY / folder))

from cluster.command import main  # noqa: E402

sys.exit(main())
