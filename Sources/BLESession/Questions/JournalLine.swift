package import BLEWire

/// A line of the daemon's journal.
package struct JournalLine: Equatable, Packet {
    /// The number of the line, starting with 1.
    ///
    /// If the event occurs again, the line gets a new number.
    package var number: UInt64 = 0
    /// The time at which the event last occurred, in nanoseconds since 1970.
    package var time: UInt64 = 0
    /// The process ID of the app that the line is about; `nil` if it is about the daemon itself.
    package var process: UInt32?
    /// The user ID of the app that the line is about; `nil` if it is about the daemon itself.
    package var user: UInt32?
    /// The path of the app's program; empty if the daemon does not know it.
    package var program = ""
    package var text = ""
    /// The number of times that the event has occurred.
    package var count: UInt32 = 1

    package init() {}

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.integer(&number, "Number")
        try wire.integer(&time, "Time")
        var process = process.map { Number(wire: $0) }, user = user.map { Number(wire: $0) }
        try wire.optional(&process, blank: Number(wire: 0), "Process")
        try wire.optional(&user, blank: Number(wire: 0), "User")
        self.process = process?.wire
        self.user = user?.wire
        try wire.text(&program, "Program")
        try wire.text(&text, "Text")
        try wire.integer(&count, "Count")
    }

    private struct Number: WireField {
        let wire: UInt32
    }
}
