// An expression: the time that a page takes to load, paint and search, for page.py.
(async () => {
    const frame = () => new Promise(done => requestAnimationFrame(done)), times = []
    for (let turn = 0; turn < 20; turn++) {
        explain.zoom(turn < 10 ? .7 : 1.4, .5)
        explain.paint()
        times.push(explain.state.paint)
        await frame()
    }
    const search = document.getElementById("search"), began = performance.now()
    search.value = "write"
    search.dispatchEvent(new Event("input"))
    return {
        load: explain.state.load,
        paint: times.sort((a, b) => a - b)[10],
        search: performance.now() - began,
        events: explain.data.events.length,
    }
})()
