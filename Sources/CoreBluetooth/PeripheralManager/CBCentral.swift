import BLEHost
import Foundation

/// A remote device that uses the services of this machine.
open class CBCentral: CBPeer, @unchecked Sendable {
    /// The ATT MTU, in octets.
    private let mtu: Protected<Int>

    init(_ central: RemoteCentral) {
        mtu = Protected(central.mtu)
        super.init(central.peer)
    }

    /// The maximum number of octets in one notification or indication.
    open var maximumUpdateValueLength: Int { min(512, max(0, mtu.current - 3)) }

    /// The device and the memory address of the object, for logs.
    open override var description: String { "<CBCentral: \(address), identifier = \(identifier)>" }

    func update(mtu new: Int) { mtu.withLock { $0 = new } }
}
