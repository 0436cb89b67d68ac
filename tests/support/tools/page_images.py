"""Makes docs/images/: every tab of the page of the bundled sample, in light and dark.

Workers and distribution are those of an imaginary fleet.

    python tests/support/tools/page_images.py [TAB…]

The pictures are PNG of 1280 by 720 pixels and 128 colours, at most 60 KB each. Pillow, which makes
them small, comes with TensorFlow.
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[3]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests" / "support")]

from PIL import Image  # noqa: E402

import tfprof  # noqa: E402 - that of this folder
from fleet_engine import HereEngine  # noqa: E402
from fleet_files import write_fleet  # noqa: E402
from page_browser import Chromium, Pages  # noqa: E402
from tfprof.fleet.gather import gather  # noqa: E402

IMAGES: Final = ROOT / "docs" / "images"
MOST_BYTES: Final = 60_000
COLOURS: Final = 128
STATES: Final = {
    "overview": "",
    "icicle": "tab=icicle&view=scope&metric=micros",
    "table": "tab=table&view=scope&order_by=micros&node=unit_1_0/sub1/conv1/Conv2D",
    "treemap": "tab=treemap",
    "types": "tab=types",
    "workers": "tab=workers&worker=worker_2&step=3",
    "distribution": "tab=distribution&op=MatMul",
    "timeline": "tab=timeline",
    "roofline": "tab=roofline",
}
"""What each picture shows: the fragment of the page's address."""
OF_FLEET: Final = ("workers", "distribution")


def small(png: bytes) -> bytes:
    """The picture with few colours, of which a page has few."""
    out = io.BytesIO()
    image = Image.open(io.BytesIO(png)).convert("RGB")
    rare = Image.Quantize.MAXCOVERAGE  # colours of small things in legends stay
    image.quantize(COLOURS, rare, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
    return out.getvalue()


def main(names: list[str]) -> None:
    """Write the pictures of these tabs; of all, if none is named."""
    IMAGES.mkdir(exist_ok=True)
    os.chdir(ROOT / "src" / "tfprof" / "sample")  # so that the pictures show no folder of ours
    runs = ["run_meta_0.gz", "run_meta_1.gz"]
    sample = tfprof.load("graph.pbtxt.gz", runs, "tfprof_log.gz")
    with tempfile.TemporaryDirectory() as folder:
        runs_of_fleet, gathered = Path(folder, "runs"), Path(folder, "fleet")
        slow = ("worker_2", "MatMul", 1.5)
        write_fleet(runs_of_fleet, workers=12, steps=8, slow=slow, slow_step=(5, 1.6), skew=1)
        gather([str(runs_of_fleet)], str(gathered), engine=HereEngine())
        fleet = tfprof.fleet(gathered)
        chromium = Chromium()
        with chromium.in_use() as browser:
            pages = Pages(browser, Path(folder))
            for name in names or STATES:
                for dark in (False, True):
                    page = pages(fleet if name in OF_FLEET else sample, STATES[name], dark=dark)
                    page.wait_for_timeout(300)  # for a tooltip that is on its way, and the like
                    image = small(page.screenshot())
                    path = IMAGES / f"{name}_{'dark' if dark else 'light'}.png"
                    path.write_bytes(image)
                    sys.stdout.write(f"{path.relative_to(ROOT)}: {len(image):,} bytes\n")
                    assert len(image) <= MOST_BYTES, "too large: use fewer colours"
            problems = pages.close()
        chromium.close()
    assert not problems, problems


if __name__ == "__main__":
    main(sys.argv[1:])
