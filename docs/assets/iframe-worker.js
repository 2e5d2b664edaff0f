// Browsers start no worker from a file. So that the search works in pages that were opened as files,
// a hidden frame does its work. The name is what the theme looks for.
if (location.protocol === "file:") {
  const load = (...urls) =>
    urls.reduce(
      (before, url) =>
        before.then(
          () =>
            new Promise((resolve, reject) => {
              const script = document.createElement("script")
              script.src = url
              script.onload = resolve
              script.onerror = () => reject(new Error(`${url} could not be loaded`))
              document.body.appendChild(script)
            }),
        ),
      Promise.resolve(),
    )
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super()
      this.onmessage = null
      const frame = document.createElement("iframe")
      frame.hidden = true
      frame.title = "search"
      document.body.appendChild(frame)
      this.inner = frame.contentWindow
      addEventListener("message", (event) => {
        if (event.source !== this.inner) return
        const message = new MessageEvent("message", { data: event.data })
        this.dispatchEvent(message)
        this.onmessage?.(message)
      })
      const page = this.inner.document
      page.open()
      page.write(
        "<!doctype html><html lang=en><title>search</title><body><script>" +
          `var IFrameWorker = parent.IFrameWorker; importScripts = ${load};` +
          "postMessage = (data) => parent.dispatchEvent(" +
          "new MessageEvent('message', { data, source: window }));" +
          "</script></body></html>",
      )
      page.close()
      const script = page.createElement("script")
      this.ready = new Promise((resolve, reject) => {
        script.onload = resolve
        script.onerror = reject
      })
      script.src = String(url)
      page.body.appendChild(script)
    }
    postMessage(data) {
      this.ready.then(() => this.inner.dispatchEvent(new MessageEvent("message", { data })))
    }
    terminate() {
      this.inner.frameElement.remove()
    }
  }
  window.Worker = window.IFrameWorker
}
