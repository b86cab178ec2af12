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
    /// Values of this length give the highest throughput: 495 octets with an MTU of 517 and 244 with one of 247,
    /// because they fill two packets of the radio, or one. Longer values of up to three octets less than the MTU, and
    /// at most 512, are sent as well; only longer ones than that are truncated.
    open var maximumUpdateValueLength: Int { ValueLength.fastest(mtu: mtu.current) }

    /// The device and the memory address of the object, for logs.
    open override var description: String { "<CBCentral: \(address), identifier = \(identifier)>" }

    func update(mtu new: Int) { mtu.withLock { $0 = new } }
}
