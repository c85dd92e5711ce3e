// The search runs in a worker, and browsers start none for a page that is read from the disk. There
// a hidden frame does its work: the same script, the same messages.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(address) {
      super()
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      this.frame.title = "Search"
      document.body.append(this.frame)
      const inside = this.frame.contentWindow
      const load = (from) => new Promise((done, fail) => {
        const script = inside.document.createElement("script")
        script.onload = done
        script.onerror = fail
        script.src = new URL(from, location.href).href
        inside.document.body.append(script)
      })
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }))
      inside.importScripts = (...all) =>
        all.reduce((before, one) => before.then(() => load(one)), Promise.resolve())
      this.ready = load(address)
    }

    postMessage(data) {
      const inside = this.frame.contentWindow
      this.ready.then(() => inside.dispatchEvent(new inside.MessageEvent("message", { data })))
    }

    terminate() {
      this.frame.remove()
    }
  }
  window.Worker = window.IFrameWorker
}
