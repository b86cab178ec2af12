import CoreBluetooth

/// What hosts and guests of chat rooms agree on.
enum ChatRoom {
    static var service: CBUUID { CBUUID(string: "6E0C0001-9B5C-4E1D-8A3F-2D7C5B1A9E40") }
    static var characteristic: CBUUID { CBUUID(string: "6E0C0002-9B5C-4E1D-8A3F-2D7C5B1A9E40") }

    /// The largest value that an attribute holds, in octets.
    static let maximumLength = 512

    /// A message as it is sent: who says what, and an end of line.
    static func message(from name: String, _ text: String) -> String { "[\(name)] \(text)\n" }

    /// What a new guest is greeted with.
    static func welcome(to room: String, subscribers: Int, maximumLength: Int) -> String {
        message(from: room, "Welcome! Here is \(room) (total: \(subscribers), max length: \(maximumLength))")
    }

    /// The octets of `text` in pieces of at most `length`, to be sent one after the other.
    static func pieces(of text: String, length: Int) -> [Data] {
        let octets = Data(text.utf8)
        return stride(from: 0, to: octets.count, by: length).map { octets[$0..<min($0 + length, octets.count)] }
    }
}

/// Puts lines together again that arrive in pieces.
struct LineAssembler {
    /// How much is kept of a line that does not end.
    static let limit = 64 * 1024

    private var unfinished = Data()

    /// Takes the next octets and returns the lines that they complete, without their ends.
    mutating func receive(_ octets: Data) -> [String] {
        unfinished.append(octets)
        var lines: [String] = []
        while let end = unfinished.firstIndex(of: UInt8(ascii: "\n")) {
            lines.append(String(decoding: unfinished[unfinished.startIndex..<end], as: UTF8.self))
            unfinished = Data(unfinished[(end + 1)...])
        }
        if unfinished.count > Self.limit { unfinished.removeAll() }
        return lines
    }
}
