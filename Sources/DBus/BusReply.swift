/// The reply to a method call on D-Bus.
package enum BusReply: Hashable, Sendable {
    /// The call succeeded and returned these values; `from` is the sender of the reply, `nil` if the reply names none.
    case values([BusValue], from: String?)
    case refused(Refusal)

    /// The name and the message of the error with which a call failed.
    package struct Refusal: Hashable, Sendable, CustomStringConvertible {
        package let name: String
        package let text: String?

        package init(name: String, text: String?) {
            self.name = name
            self.text = text
        }

        package var description: String { text.map { "\($0) (\(name))" } ?? name }

        /// True if no program owns the called bus name, and none can be started for it.
        package var isAbsence: Bool {
            let names = ["ServiceUnknown", "NameHasNoOwner", "Spawn.ServiceNotFound"]
            return names.contains { name == "org.freedesktop.DBus.Error.\($0)" }
        }
    }

    package init(_ message: BusMessage) {
        guard message.kind == .error else {
            self = .values(message.body, from: message.sender)
            return
        }
        var text: String?
        if case .string(let said)? = message.body.first { text = String(said.prefix(200)) }
        self = .refused(Refusal(name: String((message.errorName ?? "an error").prefix(200)), text: text))
    }
}
