package import BLEWire

/// A line of the daemon's journal.
package struct JournalLine: Equatable, Packet {
    /// The number of the line, from 1.
    ///
    /// A repeated line gets a new number.
    package var number: UInt64 = 0
    /// The time of its last repetition, in nanoseconds since 1970.
    package var time: UInt64 = 0
    /// The process of the app; `nil` if it concerns none.
    package var process: UInt32?
    /// The user of the app; `nil` if it concerns none.
    package var user: UInt32?
    /// The program file, if the daemon knows it.
    package var program = ""
    package var text = ""
    /// The number of repetitions.
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
