// Runs wireglot on Pyodide. All files are of this folder.
import { loadPyodide } from "./pyodide/pyodide.mjs"

const fetched = async (name) => {
  const came = await fetch(new URL(name, import.meta.url))
  if (!came.ok) throw new Error(`${name}: ${came.status}`)
  return came.arrayBuffer()
}

const ready = (async () => {
  const [python, code] = await Promise.all([
    loadPyodide({ indexURL: new URL("pyodide/", import.meta.url).href }),
    fetched("wireglot.zip"),
  ])
  python.unpackArchive(code, "zip", { extractDir: "/wireglot" })
  python.runPython("import sys; sys.path.insert(0, '/wireglot')")
  return python.pyimport("playground")
})()

onmessage = async ({ data: { id, name, given } }) => {
  try {
    const module = await ready
    postMessage({ id, value: JSON.parse(module.call(name, JSON.stringify(given))) })
  } catch (error) {
    postMessage({ id, error: String(error.message ?? error) })
  }
}
