"""A headless Chromium, driven through chromedriver: WebDriver is JSON over HTTP, so the standard library does.

    with Browser() as page:
        page.open("file:///plan.html")
        page.script("return document.title")
"""

import base64
import json
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # The key under which WebDriver hands out elements.
FLAGS = (
    "--headless",
    "--no-sandbox",  # Chromium refuses to run as root with one.
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-device-scale-factor=1",
)
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Left": "\ue012", "Up": "\ue013", "Right": "\ue014", "Down": "\ue015"}


def missing():
    """What is needed and not installed."""
    return [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]


class Browser:
    def __init__(self, width=1400, height=850):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        with socket.socket() as probe:  # A port that is free now.
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.driver = subprocess.Popen(
            ["chromedriver", f"--port={self.port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.session = None
        try:
            self.wait_for_driver()
            options = {
                "args": [*FLAGS, f"--user-data-dir={self.profile.name}", f"--window-size={width},{height}"],
                "binary": shutil.which("chromium"),
            }
            wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
            self.session = self.post("/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        try:
            if self.session:
                self.call("DELETE", f"/session/{self.session}")
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.profile.cleanup()

    def wait_for_driver(self):
        while True:
            if self.driver.poll() is not None:
                raise RuntimeError("chromedriver has ended")
            try:
                if self.call("GET", "/status")["ready"]:
                    return
            except OSError:
                time.sleep(0.05)  # It does not listen yet.

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, method=method)
        request.add_header("Content-Type", "application/json")
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with direct.open(request) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from error

    def post(self, path, body):
        prefix = f"/session/{self.session}" if self.session else ""
        return self.call("POST", prefix + path, body)

    def open(self, url):
        self.post("/url", {"url": url})

    def script(self, code, *args):
        return self.post("/execute/sync", {"script": code, "args": list(args)})

    def wait(self, code):
        """Runs a script that calls `arguments[0]` when it is done."""
        return self.post("/execute/async", {"script": code, "args": []})

    def settle(self):
        """Until two frames have been painted."""
        self.wait("const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done(null)))")

    def errors(self):
        """What the console complained about since the last time."""
        log = self.post("/se/log", {"type": "browser"})
        return [entry["message"] for entry in log if entry["level"] in ("SEVERE", "WARNING")]

    def type(self, selector, text):
        element = self.post("/element", {"using": "css selector", "value": selector})[ELEMENT]
        self.post(f"/element/{element}/value", {"text": text})

    def press(self, *keys):
        """Presses keys one after the other, wherever the focus is."""
        actions = []
        for key in keys:
            key = KEYS.get(key, key)
            actions += [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self.post("/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})
        self.settle()

    def pointer(self, *steps):
        """`("move", x, y)`, `("down",)` and `("up",)`, one after the other."""
        actions = []
        for name, *at in steps:
            if name == "move":
                x, y = (round(value) for value in at)
                actions.append({"type": "pointerMove", "duration": 0, "x": x, "y": y, "origin": "viewport"})
            else:
                actions.append({"type": "pointerDown" if name == "down" else "pointerUp", "button": 0})
        source = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions}
        self.post("/actions", {"actions": [source]})
        self.settle()

    def wheel(self, x, y, amount):
        turn = {"type": "scroll", "x": round(x), "y": round(y), "deltaX": 0, "deltaY": amount, "origin": "viewport"}
        self.post("/actions", {"actions": [{"type": "wheel", "id": "wheel", "actions": [turn]}]})
        self.settle()

    def scheme(self, name):
        """What the system is said to prefer: `light` or `dark`."""
        feature = {"name": "prefers-color-scheme", "value": name}
        self.post("/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {"features": [feature]}})
        self.settle()

    def screenshot(self, path):
        path = pathlib.Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(self.call("GET", f"/session/{self.session}/screenshot")))
