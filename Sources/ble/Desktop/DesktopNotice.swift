import BLERuntime

/// What a notification on the desktop shows; Desktop Notifications Specification 1.2.
struct DesktopNotice: Hashable, Sendable {
    struct Button: Hashable, Sendable {
        /// What is told when it is pressed.
        let key: String
        let label: String
    }

    var summary: String
    var body: String
    /// Without any, there is nothing to answer.
    var buttons: [Button] = []
    /// Whether it is shown at once and until it is answered.
    var isUrgent = false
    /// How long it is of use; `nil` for as long as others are shown.
    var lifetime: Duration?

    /// What `Notify` is called with; `marksUp` says whether the server takes the body for markup.
    func arguments(marksUp: Bool) -> [BusValue] {
        let actions = buttons.flatMap { [BusValue.string($0.key), .string($0.label)] }
        let hints: [BusValue] = [
            .entry(.string("urgency"), .variant(.byte(isUrgent ? 2 : 1))),
            .entry(.string("category"), .variant(.string("device"))),
        ]
        return [
            .string("Bluetooth"), .uint32(0), .string("bluetooth"), .string(summary),
            .string(Self.plain(body, marksUp: marksUp)), .array(of: .string, actions),
            .array(of: .entry(.string, .variant), hints), .int32(milliseconds),
        ]
    }

    /// -1 where the server decides.
    private var milliseconds: Int32 {
        lifetime.map { Int32(clamping: Int64(($0 / .milliseconds(1)).rounded())) } ?? -1
    }

    /// Text of which nothing is taken for markup, not even by servers that do so without saying it.
    private static func plain(_ text: String, marksUp: Bool) -> String {
        text.unicodeScalars.reduce(into: "") { plain, scalar in
            switch scalar {
            case "&": plain += marksUp ? "&amp;" : "＆"
            case "<": plain += marksUp ? "&lt;" : "＜"
            case ">": plain += marksUp ? "&gt;" : "＞"
            default: plain.unicodeScalars.append(scalar)
            }
        }
    }
}

extension String {
    /// A name that a stranger chose, for a sentence on the desktop: not long, and nothing in it changes how the rest of
    /// the sentence is shown.
    var nameOnDesktop: String { String(String.UnicodeScalarView(printable.unicodeScalars.prefix(60))) }
}
