package import BLEWire

/// An observation of a controller for logs and tests, which requires no action.
package enum ControllerNote: Equatable, Sendable {
    /// The host sent an invalid packet.
    case malformedPacket(PacketError)
    /// The host sent data for a connection that does not exist.
    case unknownConnection(ConnectionHandle)
    /// The host sent more or longer data than the controller has buffers for.
    case tooMuchData(ConnectionHandle)
    /// The host sent a packet while the controller is mute.
    case muted
    /// A fault dropped an event.
    case droppedEvent
}
