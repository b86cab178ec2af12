import DBus

/// The lines and messages of a bus, for tests of one end of a connection.
enum TestBus {
    static let accepted = Array("OK 0123456789abcdef0123456789abcdef\r\n".utf8)

    /// Returns the messages that a client has sent, without the lines of authentication before them.
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
}
