package import BLEHost
public import Foundation

/// A remote device, in the role of a central or a peripheral.
///
/// A peer can be used on any thread, because a lock protects its state.
open class CBPeer: NSObject, NSCopying, @unchecked Sendable {
    /// The host's identifier for the device.
    package let peer: PeerIdentifier

    init(_ peer: PeerIdentifier) { self.peer = peer }

    /// Unavailable: apps do not create peers; they get them from a manager.
    @available(*, unavailable)
    public override init() { preconditionFailure("peers cannot be created by apps; they come from a manager") }

    /// The identifier of the device on this machine.
    ///
    /// It stays the same from one run of the app to the next. It is not the Bluetooth address of the device.
    open var identifier: UUID { UUID(peer) }

    /// Returns this object, because a manager has only one object for each device.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}
