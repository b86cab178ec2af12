const begun = performance.now()
const data = JSON.parse(document.getElementById("data").textContent)
const { events, strings, shapes, tracks, sources, series } = data
const [TIME, TRACK, SOURCE, TITLE, DETAIL, LEVEL, GROUP, PACKET, OCTETS, LAYERS] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
const page = document.getElementById("page")

// Texts come from the air: they only ever become text nodes.
function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag)
    for (const [name, value] of Object.entries(attributes)) {
        if (name.startsWith("on")) element.addEventListener(name.slice(2), value)
        else element.setAttribute(name, value)
    }
    element.append(...children)
    return element
}

const title = event => strings[event[TITLE]]
const detail = event => strings[event[DETAIL]]
const seconds = ns => (ns / 1e9).toFixed(6)
let first = 0, last = 1
const state = { from: 0, to: 1000, selected: -1, query: "", hidden: new Set(), shown: [], follows: data.isLive }
const byGroup = new Map(), texts = []

// One row of the chart for each track and source that have events, and one plot for each unit.
const rows = new Map()
let used = [], units = []

// Enters the events from an index on into the tables above.
function enter(from) {
    for (let index = from; index < events.length; index++) {
        const event = events[index], key = event[TRACK] * 1000 + event[SOURCE]
        texts.push(`${title(event)} ${detail(event)} ${sources[event[SOURCE]]}`.toLowerCase())
        if (event[GROUP]) byGroup.has(event[GROUP]) ? byGroup.get(event[GROUP]).push(index) : byGroup.set(event[GROUP], [index])
        if (!rows.has(key)) rows.set(key, { key, track: event[TRACK], source: event[SOURCE], events: [] })
        const list = rows.get(key).events
        let place = list.push(index) - 1
        for (; place > 0 && events[list[place - 1]][TIME] > event[TIME]; place--) list[place] = list[place - 1]
        list[place] = index
    }
    used = [...rows.values()].sort((one, other) => one.key - other.key)
    units = [...new Set(series.map(s => s.unit))]
    first = events.length ? Math.min(events[0][TIME], ...series.map(s => s.points.length ? s.points[0][0] : Infinity)) : 0
    last = events.length ? events[events.length - 1][TIME] : 1
}
enter(0);
[state.from, state.to] = [first, Math.max(last, first + 1000)]

const status = make("span", { role: "status", id: "status", class: "dim" })
const search = make("input", { type: "search", id: "search", placeholder: "Search: write, 2A37, error …", "aria-label": "Search events", oninput: () => { state.query = search.value.trim().toLowerCase(); filter() } })
const filters = tracks.map((name, track) => {
    const box = make("input", { type: "checkbox", onchange: () => { box.checked ? state.hidden.delete(track) : state.hidden.add(track); filter() } })
    box.checked = true
    return make("label", {}, box, " " + name)
})
const follow = make("input", { type: "checkbox", onchange: () => { state.follows = follow.checked; follow.checked && catchUp() } })
follow.checked = state.follows
const chart = make("canvas", { id: "chart", role: "img", tabindex: "0", "aria-label": "Events over time. Arrow keys move, plus and minus zoom; the list below has the same events." })
const list = make("div", { id: "list", role: "listbox", tabindex: "0", "aria-label": "Events" })
const panel = make("section", { id: "detail", "aria-label": "Selected event", "aria-live": "polite" })
const why = make("section", { id: "why" })
const summary = make("p", { class: "dim", id: "summary" }), remarks = make("div")
page.append(make("h1", {}, data.title), summary, remarks, why,
    make("div", { class: "bar" }, search, ...filters, data.isLive ? make("label", {}, follow, " Follow") : "",
        make("button", { onclick: () => zoom(.5, .5) }, "Zoom in"), make("button", { onclick: () => zoom(2, .5) }, "Zoom out"),
        make("button", { onclick: () => { [state.from, state.to] = [first, Math.max(last, first + 1000)]; draw() } }, "All"), status),
    chart, make("div", { class: "split" }, list, panel))

// Shows the number of events, the remarks, and the tracks that have events.
function summarize() {
    const start = data.isWorld ? "a simulated world" : new Date(data.start).toISOString()
    summary.textContent = `${events.length} events of ${sources.join(", ") || "nothing"} in ${seconds(Math.max(0, last - first))} s, from ${start}.` + (data.omitted ? ` ${data.omitted} more were left out.` : "")
    remarks.replaceChildren(...data.remarks.map(text => make("p", { class: "dim" }, text)))
    filters.forEach((label, track) => label.hidden = !used.some(row => row.track === track))
}
// Shows the causes of failures.
function explainFailures() {
    why.replaceChildren(make("h2", {}, data.findings.length ? "Why did this fail?" : "No failures found"))
    if (data.findings.length) why.append(make("ol", {}, ...data.findings.map(finding => make("li", { "data-rule": finding.rule }, ...finding.parts.flatMap(([text, event]) =>
        event < 0 ? [text + " "] : [text + " ", make("button", { onclick: () => select(event, true), "aria-label": "Show event at " + seconds(events[event][TIME]) }, "show"), " "])))))
}
summarize()
explainFailures()

