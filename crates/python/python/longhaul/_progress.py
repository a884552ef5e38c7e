"""Progress on stderr: one line that is written anew on a terminal and in notebooks, a line every ten seconds elsewhere."""

import sys
import time


class Line:
    """Says how many runs are done, how many a second, and how long the rest takes."""

    def __init__(self, to=None):
        self.to = sys.stderr if to is None else to
        self.again = self.to.isatty() or "ipykernel" in sys.modules
        self.began = time.monotonic()
        self.next = self.began if self.again else self.began + 10

    def __call__(self, done, total):
        now = time.monotonic()
        if now < self.next and done < total:
            return
        self.next = now + (0.2 if self.again else 10)
        rate = done / max(now - self.began, 1e-9)
        left = (total - done) / rate
        text = f"{done}/{total} runs, {rate:.1f}/s, {left:.0f} s left"
        end = "\n" if not self.again or done == total else ""
        self.to.write(f"\r\x1b[K{text}{end}" if self.again else f"{text}{end}")
        self.to.flush()
