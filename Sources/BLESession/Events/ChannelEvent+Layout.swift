package import BLEHost
package import BLEWire

extension ChannelEvent: TaggedEnum {
    package var code: UInt8 {
        switch self {
        case .received: 1
        case .sent: 2
        case .resized: 3
        case .closed: 4
        }
    }

    package init?(blank code: UInt8) {
        switch code {
        case 1: self = .received([])
        case 2: self = .sent(0)
        case 3: self = .resized(nil)
        case 4: self = .closed(nil)
        default: return nil
        }
    }

    package mutating func fields(_ wire: inout some AnyWire) throws(PacketError) {
        switch self {
        case .received(var unit):
            try wire.sized(&unit, "Unit")
            self = .received(unit)
        case .sent(var octets):
            try wire.count(&octets, "Octets")
            self = .sent(octets)
        case .resized(var failure):
            try wire.optional(&failure, "Failure")
            self = .resized(failure)
        case .closed(var failure):
            try wire.optional(&failure, "Failure")
            self = .closed(failure)
        }
    }
}
