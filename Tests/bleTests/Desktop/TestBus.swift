import DBus

@testable import ble

/// A bus with somebody on it who shows notifications.
struct TestBus {
    static let server = ":1.7"
    static let accepted = Array("OK 0123456789abcdef0123456789abcdef\r\n".utf8)

    private let capabilities: [String]
    /// By which errors calls of these methods are refused.
    private let refusals: [String: String]
    /// What the bus was called with, without what is said to the bus itself.
    private(set) var calls: [BusMessage] = []
    private var shown: UInt32 = 0
    private var serial: UInt32 = 100

    init(capabilities: [String] = ["actions", "body", "body-markup"], refusals: [String: String] = [:]) {
        self.capabilities = capabilities
        self.refusals = refusals
    }

    /// The messages in what a client has sent, behind the lines with which it begins.
    static func messages(in octets: [UInt8]) -> [BusMessage] {
        var rest = octets[...], messages: [BusMessage] = []
        while rest.first == 0 || rest.first == UInt8(ascii: "A") || rest.first == UInt8(ascii: "B") {
            guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return [] }
            rest = rest[(end + 1)...]
        }
        while let length = try? BusMessage.length(of: rest),
            let message = try? BusMessage(reading: Array(rest.prefix(length)))
        {
            messages.append(message)
            rest = rest.dropFirst(length)
        }
        return messages
    }

    /// What the bus answers to what a client has sent.
    mutating func answer(_ octets: [UInt8]) -> [UInt8] {
        var answer = octets.first == 0 ? Self.accepted : []
        for message in Self.messages(in: octets) { answer += reply(to: message).octets }
        return answer
    }

    private mutating func reply(to message: BusMessage) -> BusMessage {
        serial += 1
        let bus = "org.freedesktop.DBus"
        var reply = BusMessage(kind: .reply, serial: serial, sender: message.destination == bus ? bus : Self.server)
        reply.replySerial = message.serial
        let member = message.member ?? ""
        if message.interface == NotificationConversation.name { calls.append(message) }
        if let refusal = refusals[member] {
            reply.kind = .error
            reply.errorName = refusal
            return reply
        }
        switch member {
        case "Hello": reply.body = [.string(":1.9")]
        case "GetCapabilities": reply.body = [.array(of: .string, capabilities.map(BusValue.string))]
        case "Notify":
            shown += 1
            reply.body = [.uint32(shown)]
        default: break
        }
        return reply
    }

    /// A signal of whoever shows notifications, or of somebody else.
    mutating func signal(_ member: String, _ body: [BusValue], from sender: String = server) -> [UInt8] {
        serial += 1
        let interface = NotificationConversation.name
        var signal = BusMessage(
            kind: .signal,
            serial: serial,
            path: NotificationConversation.path,
            interface: interface
        )
        signal.member = member
        signal.sender = sender
        signal.body = body
        return signal.octets
    }

    /// What was called with this name.
    func bodies(of member: String) -> [[BusValue]] { calls.filter { $0.member == member }.map(\.body) }
}
