package import BLEHost
package import BLEWire

extension ChannelRequest: TaggedEnum {
    package var code: UInt8 {
        switch self {
        case .send: 1
        case .consumed: 2
        case .resize: 3
        case .close: 4
        }
    }

    package init?(blank code: UInt8) {
        switch code {
        case 1: self = .send([])
        case 2: self = .consumed(0)
        case 3: self = .resize(mtu: 0, mps: 0)
        case 4: self = .close
        default: return nil
        }
    }

    package mutating func fields(_ wire: inout some AnyWire) throws(PacketError) {
        switch self {
        case .send(var unit):
            try wire.sized(&unit, "Unit")
            self = .send(unit)
        case .consumed(var octets):
            try wire.count(&octets, "Octets")
            self = .consumed(octets)
        case .resize(var mtu, var mps):
            try wire.count(&mtu, "MTU")
            try wire.count(&mps, "MPS")
            self = .resize(mtu: mtu, mps: mps)
        case .close: break
        }
    }
}
