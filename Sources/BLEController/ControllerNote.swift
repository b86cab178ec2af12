package import BLEWire

/// A message from a controller for logs and tests, which requires no action.
package enum ControllerNote: Equatable, Sendable {
    /// The host sent an invalid packet.
    case malformedPacket(PacketError)
    /// The host sent data for a connection that does not exist.
    case unknownConnection(ConnectionHandle)
    /// The host sent more fragments, or a longer fragment, than the controller's buffers can hold.
    case tooMuchData(ConnectionHandle)
    /// The host sent a packet, which the controller ignored because ``ControllerFaults/isMute`` is set.
    case muted
    /// The fault ``ControllerFaults/dropEvents`` kept an event from the host.
    case droppedEvent
}
