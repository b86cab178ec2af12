import CoreBluetooth

/// The protocol between the hosts and guests of chat rooms.
enum ChatRoom {
    static var service: CBUUID { CBUUID(string: "6E0C0001-9B5C-4E1D-8A3F-2D7C5B1A9E40") }
    static var characteristic: CBUUID { CBUUID(string: "6E0C0002-9B5C-4E1D-8A3F-2D7C5B1A9E40") }

    /// The maximum length of an attribute value in octets.
    static let maximumLength = 512

    /// Returns a message in the form in which it is sent: name, text and end of line.
    static func message(from name: String, _ text: String) -> String { "[\(name)] \(text)\n" }

    /// Returns the welcome message for a new guest of `room`.
    ///
    /// `subscribers` is the number of guests; `maximumLength` is the maximum length of a notification in octets.
    static func welcome(to room: String, subscribers: Int, maximumLength: Int) -> String {
        message(from: room, "Welcome! Here is \(room) (total: \(subscribers), max length: \(maximumLength))")
    }

    /// Splits `text` into pieces of at most `length` octets, in sending order.
    static func pieces(of text: String, length: Int) -> [Data] {
        let octets = Data(text.utf8)
        return stride(from: 0, to: octets.count, by: length).map { octets[$0..<min($0 + length, octets.count)] }
    }
}

/// An assembler that joins received pieces into lines.
struct LineAssembler {
    /// The maximum length of an unfinished line in octets.
    ///
    /// When a line exceeds it, the part received so far is dropped.
    static let limit = 64 * 1024

    private var unfinished = Data()

    /// True if there is no unfinished line.
    var isEmpty: Bool { unfinished.isEmpty }

    /// Adds octets and returns the lines that they complete, without line ends.
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
