import BLEWire

/// A part of the stack that is driven by packets and JSON lines, and that returns packets and JSON lines.
protocol Driver {
    /// Returns the next output. Call it until it returns `nil`.
    mutating func next() -> DriverOutput?
    /// The time at which to call ``wake(at:)`` unless something else happens first.
    var deadline: Instant? { mutating get }
    mutating func receive(packet: [UInt8], at now: Instant)
    /// Processes a line of standard input.
    mutating func receive(line: String, at now: Instant) throws
    mutating func wake(at now: Instant)
}

enum DriverOutput: Equatable {
    /// A packet to send on descriptor 3.
    case packet([UInt8])
    /// A line to print to standard output.
    case line(String)
}
