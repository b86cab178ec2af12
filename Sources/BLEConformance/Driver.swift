import BLEWire

/// Translates packets and JSON lines into packets and JSON lines.
protocol Driver {
    /// Returns the next output; call until it is `nil`.
    mutating func next() -> DriverOutput?
    /// The time to call ``wake(at:)`` if nothing happens before.
    var deadline: Instant? { mutating get }
    mutating func receive(packet: [UInt8], at now: Instant)
    /// Handles a line of standard input.
    mutating func receive(line: String, at now: Instant) throws
    mutating func wake(at now: Instant)
}

enum DriverOutput: Equatable {
    /// A packet to send on descriptor 3.
    case packet([UInt8])
    /// A line to print.
    case line(String)
}
