package import BLEWire

/// What a controller notices and need not act on: a log line, a count, and something for a test to expect.
package enum ControllerNote: Equatable, Sendable {
    /// The host sent what is no packet.
    case malformedPacket(PacketError)
    /// The host sent data for a connection that does not exist.
    case unknownConnection(ConnectionHandle)
    /// The host sent more data than the controller said that it has room for, or longer.
    case tooMuchData(ConnectionHandle)
    /// The host said something while the controller is mute.
    case muted
    /// A fault that a test asked for kept an event back.
    case droppedEvent
}
