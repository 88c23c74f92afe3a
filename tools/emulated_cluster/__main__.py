"""`python tools/emulated_cluster --help`"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from emulated_cluster.command import main  # noqa: E402

sys.exit(main())
