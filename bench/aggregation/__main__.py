import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
for folder in (ROOT / "bench", ROOT / "tools", ROOT / "python"):
    sys.path.insert(0, str(folder))

from aggregation.command import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
