package import BLEWire

/// Why a request of a client came to nothing.
package enum Failure: Error, Hashable, Sendable {
    /// The peer's server refused it.
    case att(ATT.ErrorCode)
    /// The peer's answer is malformed, or contradicts the request or other answers.
    case invalidResponse
    /// The controller refused it, or a link ended, for this reason.
    case hci(HCI.Status)
    /// The peer refused to open a channel.
    case channel(Signal.ConnectionResult)
    /// The peer broke the rules of a channel, which was closed for it.
    case peerMisbehaved
    /// The peer did not answer in time.
    case timedOut
    /// The peer, with which this host is bonded, did not encrypt the link in time.
    case encryptionTimedOut
    /// There is no connection to the peer, or there was one and it ended before the answer.
    case notConnected
    /// The client itself withdrew it.
    case cancelled
    /// The radio went off, or the controller went away.
    case poweredOff
    /// The attribute, the peer or the procedure is not there or not known.
    case notFound
    /// What was asked for makes no sense.
    case invalidParameters
    /// The peer or the controller cannot do it.
    case notSupported
    /// The UUID is reserved for the host itself.
    case uuidNotAllowed
    /// It is being done already.
    case alreadyInProgress
    /// A limit of the host is reached.
    case limitReached
}
