import BLEWire

/// A timeline as one HTML file that needs no network.
///
/// The events are JSON in a script element, and every character in them that could end the element is escaped. The
/// page's own script puts texts into elements as text, never as HTML. A content security policy forbids everything that
/// would have to be loaded.
package struct ExplainPage {
    private let timeline: Timeline
    private let title: String
    private var strings: [String] = []
    private var indices: [String: Int] = [:]
    private var shapes: [String] = []
    private var shapeIndices: [String: Int] = [:]

    /// Creates a page.
    package init(_ timeline: Timeline, title: String) {
        self.timeline = timeline
        self.title = title
    }

    /// The text of the HTML file.
    package var html: String {
        var page = self
        let data = page.data()
        let style = String(decoding: PackageResources.page_css, as: UTF8.self)
        let script = String(decoding: PackageResources.page_js, as: UTF8.self)
        return """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; \
            style-src 'unsafe-inline'; img-src data:">
            <title>\(Self.escaped(title))</title><style>\(style)</style></head>
            <body><noscript>This page needs JavaScript.</noscript><main id="page"></main>
            <script type="application/json" id="data">\(data)</script>
            <script type="module">\(script)</script></body></html>

            """
    }

    private mutating func data() -> String {
        var rows: [String] = []
        rows.reserveCapacity(timeline.events.count)
        let start = timeline.isWorld ? 0 : timeline.events.first?.time ?? 0
        for event in timeline.events { rows.append(row(event, from: start)) }
        return """
            {"title":\(Self.quoted(title)),"start":\(timeline.isWorld ? 0 : start / 1_000_000),\
            "isWorld":\(timeline.isWorld),"omitted":\(timeline.omitted),
            "remarks":\(Self.list(timeline.remarks.map(Self.quoted))),
            "tracks":\(Self.list(Timeline.Track.allCases.map { Self.quoted($0.name) })),
            "sources":\(Self.list(timeline.sources.map(Self.quoted))),
            "findings":\(Self.list(FailureRule.findings(in: timeline).map(Self.object))),
            "series":\(Self.list(timeline.series.map { Self.object($0, from: start) })),
            "shapes":\(Self.list(shapes)),
            "strings":\(Self.list(strings.map(Self.quoted))),
            "events":\(Self.list(rows))}
            """
    }

    private static func list(_ items: [String]) -> String { "[" + items.joined(separator: ",\n") + "]" }

    private static func object(_ finding: FailureFinding) -> String {
        let parts = finding.sentences.map { "[\(quoted($0.text)),\($0.event ?? -1)]" }
        return "{\"rule\":\(quoted(finding.rule)),\"event\":\(finding.event),\"parts\":\(list(parts))}"
    }

    private static func object(_ series: Timeline.Series, from start: Int64) -> String {
        let points = series.points.map { "[\($0.time &- start),\($0.value.isFinite ? $0.value : 0)]" }
        return "{\"name\":\(quoted(series.name)),\"unit\":\(quoted(series.unit)),\"points\":\(list(points))}"
    }

    /// Returns an event as a JSON array.
    ///
    /// The elements are time, track, source, title, detail, level, group, packet and octets, then the shape and texts
    /// of each layer.
    private mutating func row(_ event: Timeline.Event, from start: Int64) -> String {
        let numbers = [
            event.time &- start, Int64(event.track.rawValue), Int64(event.source), Int64(index(event.title)),
            Int64(index(event.detail)), Int64(event.level.rawValue), Int64(event.group), Int64(event.packet ?? -1),
        ]
        var row = "[" + numbers.map(String.init).joined(separator: ",") + ",\"\(event.octets.hexadecimal)\""
        for layer in event.layers.prefix(16) {
            let fields = layer.fields.prefix(256)
            let names = fields.map { "[\(index($0.name)),\($0.range.lowerBound),\($0.range.upperBound)]" }.joined(
                separator: ","
            )
            let shape = "[\(index(layer.name)),\(layer.size),[\(names)]]", number: Int
            if let known = shapeIndices[shape] {
                number = known
            } else {
                number = shapes.count
                shapeIndices[shape] = number
                shapes.append(shape)
            }
            row += ",[\(number)" + fields.map { ",\(index(String($0.text.prefix(600))))" }.joined() + "]"
        }
        return row + "]"
    }

    private mutating func index(_ text: String) -> Int {
        if let known = indices[text] { return known }
        indices[text] = strings.count
        strings.append(text)
        return strings.count - 1
    }

    /// Returns a text as a JSON string that is harmless inside a script element.
    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "<", ">", "&", "\u{2028}", "\u{2029}", "\0"..."\u{1F}", "\u{7F}"..."\u{9F}":
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// Returns a text with the characters escaped that have a meaning in HTML.
    static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "&": result += "&amp;"
            case "\u{2028}", "\u{2029}": result += " "
            case "\"": result += "&quot;"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }
}
