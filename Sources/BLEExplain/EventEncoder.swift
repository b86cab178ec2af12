import BLEWire

/// An encoder that turns events into JSON for the page's script.
///
/// Texts, and the names and positions of the fields of packets, are stored once, in ``strings`` and ``shapes``; rows
/// refer to them by index. The tables only grow, so a page that has received the beginning of them needs only the rest.
struct EventEncoder: Sendable {
    /// The distinct texts in the rows so far.
    private(set) var strings: [String] = []
    /// The distinct shapes of the layers in the rows so far, each as a JSON array.
    ///
    /// A shape consists of the layer's name and size, and the name and position of each field. The names are indices
    /// into ``strings``.
    private(set) var shapes: [String] = []
    private var indices: [String: Int] = [:]
    private var shapeIndices: [String: Int] = [:]

    /// Returns an event as a JSON array.
    ///
    /// The elements are time, track, source, title, detail, level, group, packet and octets, then the shape and texts
    /// of each layer. The time is in nanoseconds since `start`.
    mutating func row(_ event: Timeline.Event, from start: Int64) -> String {
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
}

/// Functions that write the parts of a page so that no received text can end the element that contains it.
enum PageText {
    /// Returns a JSON array.
    static func list(_ items: [String]) -> String { "[" + items.joined(separator: ",\n") + "]" }

    /// Returns the cause of a failure as a JSON object.
    static func object(_ finding: FailureFinding) -> String {
        let parts = finding.sentences.map { "[\(quoted($0.text)),\($0.event ?? -1)]" }
        return "{\"rule\":\(quoted(finding.rule)),\"event\":\(finding.event),\"parts\":\(list(parts))}"
    }

    /// Returns a series as a JSON object that contains only the given points.
    ///
    /// The times of the points are in nanoseconds since `start`.
    static func object(
        _ series: Timeline.Series,
        _ points: ArraySlice<(time: Int64, value: Double)>,
        from start: Int64
    ) -> String {
        let points = points.map { "[\($0.time &- start),\($0.value.isFinite ? $0.value : 0)]" }
        return "{\"name\":\(quoted(series.name)),\"unit\":\(quoted(series.unit)),\"points\":\(list(points))}"
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

    /// Returns a text in which the characters that have a meaning in HTML are escaped.
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
