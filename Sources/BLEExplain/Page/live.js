
// The live part of the page: devices, their attributes, and the apps of a daemon. It follows page.js in one script.
const devices = new Map(), typeNames = new Map(), waiting = new Map()
const ownNumber = Array.from(crypto.getRandomValues(new Uint8Array(8)), octet => octet.toString(16).padStart(2, "0")).join("")
const plotSpan = 60e3, mostPoints = 240
let asked = 0, isScanning = false

const liveStatus = make("p", { role: "status", id: "live-status" }, "Connecting to ble explore …")
const scanButton = make("button", { id: "scan", onclick: () => toggleScan() }, "Start scan")
const deviceSearch = make("input", { type: "search", id: "device-search", placeholder: "Name, address or service …", "aria-label": "Search devices", oninput: () => devices.forEach(hideUnlessFound) })
const deviceRows = make("tbody", { id: "devices" })
const trees = make("div", { id: "trees" })
const appRows = make("tbody", { id: "apps" })
const apps = make("section", { hidden: "" }, make("h2", {}, "Apps of the daemon"), make("table", {}, head("Program", "Process", "Role", "State", "Radio", "Uses", "Devices"), appRows))
why.before(make("section", { id: "live" }, liveStatus,
    make("h2", {}, "Devices"), make("div", { class: "tools" }, scanButton, deviceSearch),
    make("table", { "aria-label": "Devices" }, head("Name", "Address", "RSSI", "Last minute", "Services", ""), deviceRows), trees, apps))

function head(...titles) { return make("thead", {}, make("tr", {}, ...titles.map(text => make("th", { scope: "col" }, text)))) }
function say(text, isBad) { liveStatus.textContent = text; liveStatus.className = isBad ? "l4" : "dim" }
const typeName = uuid => typeNames.get(uuid) || uuid

// Sends a command of a session, and returns the line that answers it.
async function ask(command, keys = {}) {
    const id = ownNumber + "-" + ++asked
    const answer = new Promise((done, fail) => waiting.set(id, { done, fail }))
    answer.catch(() => {})
    try {
        const response = await fetch("commands", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ id, command, ...keys }) })
        if (!response.ok) throw new Error(await response.text())
        return await answer
    } finally {
        waiting.delete(id)
    }
}
// Runs the work of a button, which is disabled meanwhile, and shows its error in `place`.
async function attempt(button, place, work) {
    button.disabled = true
    try {
        place.textContent = ""
        await work()
    } catch (error) {
        place.textContent = error.message
        place.className = "l4"
    } finally {
        button.disabled = false
    }
}
async function toggleScan() {
    await attempt(scanButton, liveStatus, async () => {
        await ask(isScanning ? "stop" : "scan", isScanning ? {} : { duplicates: true })
    })
}
function showScan(on) {
    isScanning = on
    scanButton.textContent = on ? "Stop scan" : "Start scan"
}

// Devices.
function deviceOf(line) {
    let device = devices.get(line.identifier)
    if (device) return device
    device = { identifier: line.identifier, points: [], services: [], subscribed: new Set(), values: new Map(), isConnected: false }
    device.error = make("span", { role: "status" })
    device.button = make("button", { onclick: () => attempt(device.button, device.error, () => device.isConnected ? ask("disconnect", { device: device.identifier }) : ask("connect", { device: device.identifier })) }, "Connect")
    device.plot = make("canvas", { class: "plot", width: "160", height: "28", role: "img" })
    device.cells = [make("td"), make("td", { class: "dim" }), make("td"), make("td", {}, device.plot), make("td", { class: "dim" }), make("td", {}, device.button, " ", device.error)]
    device.row = make("tr", { "data-device": line.identifier }, ...device.cells)
    devices.set(line.identifier, device)
    deviceRows.append(device.row)
    return device
}
function hideUnlessFound(device) {
    const text = `${device.name} ${device.address} ${device.identifier} ${device.services.map(typeName).join(" ")} ${device.services.join(" ")}`.toLowerCase()
    device.row.hidden = !text.includes(deviceSearch.value.trim().toLowerCase())
}
function update(line) {
    const device = deviceOf(line)
    if (line.name) device.name = line.name
    if (line.address) device.address = line.address
    if (line.event === "discovered" || line.command === "rssi") {
        if (line.services) device.services = line.services
        if (line.rssi < 20) device.points.push([Date.now(), line.rssi])
        if (device.points.length > mostPoints) device.points.shift()
    }
    const latest = device.points[device.points.length - 1]
    const texts = [device.name || "(no name)", device.address || device.identifier, latest ? latest[1] + " dBm" : "", null, device.services.map(typeName).join(", ")]
    texts.forEach((text, i) => { if (text !== null && device.cells[i].textContent !== text) device.cells[i].textContent = text })
    device.button.textContent = device.isConnected ? "Disconnect" : "Connect"
    device.button.setAttribute("aria-label", `${device.button.textContent} ${device.name || device.identifier}`)
    plot(device)
    hideUnlessFound(device)
    return device
}
function plot(device) {
    const c = device.plot.getContext("2d"), now = Date.now(), { width, height } = device.plot
    c.clearRect(0, 0, width, height)
    c.strokeStyle = color("1"); c.lineWidth = 1.5
    c.beginPath()
    for (const [time, rssi] of device.points) c.lineTo(width - (now - time) / plotSpan * width, height - 2 - (Math.min(-30, Math.max(-100, rssi)) + 100) / 70 * (height - 4))
    c.stroke()
    const strengths = device.points.map(point => point[1])
    device.plot.setAttribute("aria-label", strengths.length ? `RSSI from ${Math.min(...strengths)} to ${Math.max(...strengths)} dBm` : "No RSSI")
}

