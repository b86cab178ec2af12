// An expression: where the parts of a page are, for page.py.
(() => {
    const box = name => {
        const found = document.querySelector(name).getBoundingClientRect()
        return { left: found.left, top: found.top + scrollY, width: found.width, height: found.height }
    }
    const texts = [...document.querySelectorAll("h1,h2,p,label,button,td,.row,input")]
    const canvas = document.getElementById("chart"), colors = new Set()
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data
    for (let i = 0; i < pixels.length; i += 4) colors.add(pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2])
    return {
        fits: document.documentElement.scrollWidth <= innerWidth,
        smallest: Math.min(...texts.map(element => parseFloat(getComputedStyle(element).fontSize))),
        order: ["h1", "#summary", "#why", "#search", "#chart", "#list", "#detail"].map(box),
        rows: document.querySelectorAll("#list .row").length,
        background: getComputedStyle(document.body).backgroundColor,
        painted: colors.size,
    }
})()