// The chart.
const rowHeight = 22, plotHeight = 90, axis = 22
let gutter = 150
function color(name) { return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim() }
let scheduled = false
function draw() { if (!scheduled) { scheduled = true; requestAnimationFrame(paint) } }
function visibleRows() { return used.filter(row => !state.hidden.has(row.track)) }
function lowerBound(list, time) {
    let low = 0, high = list.length
    while (low < high) { const middle = (low + high) >> 1; events[list[middle]][TIME] < time ? low = middle + 1 : high = middle }
    return low
}
const x = time => gutter + (time - state.from) / (state.to - state.from) * (chart.clientWidth - gutter - 8)
function paint() {
    scheduled = false
    const began = performance.now(), width = chart.clientWidth, lines = visibleRows(), ratio = devicePixelRatio || 1
    gutter = width < 500 ? 96 : 170
    const height = axis + lines.length * rowHeight + units.length * plotHeight
    chart.style.height = height + "px"
    chart.width = width * ratio; chart.height = height * ratio
    const c = chart.getContext("2d")
    c.scale(ratio, ratio)
    c.font = "12px system-ui, sans-serif"; c.textBaseline = "middle"
    const colors = [0, 1, 2, 3, 4].map(color), fg = color("fg"), dim = color("dim"), line = color("line"), mark = color("mark")
    const span = state.to - state.from, step = 10 ** Math.floor(Math.log10(span / Math.max(1, (width - gutter) / 90))) * [1, 2, 5, 10].find(f => 10 ** Math.floor(Math.log10(span / Math.max(1, (width - gutter) / 90))) * f >= span / Math.max(1, (width - gutter) / 90))
    c.fillStyle = dim
    const digits = Math.min(9, Math.max(0, Math.ceil(9 - Math.log10(step))))
    for (let t = Math.ceil(state.from / step) * step; t <= state.to; t += step) {
        c.fillText((t / 1e9).toFixed(digits) + " s", x(t) + 3, axis / 2)
        c.fillStyle = line; c.fillRect(x(t), 0, 1, height); c.fillStyle = dim
    }
    const matches = state.query ? new Set(state.shown) : null
    const group = state.selected >= 0 ? events[state.selected][GROUP] : 0
    lines.forEach((row, place) => {
        const top = axis + place * rowHeight
        c.fillStyle = line; c.fillRect(0, top, width, 1)
        let until = -1
        for (let i = lowerBound(row.events, state.from); i < row.events.length; i++) {
            const index = row.events[i], event = events[index]
            if (event[TIME] > state.to) break
            const at = Math.round(x(event[TIME])), isRelated = index === state.selected || group && event[GROUP] === group
            if (at <= until && !isRelated && event[LEVEL] < 4) continue
            until = at
            if (isRelated) { c.fillStyle = mark; c.fillRect(at - 4, top + 1, 11, rowHeight - 2) }
            c.globalAlpha = matches && !matches.has(index) ? .15 : 1
            c.fillStyle = colors[event[LEVEL]]
            c.fillRect(at, top + 4, event[LEVEL] === 4 ? 4 : 3, rowHeight - 8)
            c.globalAlpha = 1
            const next = i + 1 < row.events.length ? x(events[row.events[i + 1]][TIME]) : width
            if (next - at > 60) { c.save(); c.beginPath(); c.rect(at + 6, top, next - at - 10, rowHeight); c.clip(); c.fillStyle = fg; c.fillText(title(event), at + 6, top + rowHeight / 2); c.restore() }
        }
        c.fillStyle = color("bg"); c.fillRect(0, top + 1, gutter - 2, rowHeight - 1)
        c.fillStyle = fg
        c.fillText(`${tracks[row.track]}${sources.length > 1 ? " · " + sources[row.source] : ""}`.slice(0, width < 500 ? 14 : 26), 4, top + rowHeight / 2)
    })
    units.forEach((unit, place) => {
        const top = axis + lines.length * rowHeight + place * plotHeight, all = series.filter(s => s.unit === unit)
        let low = Infinity, high = -Infinity
        for (const s of all) for (const p of s.points) { low = Math.min(low, p[1]); high = Math.max(high, p[1]) }
        if (high - low < 1) high = low + 1
        all.forEach((s, number) => {
            c.strokeStyle = c.fillStyle = `hsl(${number * 67 % 360} 60% 50%)`
            c.beginPath()
            let previous = -9
            for (const [t, v] of s.points) {
                const at = x(t)
                if (at < gutter || at > width || at - previous < 1) continue
                previous = at
                const y = top + plotHeight - 8 - (v - low) / (high - low) * (plotHeight - 16)
                c.lineTo(at, y); c.fillRect(at - 1, y - 1, 2, 2)
            }
            c.stroke()
            c.fillText(s.name.slice(0, 40), gutter + 8 + (number % 2) * 260, top + 10 + Math.floor(number / 2) * 13)
        })
        c.fillStyle = dim; c.fillText(`${unit === "m" ? "Distance" : "RSSI"}, ${unit}`, 4, top + 12)
        c.fillText(high.toFixed(0), gutter - 30, top + 10); c.fillText(low.toFixed(0), gutter - 30, top + plotHeight - 10)
    })
    state.paint = performance.now() - began
}
function zoom(factor, at) {
    const span = Math.min(Math.max((state.to - state.from) * factor, 1000), Math.max(last - first, 1000) * 1.1), pivot = state.from + (state.to - state.from) * at
    state.from = pivot - span * at; state.to = state.from + span
    draw()
}
function stay() { state.follows = follow.checked = false }
function pan(share) { stay(); const by = (state.to - state.from) * share; state.from += by; state.to += by; draw() }
const share = event => Math.min(1, Math.max(0, (event.clientX - chart.getBoundingClientRect().left - gutter) / Math.max(1, chart.clientWidth - gutter)))
chart.addEventListener("wheel", event => { event.preventDefault(); Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey ? pan((event.deltaX || event.deltaY) / 800) : zoom(Math.exp(event.deltaY / 400), share(event)) }, { passive: false })
const touches = new Map()
let moved = 0
chart.addEventListener("pointerdown", event => { touches.set(event.pointerId, event); moved = 0; chart.setPointerCapture(event.pointerId) })
chart.addEventListener("pointermove", event => {
    const before = touches.get(event.pointerId)
    if (!before) return
    const width = Math.max(1, chart.clientWidth - gutter)
    if (touches.size === 1) { moved += Math.abs(event.clientX - before.clientX); pan(-(event.clientX - before.clientX) / width) }
    else {
        const other = [...touches.values()].find(touch => touch.pointerId !== event.pointerId)
        const gap = touch => Math.max(10, Math.abs(touch.clientX - other.clientX))
        moved = 99; zoom(gap(before) / gap(event), share(other))
    }
    touches.set(event.pointerId, event)
})
chart.addEventListener("pointerup", event => { touches.delete(event.pointerId); if (moved < 5) pick(event) })
chart.addEventListener("pointercancel", event => touches.delete(event.pointerId))
chart.addEventListener("keydown", event => {
    const keys = { ArrowLeft: () => pan(-.1), ArrowRight: () => pan(.1), "+": () => zoom(.5, .5), "-": () => zoom(2, .5), "0": () => { [state.from, state.to] = [first, last]; draw() } }
    if (keys[event.key]) { event.preventDefault(); keys[event.key]() }
})
function pick(event) {
    const box = chart.getBoundingClientRect(), row = visibleRows()[Math.floor((event.clientY - box.top - axis) / rowHeight)]
    if (!row) return
    const time = state.from + (event.clientX - box.left - gutter) / (chart.clientWidth - gutter - 8) * (state.to - state.from)
    const i = lowerBound(row.events, time), near = [row.events[i - 1], row.events[i]].filter(n => n !== undefined)
    near.sort((a, b) => Math.abs(events[a][TIME] - time) - Math.abs(events[b][TIME] - time))
    if (near.length && Math.abs(x(events[near[0]][TIME]) - (event.clientX - box.left)) < 12) select(near[0])
}