// Attributes.
async function explore(device) {
    const { services } = await ask("discover", { device: device.identifier })
    device.tree?.remove()
    device.values.clear()
    device.tree = make("section", { class: "tree", "aria-label": `Attributes of ${device.name || device.identifier}` }, make("h2", {}, `Attributes of ${device.name || device.identifier}`),
        ...services.map(service => make("details", { open: "" }, make("summary", {}, typeName(service.uuid), make("span", { class: "dim" }, ` ${service.uuid}`)),
            make("table", {}, make("tbody", {}, ...service.characteristics.flatMap(one => [attribute(device, one, one.properties), ...one.descriptors.map(other => attribute(device, other, ["read"]))]))))))
    trees.append(device.tree)
}
// Returns the row of a characteristic, or of a descriptor, which has no properties of its own.
function attribute(device, one, properties) {
    const name = typeName(one.uuid), target = { device: device.identifier, handle: one.handle }
    const value = make("td", { class: "value" }), error = make("span", { role: "status" }), cell = make("td", {})
    const show = line => {
        value.replaceChildren(line.reading ?? line.text ?? "", make("code", {}, ` ${(line.value || "").replace(/../g, "$& ")}`), line.count ? make("span", { class: "dim" }, ` (${line.count} received)`) : "")
    }
    device.values.set(one.handle, { show, count: 0 })
    const button = (word, work) => {
        const made = make("button", { "aria-label": `${word} ${name}`, onclick: () => attempt(made, error, () => work(made)) }, word)
        cell.append(made, " ")
        return made
    }
    if (properties.includes("read")) button("Read", async () => show(await ask("read", target)))
    if (properties.includes("notify") || properties.includes("indicate")) {
        const word = () => device.subscribed.has(one.handle) ? "Unsubscribe" : "Subscribe"
        const made = button(word(), async () => {
            await ask(word().toLowerCase(), target)
        })
        device.values.get(one.handle).subscribed = on => {
            on ? device.subscribed.add(one.handle) : device.subscribed.delete(one.handle)
            made.textContent = word()
            made.setAttribute("aria-label", `${word()} ${name}`)
        }
    }
    if (properties.some(property => property.startsWith("write"))) {
        const field = make("input", { size: "12", placeholder: "hexadecimal", "aria-label": `Value for ${name}` })
        const kind = make("input", { type: "checkbox" })
        cell.append(field, make("label", {}, kind, " text "))
        button("Write", async () => {
            const octets = kind.checked ? Array.from(new TextEncoder().encode(field.value), octet => octet.toString(16).padStart(2, "0")).join("") : field.value.replace(/\s/g, "")
            await ask("write", { ...target, value: octets, response: properties.includes("write") })
            error.textContent = "written"
            error.className = "l2"
        })
    }
    cell.append(error)
    return make("tr", { "data-type": one.uuid, "data-handle": one.handle, class: properties === one.properties ? "" : "descriptor" }, make("td", {}, name), make("td", { class: "dim" }, properties === one.properties ? properties.join(", ") : "descriptor"), value, cell)
}

// Lines of the session: answers to commands of any page, and events.
function receive(line) {
    const waiter = waiting.get(line.id), device = devices.get(line.identifier)
    if (line.event === "done" && line.command === "scan") showScan(true)
    if (line.event === "done" && line.command === "stop") showScan(false)
    if (line.event === "discovered" || line.command === "rssi" && line.event === "done") update(line)
    if (line.event === "connected") {
        const found = deviceOf(line)
        found.isConnected = true
        update(line)
        attempt(found.button, found.error, () => explore(found))
    }
    if (device && (line.event === "disconnected" || line.event === "done" && line.command === "disconnect")) {
        device.isConnected = false
        device.subscribed.clear()
        device.tree?.remove()
        update(line)
        device.error.className = "dim"
        device.error.textContent = line.reason || ""
    }
    const shown = device?.values.get(line.handle)
    if (shown && line.event === "received") { shown.count++; shown.show({ ...line, count: shown.count }) }
    if (shown && line.event === "done" && line.command === "subscribe") { shown.count = 0; shown.subscribed?.(true) }
    if (shown && (line.event === "unsubscribed" || line.event === "done" && line.command === "unsubscribe")) shown.subscribed?.(false)
    if (device && line.event === "services_changed" && device.tree?.isConnected) attempt(device.button, device.error, () => explore(device))
    if (line.event === "radio_lost") say("The radio was lost.", true)
    if (line.event === "radio_returned") say("The radio is back.")
    if (line.event === "ended") { source.close(); say("ble explore has ended.", true) }
    if (waiter) line.event === "failed" ? waiter.fail(new Error(line.error)) : waiter.done(line)
}

const source = new EventSource("events")
const on = (name, work) => source.addEventListener(name, message => work(JSON.parse(message.data)))
on("hello", hello => {
    for (const table of [devices, waiting]) table.clear()
    for (const element of [deviceRows, trees, appRows]) element.replaceChildren()
    showScan(hello.isScanning)
    say("")
    liveStatus.dataset.ready = "yes"
})
on("line", receive)
on("part", append)
on("names", names => { for (const [uuid, name] of Object.entries(names)) typeNames.set(uuid, name) })
on("lost", lost => say(`This browser was too slow: it missed ${lost.count} messages. Reload the page.`, true))
on("apps", list => {
    apps.hidden = !list.length
    appRows.replaceChildren(...list.map(app => make("tr", {}, ...[app.program || "", app.process ?? "kept", app.role, app.phase, app.radio, [app.scans && "scans", app.advertises && "advertises"].filter(Boolean).join(", "), (app.links || []).length].map(text => make("td", {}, String(text))))))
})
source.onerror = () => say("The connection to ble explore was lost. Reconnecting …", true)
