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

    /// The recommended maximum number of octets in one notification or indication.
    ///
    /// Values of this length give the highest throughput. With an MTU of 517, for example, it is 495, which fills two
    /// link-layer packets; with an MTU of 247, it is 244, which fills one.
    ///
    /// Longer values can be sent, too, up to the MTU minus three octets, and at most 512. Values beyond that are
    /// truncated.
    open var maximumUpdateValueLength: Int { ValueLength.fastest(mtu: mtu.current) }

    /// The memory address of the object, and the identifier of the central, for logs.
    open override var description: String { "<CBCentral: \(address), identifier = \(identifier)>" }

    func update(mtu new: Int) { mtu.withLock { $0 = new } }
}
