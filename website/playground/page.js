// The page: what it shows is set as text, never as markup. Python runs in a worker.
const at = (id) => document.getElementById(id)
const waiting = new Map()
const edited = new Map() // rule files that differ from the packaged ones, by dialect
let known = [] // the dialects, with their units
let worker

function begin() {
  worker = new Worker("worker.js", { type: "module" })
  worker.onmessage = ({ data: { id, value, error } }) => {
    const { done, failed } = waiting.get(id)
    waiting.delete(id)
    error === undefined ? done(value) : failed(new Error(error))
  }
  worker.onerror = () =>
    say("Python cannot be loaded. Is this page read from the disk, or built without `make playground`?", true)
}

// A rule file may run long, and nothing else ends Python: another worker takes its place.
function stop() {
  if (!waiting.size) return say("Nothing is running.")
  worker.terminate()
  const left = [...waiting.values()]
  waiting.clear()
  begin()
  for (const { failed } of left) failed(new Error("Stopped. Python loads again, which takes some seconds."))
}

const ask = (name, ...given) =>
  new Promise((done, failed) => {
    const id = crypto.randomUUID()
    waiting.set(id, { done, failed })
    worker.postMessage({ id, name, given })
  })

function say(text, wrong = false) {
  at("status").textContent = text
  at("status").classList.toggle("wrong", wrong)
}

function options(select, names, chosen) {
  select.replaceChildren(...names.map((name) => new Option(name, name)))
  if (names.includes(chosen)) select.value = chosen
}

function row(body, cells, rule) {
  const made = document.createElement("tr")
  for (const text of cells) made.insertCell().textContent = text
  const cell = made.insertCell()
  if (rule) {
    const button = document.createElement("button")
    button.type = "button"
    button.textContent = rule
    button.onclick = () => open(rule)
    cell.append(button)
  }
  if (cells[0] === "error") made.cells[0].className = "error"
  body.append(made)
}

async function open(rule) {
  const [, name, line] = /([^/]+)\.yaml:(\d+)/.exec(rule) ?? []
  if (!known.some((one) => one.name === name)) return say(`${rule} is no file of a dialect.`)
  at("file").value = name
  await file()
  const lines = at("rule").value.split("\n")
  const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0)
  at("rule").focus()
  at("rule").setSelectionRange(start, start + lines[line - 1].length)
  at("rule").scrollTop = (at("rule").scrollHeight / lines.length) * Math.max(0, line - 8)
}

const file = async () => {
  const name = at("file").value
  at("rule").value = edited.get(name) ?? (await ask("rule", name))
}

function units() {
  const of = (name) => known.find((one) => one.name === name).units
  const shared = of(at("source").value).filter((unit) => of(at("target").value).includes(unit))
  options(at("unit"), shared, at("unit").value || "request")
}

async function sample() {
  const text = await ask("sample", at("source").value, at("unit").value)
  if (text === null) return say(`The rule file of ${at("source").value} has no example of this unit.`)
  at("payload").value = text
  say("An example of the rule file.")
}

async function convert() {
  say("Converting …")
  for (const id of ["result", "notes", "trace"]) at(id).replaceChildren()
  const told = await ask(
    "convert", at("payload").value, at("source").value, at("target").value, at("unit").value,
    Object.fromEntries(edited),
  )
  if (told.error) return say(told.error, true)
  at("result").textContent = told.body
  for (const { severity, code, effect, source, target, why, rule } of told.notes)
    row(at("notes"), [severity, code, effect, source, target, why], rule)
  for (const { target, sources, rule } of told.trace) row(at("trace"), [target, sources], rule)
  const count = told.notes.length
  const rules = edited.size ? `, with your ${[...edited.keys()].join(", ")}` : ""
  say(`Converted${rules}: ${count} ${count === 1 ? "note" : "notes"}.`)
}

const tried = (work) => async (event) => {
  event?.preventDefault()
  try {
    await work()
  } catch (error) {
    say(String(error.message ?? error), true)
  }
}

at("form").onsubmit = tried(convert)
at("payload").onkeydown = (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) tried(convert)(event)
}
at("source").onchange = at("target").onchange = tried(async () => {
  units()
  options(at("file"), [...new Set([at("source").value, at("target").value])], at("file").value)
  await file()
})
at("stop").onclick = stop
document.onkeydown = (event) => {
  if (event.key === "Escape" && known.length && waiting.size) stop()
}
at("sample").onclick = tried(sample)
at("file").onchange = tried(file)
at("rerun").onclick = tried(async () => {
  const name = at("file").value
  const same = at("rule").value === (await ask("rule", name))
  same ? edited.delete(name) : edited.set(name, at("rule").value)
  await convert()
})
at("reset").onclick = tried(async () => {
  edited.delete(at("file").value)
  await file()
  await convert()
})

begin()
tried(async () => {
  known = await ask("dialects")
  const names = known.map((one) => one.name)
  options(at("source"), names, "openai-chat")
  options(at("target"), names, "anthropic")
  units()
  options(at("file"), [at("source").value, at("target").value], at("target").value)
  await file()
  await sample()
  for (const one of document.querySelectorAll("select, button")) one.disabled = false
  say("Ready.")
})()
