package import BLEHost
public import Foundation

/// A remote device in either role.
///
/// Threads may share a peer: a lock protects what changes, so that each property and method can be used on any thread.
open class CBPeer: NSObject, NSCopying, @unchecked Sendable {
    /// The host's identifier of the device.
    package let peer: PeerIdentifier

    init(_ peer: PeerIdentifier) { self.peer = peer }

    /// Unavailable: peers come from a manager.
    @available(*, unavailable)
    public override init() { preconditionFailure("peers cannot be created by apps; they come from a manager") }

    /// The identifier of the device on this machine.
    ///
    /// It is the same on every run, and not an address.
    open var identifier: UUID { UUID(peer) }

    /// Returns the same object, because there is one per device and manager.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}
