import BLERuntime

/// The content of a desktop notification; Desktop Notifications Specification 1.2.
struct DesktopNotification: Hashable, Sendable {
    struct Button: Hashable, Sendable {
        /// The action key that is reported when the button is pressed.
        let key: String
        let label: String
    }

    var summary: String
    var body: String
    /// The buttons; a notification without buttons has no answer.
    var buttons: [Button] = []
    /// True if it is shown at once and until it is answered.
    var isUrgent = false
    /// The time that it stays on screen; `nil` for the default of the server.
    var lifetime: Duration?

    /// Returns the arguments of `Notify`; `marksUp` is true if the server interprets markup in the body.
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

    /// Escapes text so that no server interprets it as markup, even one that does not announce that it does.
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
    /// The name of a remote device, made safe for a sentence on the desktop: limited in length, and unable to change
    /// how the rest of the sentence is shown.
    var nameOnDesktop: String { String(String.UnicodeScalarView(printable.unicodeScalars.prefix(60))) }
}
