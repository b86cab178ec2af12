import BLERuntime
import DBus

/// The content of a desktop notification; Desktop Notifications Specification 1.2.
struct DesktopNotification: Hashable, Sendable {
    struct Button: Hashable, Sendable {
        /// The action key that the server reports when the user presses the button.
        let key: String
        let label: String
    }

    var summary: String
    var body: String
    /// The buttons with which the user can answer the notification.
    ///
    /// A notification without buttons only informs the user.
    var buttons: [Button] = []
    /// True if the server should show the notification immediately, and keep it until the user answers.
    var isUrgent = false
    /// The time for which the notification stays on the screen; `nil` for the server's default.
    var lifetime: Duration?

    /// Returns the arguments for the server's method `Notify`.
    ///
    /// `marksUp` is true if the server interprets markup in the body.
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

    /// The lifetime as an argument of `Notify`; -1 if the server decides.
    private var milliseconds: Int32 {
        lifetime.map { Int32(clamping: Int64(($0 / .milliseconds(1)).rounded())) } ?? -1
    }

    /// Escapes text so that no server interprets it as markup, not even a server that does so without announcing it.
    ///
    /// `marksUp` is true if the server has announced that it interprets markup.
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
    /// This name of a remote device, made safe for a sentence on the desktop.
    ///
    /// Its length is limited, and it contains nothing that changes the display of the rest of the sentence.
    var nameOnDesktop: String { String(String.UnicodeScalarView(printable.unicodeScalars.prefix(60))) }
}
