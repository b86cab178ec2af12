/// How a manager stands to a peripheral.
@nonexhaustive
public enum CBPeripheralState: Int, BitwiseCopyable, Sendable {
    /// No connection, and none wanted.
    case disconnected = 0
    /// A connection is wanted.
    case connecting = 1
    /// Requests are accepted.
    case connected = 2
    /// The connection is being given up.
    case disconnecting = 3
}

/// What happened to a connection between this machine and a peer, whichever app wanted it.
@nonexhaustive
public enum CBConnectionEvent: Int, BitwiseCopyable, Sendable {
    /// The peer is gone.
    case peerDisconnected = 0
    /// The peer is connected.
    case peerConnected = 1
}

/// How a value is written.
@nonexhaustive
public enum CBCharacteristicWriteType: Int, BitwiseCopyable, Sendable {
    /// The peripheral answers, and the delegate hears of it.
    case withResponse = 0
    /// The peripheral does not answer.
    case withoutResponse = 1
}

/// A trade between delay and energy, for a connection to a central.
@nonexhaustive
public enum CBPeripheralManagerConnectionLatency: Int, BitwiseCopyable, Sendable {
    /// Answers soon.
    case low = 0
    /// Between the two.
    case medium = 1
    /// Saves energy.
    case high = 2
}
