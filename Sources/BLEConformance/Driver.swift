import BLEWire

/// Something that turns packets and lines of JSON into packets and lines of JSON.
protocol Driver {
    /// What it wants done next; call until it is `nil`.
    mutating func next() -> DriverOutput?
    /// When to call ``wake(at:)``, if nothing happens before.
    var deadline: Instant? { mutating get }
    mutating func receive(packet: [UInt8], at now: Instant)
    /// Takes a line of standard input.
    mutating func receive(line: String, at now: Instant) throws
    mutating func wake(at now: Instant)
}

enum DriverOutput: Equatable {
    /// Sent on descriptor 3.
    case packet([UInt8])
    /// Printed.
    case line(String)
}