// The list, of which only the visible part has elements.
const lineHeight = 24
const filler = make("div")
list.append(filler)
function filter() {
    state.shown = []
    showFrom(0)
}
// Adds the events from an index on to the list, as far as the search and the filters allow.
function showFrom(from) {
    for (let i = from; i < events.length; i++) if (!state.hidden.has(events[i][TRACK]) && (!state.query || texts[i].includes(state.query))) state.shown.push(i)
    status.textContent = `${state.shown.length} of ${events.length} events`
    filler.style.height = state.shown.length * lineHeight + "px"
    fill(); draw()
}
// Moves the chart and the list to the newest events.
function catchUp() {
    const span = Math.min(Math.max(state.to - state.from, 3e9), 30e9)
    state.to = Math.max(last, first + span); state.from = state.to - span
    list.scrollTop = list.scrollHeight
    draw()
}
// Adds a part that a server has sent; see LivePage.
function append(part) {
    if (part.reset) {
        for (const table of [events, strings, shapes, sources, series, texts, state.shown]) table.length = 0
        for (const table of [rows, byGroup]) table.clear()
        state.selected = -1
        data.findings = []
        panel.replaceChildren()
    }
    const from = events.length
    for (const name of ["strings", "shapes", "sources", "events"]) for (const item of part[name]) data[name].push(item)
    part.series.forEach((more, i) => series[i] ? series[i].points.push(...more.points) : series.push(more));
    [data.start, data.omitted, data.remarks] = [part.start, part.omitted, part.remarks]
    enter(from)
    if (part.findings) data.findings = part.findings
    if (part.findings || part.reset) explainFailures()
    summarize()
    showFrom(from)
    if (state.follows) catchUp()
}
function fill() {
    for (const row of list.querySelectorAll(".row")) row.remove()
    const from = Math.max(0, Math.floor(list.scrollTop / lineHeight) - 5), to = Math.min(state.shown.length, from + Math.ceil(list.clientHeight / lineHeight) + 10)
    const group = state.selected >= 0 ? events[state.selected][GROUP] : 0
    for (let place = from; place < to; place++) {
        const index = state.shown[place], event = events[index], isOn = index === state.selected
        list.append(make("div", { class: `row l${event[LEVEL]}${isOn ? " on" : group && event[GROUP] === group ? " rel" : ""}`, id: "e" + index, role: "option", "aria-selected": isOn, "aria-setsize": state.shown.length, "aria-posinset": place + 1, style: `top:${place * lineHeight}px`, onclick: () => select(index) },
            make("time", {}, seconds(event[TIME])), ` ${sources[event[SOURCE]]} · ${tracks[event[TRACK]]} · ${title(event)} ${detail(event)}`))
    }
    list.setAttribute("aria-activedescendant", state.selected >= 0 ? "e" + state.selected : "")
}
list.addEventListener("scroll", fill)
list.addEventListener("keydown", event => {
    const at = state.shown.indexOf(state.selected), to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: state.shown.length - 1, PageDown: at + 10, PageUp: at - 10 }[event.key]
    if (to === undefined || !state.shown.length) return
    event.preventDefault(); select(state.shown[Math.min(state.shown.length - 1, Math.max(0, to))])
})
function select(index, moves) {
    state.selected = index
    const event = events[index], place = state.shown.indexOf(index)
    if (place >= 0 && (place * lineHeight < list.scrollTop || (place + 1) * lineHeight > list.scrollTop + list.clientHeight)) list.scrollTop = Math.max(0, place * lineHeight - list.clientHeight / 2)
    stay()
    if (moves || event[TIME] < state.from || event[TIME] > state.to) { const span = Math.min(state.to - state.from, 2e9); state.from = event[TIME] - span / 2; state.to = state.from + span }
    show(index); fill(); draw()
}
function show(index) {
    const event = events[index], packet = event[PACKET] >= 0 ? events[event[PACKET]] : event
    const related = (byGroup.get(event[GROUP]) || []).filter(other => other !== index)
    panel.replaceChildren(make("h2", {}, title(event)), make("p", {}, detail(event)), make("p", { class: "dim" }, `${seconds(event[TIME])} s · ${tracks[event[TRACK]]} · ${sources[event[SOURCE]]}`))
    for (const layer of packet.slice(LAYERS)) {
        const [name, , fields] = shapes[layer[0]]
        panel.append(make("h2", {}, strings[name]), make("table", {}, make("tbody", {}, ...fields.map(([field, from, to], i) => make("tr", { class: "field" }, make("td", {}, strings[field]), make("td", {}, strings[layer[i + 1]]), make("td", { class: "dim" }, `${from}–${to}`))))))
    }
    if (packet[OCTETS]) panel.append(make("h2", {}, "Octets"), make("code", { id: "octets" }, packet[OCTETS].replace(/../g, "$& ")))
    if (related.length) panel.append(make("h2", {}, "Related events"), ...related.slice(0, 50).map(other => make("p", {}, make("button", { class: "related", onclick: () => select(other, true) }, `${seconds(events[other][TIME])} ${tracks[events[other][TRACK]]}: ${title(events[other])} ${detail(events[other])}`.slice(0, 120)))))
}
new ResizeObserver(() => { draw(); fill() }).observe(page)
filter()
paint()
state.load = performance.now() - begun
globalThis.explain = { data, state, select, zoom, pan, paint, append }
document.documentElement.dataset.ready = "yes"
