package import BLEHost
public import Foundation

/// Another device, in either role.
///
/// Threads may share a peer: a lock protects what changes, so that each property and method can be used on any thread.
open class CBPeer: NSObject, NSCopying, @unchecked Sendable {
    /// The device as the host knows it.
    package let peer: PeerIdentifier

    init(_ peer: PeerIdentifier) { self.peer = peer }

    /// Peers come from a manager.
    @available(*, unavailable)
    public override init() { preconditionFailure("peers come from a manager") }

    /// Names the device on this machine: the same on every run, and no address.
    open var identifier: UUID { UUID(peer) }

    /// The same object, since there is one for each device and manager.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}
