/// A timeline as one HTML file that needs no network.
///
/// The events are JSON in a script element, and every character in them that could end the element is escaped. The
/// page's own script puts texts into elements as text, never as HTML. A content security policy forbids everything that
/// would have to be loaded.
package struct ExplainPage {
    private var timeline: Timeline
    private let title: String
    private let isLive: Bool

    /// Creates a page.
    package init(_ timeline: Timeline, title: String) {
        self.timeline = timeline
        self.title = title
        isLive = false
    }

    /// Creates a page without events, for a server that sends them as parts: see ``LivePage``.
    ///
    /// The page connects only to its own server. It receives server-sent events from `events`, and posts commands to
    /// `commands`, both in the folder of its own address. `isWorld` is true if times count from the beginning of a
    /// world.
    package init(liveWithTitle title: String, isWorld: Bool) {
        timeline = Timeline()
        timeline.isWorld = isWorld
        self.title = title
        isLive = true
    }

    /// The page as the contents of an HTML file.
    package var html: String {
        let style = String(decoding: PackageResources.page_css, as: UTF8.self)
        let script = String(decoding: PackageResources.page_js, as: UTF8.self)
        let live = isLive ? String(decoding: PackageResources.live_js, as: UTF8.self) : ""
        return """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; \
            style-src 'unsafe-inline'; img-src data:\(isLive ? "; connect-src 'self'" : "")">
            <title>\(PageText.escaped(title))</title><style>\(style)</style></head>
            <body><noscript>This page needs JavaScript.</noscript><main id="page"></main>
            <script type="application/json" id="data">\(data)</script>
            <script type="module">\(script)\(live)</script></body></html>

            """
    }

    private var data: String {
        var encoder = EventEncoder(), rows: [String] = []
        rows.reserveCapacity(timeline.events.count)
        let start = timeline.start
        for event in timeline.events { rows.append(encoder.row(event, from: start)) }
        return """
            {"title":\(PageText.quoted(title)),"start":\(timeline.isWorld ? 0 : start / 1_000_000),\
            "isWorld":\(timeline.isWorld),"isLive":\(isLive),"omitted":\(timeline.omitted),
            "remarks":\(PageText.list(timeline.remarks.map(PageText.quoted))),
            "tracks":\(PageText.list(Timeline.Track.allCases.map { PageText.quoted($0.name) })),
            "sources":\(PageText.list(timeline.sources.map(PageText.quoted))),
            "findings":\(PageText.list(FailureRule.findings(in: timeline).map(PageText.object))),
            "series":\(PageText.list(timeline.series.map { PageText.object($0, $0.points[...], from: start) })),
            "shapes":\(PageText.list(encoder.shapes)),
            "strings":\(PageText.list(encoder.strings.map(PageText.quoted))),
            "events":\(PageText.list(rows))}
            """
    }
}
