"""Run as a script: studies in processes of their own, to be killed.

Each line of the input is a JSON object: ``checkpoint`` and ``result`` (paths), ``n_jobs``, and
when to end it: ``delay`` (seconds until it is killed) or ``tear`` (a line of the file, counted
from 0, in the middle of which the process dies). The answer is "killed" or "done".
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from eigensieve.studies.running.checkpoint import Checkpoint
from tests.studies.whole import as_bytes, plain_study


def main() -> None:
    plain_study()  # modules are loaded once, and inherited
    answer("ready")
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            run(order)
        if order.get("delay") is not None:
            time.sleep(order["delay"])
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        answer("done" if os.waitstatus_to_exitcode(status) == 0 else "killed")


def answer(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def run(order: dict[str, Any]) -> None:
    if order.get("tear") is not None:
        die_while_writing(order["tear"])
    study = plain_study(checkpoint=order["checkpoint"], n_jobs=order["n_jobs"])
    Path(order["result"]).write_bytes(as_bytes(study))
    os._exit(0)


def die_while_writing(line: int) -> None:
    write, left = Checkpoint._write, iter(range(line))

    def write_or_die(self: Checkpoint, content: dict[str, Any]) -> None:
        if next(left, None) is not None:
            write(self, content)
            return
        before = self.path.stat().st_size
        write(self, content)
        self._file.truncate((before + self.path.stat().st_size) // 2)
        os.kill(os.getpid(), signal.SIGKILL)

    Checkpoint._write = write_or_die


if __name__ == "__main__":
    main()
