"""Chromium by its DevTools protocol: a page that tests can type into and click."""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from websockets.sync.client import connect

from tests.conftest import PATIENCE

OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
    "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars",
    "--remote-debugging-port=0", "--remote-allow-origins=*",
)  # fmt: skip
KEYS = {
    "Enter": (13, "\r"),
    "Escape": (27, ""),
    "Tab": (9, ""),
    "ArrowDown": (40, ""),
    "ArrowUp": (38, ""),
    " ": (32, " "),
}


class Page:
    """One tab; everything it asked for and complained about is kept."""

    def __init__(self, socket: Any) -> None:
        self._socket, self._number = socket, 0
        self.requests: list[str] = []
        self.complaints: list[str] = []
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its answer; events on the way are noted."""
        self._number += 1
        order = {"id": self._number, "method": method, "params": parameters}
        self._socket.send(json.dumps(order))
        while True:
            message = json.loads(self._socket.recv(timeout=PATIENCE))
            if message.get("id") == self._number:
                assert "error" not in message, message
                return dict(message["result"])
            self._note(message.get("method", ""), message.get("params", {}))

    def _note(self, event: str, details: dict[str, Any]) -> None:
        if event == "Network.requestWillBeSent":
            self.requests.append(details["request"]["url"])
        elif event == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(details["exceptionDetails"])[:2000])
        elif event == "Log.entryAdded" and details["entry"]["level"] == "error":
            self.complaints.append(details["entry"]["text"])
        elif event == "Page.javascriptDialogOpening":
            self.complaints.append("a dialog of a script: " + details["message"])
            self._number += 1
            order = {"id": self._number, "method": "Page.handleJavaScriptDialog"}
            self._socket.send(json.dumps({**order, "params": {"accept": False}}))

    def open(self, url: str) -> None:
        """Go to an address."""
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def run(self, script: str) -> Any:
        """Return the value of an expression."""
        found = self.call(
            "Runtime.evaluate",
            expression=script,
            returnByValue=True,
            awaitPromise=True,
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait(self, condition: str, seconds: float = PATIENCE) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + seconds
        while not self.run(f"!!({condition})"):
            assert time.monotonic() < end, f"{condition} did not come true"
            time.sleep(0.05)

    def type(self, text: str) -> None:
        """Type where the focus is."""
        self.call("Input.insertText", text=text)

    def press(self, key: str, shift: bool = False) -> None:
        """Press a key."""
        code, text = KEYS[key] if key in KEYS else (ord(key.upper()), key)
        common = {
            "key": key, "code": key, "windowsVirtualKeyCode": code,
            "modifiers": 8 * shift,
        }  # fmt: skip
        kind = "keyDown" if text else "rawKeyDown"
        self.call("Input.dispatchKeyEvent", type=kind, text=text, **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def click(self, selector: str) -> None:
        """Click into the middle of an element, as a mouse does."""
        place = self.run(
            f"(() => {{const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'center'});"
            "const r = e.getBoundingClientRect();"
            "return [r.left + r.width / 2, r.top + r.height / 2]})()"
        )
        self._mouse("mouseMoved", place, buttons=0)
        for kind in ("mousePressed", "mouseReleased"):
            self._mouse(kind, place, button="left", clickCount=1)

    def hover(self, selector: str) -> None:
        """Move the mouse onto an element."""
        place = self.run(
            f"(() => {{const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'center'});"
            "const r = e.getBoundingClientRect();"
            "return [r.left + r.width / 2, r.top + r.height / 2]})()"
        )
        self._mouse("mouseMoved", place, buttons=0)

    def _mouse(self, kind: str, place: list[float], **more: Any) -> None:
        x, y = place
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def resize(self, width: int, height: int, phone: bool = False) -> None:
        """Set the size of the window."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=2 if phone else 1,
            mobile=phone,
        )  # fmt: skip

    def prefer(self, scheme: str) -> None:
        """Prefer ``light`` or ``dark``, as the system of the user does."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.call("Emulation.setEmulatedMedia", features=[feature])

    def take_picture(self, file: Path) -> None:
        """Write what the window shows."""
        found = self.call("Page.captureScreenshot", format="png")
        file.write_bytes(base64.b64decode(found["data"]))


@contextmanager
def open_browser() -> Iterator[Page]:
    """Start Chromium with an empty profile; end it with everything it started."""
    profile = tempfile.mkdtemp()
    with subprocess.Popen(
        ["chromium", *OPTIONS, f"--user-data-dir={profile}", "about:blank"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    ) as process:  # fmt: skip
        try:
            note = Path(profile, "DevToolsActivePort")
            end = time.monotonic() + PATIENCE
            while not note.exists() or not note.read_text().strip():
                assert time.monotonic() < end, "chromium did not start"
                time.sleep(0.05)
            port = note.read_text().split()[0]
            tabs = json.load(urlopen(f"http://127.0.0.1:{port}/json"))
            (tab,) = [t for t in tabs if t["type"] == "page"]
            address = tab["webSocketDebuggerUrl"]
            with connect(address, max_size=None, compression=None) as socket:
                yield Page(socket)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    shutil.rmtree(profile, ignore_errors=True)
