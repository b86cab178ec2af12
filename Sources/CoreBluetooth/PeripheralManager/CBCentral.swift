import BLEHost
import Foundation

/// A remote device that uses the services of this machine.
open class CBCentral: CBPeer, @unchecked Sendable {
    /// The largest ATT packet, in octets, that both ends take.
    private let mtu: Protected<Int>

    init(_ central: RemoteCentral) {
        mtu = Protected(central.mtu)
        super.init(central.peer)
    }

    /// How many octets of a value fit into one notification or indication.
    open var maximumUpdateValueLength: Int { min(512, max(0, mtu.current - 3)) }

    /// The device and where it stands, for logs.
    open override var description: String { "<CBCentral: \(address), identifier = \(identifier)>" }

    func update(mtu new: Int) { mtu.withLock { $0 = new } }
}
