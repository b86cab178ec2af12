package import BLEWire

/// The reason why a client's request failed.
package enum Failure: Error, Hashable, Sendable {
    /// An ATT error that the peer sent, or that the host found before it sent the request.
    case att(ATT.ErrorCode)
    /// The peer's response is malformed, or contradicts the request or other responses.
    case invalidResponse
    /// The controller rejected the request, or a link ended, with this status.
    case hci(HCI.Status)
    /// The peer refused to open a channel.
    case channel(Signal.ConnectionResult)
    /// The peer violated a channel's protocol, so the channel was closed.
    case peerMisbehaved
    /// The peer did not respond in time.
    case timedOut
    /// A bonded peer did not encrypt the link in time.
    case encryptionTimedOut
    /// There is no connection to the peer, or the connection ended before the response.
    case notConnected
    /// The client cancelled the request.
    case cancelled
    /// The radio was switched off, or the controller disappeared.
    case poweredOff
    /// The attribute, peer or procedure does not exist or is not known.
    case notFound
    /// The parameters are invalid.
    case invalidParameters
    /// The peer or the controller does not support the request.
    case notSupported
    /// The UUID is reserved for the host.
    case uuidNotAllowed
    /// The requested procedure is already in progress.
    case alreadyInProgress
    /// One of the host's limits was reached.
    case limitReached
}
