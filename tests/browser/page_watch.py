"""What a page says and does that it should not."""

from urllib.parse import urlsplit


class Watch:
    """What a page says and does that it should not, until it is told to stop."""

    def __init__(self, page):
        self.errors, self.requests = [], []
        self._page = page
        self._heard = {
            "console": self._console,
            "pageerror": self._error,
            "dialog": self._dialog,
            "request": self._request,
        }
        for event, hear in self._heard.items():
            page.on(event, hear)

    def stop(self):
        for event, hear in self._heard.items():
            self._page.remove_listener(event, hear)

    def _error(self, error):
        self.errors.append(f"error: {error}")

    def _request(self, request):
        self.requests.append(request.url)

    def _console(self, message):
        if message.type in ("error", "warning"):
            self.errors.append(f"{message.type}: {message.text}")

    def _dialog(self, dialog):
        self.errors.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def beyond(self, path):
        """Return the requests for anything but the file."""
        inside = ("data", "blob")
        return [
            url
            for url in self.requests
            if urlsplit(url).scheme not in inside and urlsplit(url).path != str(path)
        ]
