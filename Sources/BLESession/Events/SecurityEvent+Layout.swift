package import BLEHost
package import BLEWire

extension SecurityEvent: TaggedEnum {
    package var code: UInt8 {
        switch self {
        case .asked: 1
        case .withdrawn: 2
        case .paired: 3
        case .failed: 4
        case .secured: 5
        case .bonds: 6
        case .outOfBandDataMade: 7
        }
    }

    package init?(blank code: UInt8) {
        switch code {
        case 1: self = .asked(PairingInquiry())
        case 2: self = .withdrawn(.blank)
        case 3: self = .paired(.blank, .justWorks, isBonded: false)
        case 4: self = .failed(.blank, .timedOut)
        case 5: self = .secured(.blank, PairingStrength(), isBonded: false)
        case 6: self = .bonds([])
        case 7: self = .outOfBandDataMade(SecurityManager.OutOfBandData.DeviceData())
        default: return nil
        }
    }

    package mutating func fields(_ wire: inout some AnyWire) throws(PacketError) {
        switch self {
        case .asked(var inquiry):
            try inquiry.layout(&wire)
            self = .asked(inquiry)
        case .withdrawn(var peer):
            try wire.field(&peer, "Peer")
            self = .withdrawn(peer)
        case .paired(var peer, var method, var isBonded):
            try wire.field(&peer, "Peer")
            try wire.field(&method, "Method")
            try wire.flag(&isBonded, "Bonded")
            self = .paired(peer, method, isBonded: isBonded)
        case .failed(var peer, var failure):
            try wire.field(&peer, "Peer")
            try failure.layout(&wire)
            self = .failed(peer, failure)
        case .secured(var peer, var strength, var isBonded):
            try wire.field(&peer, "Peer")
            try strength.layout(&wire)
            try wire.flag(&isBonded, "Bonded")
            self = .secured(peer, strength, isBonded: isBonded)
        case .bonds(var bonds):
            try wire.sequence(&bonds, "Bond")
            self = .bonds(bonds)
        case .outOfBandDataMade(var told):
            try told.layout(&wire)
            self = .outOfBandDataMade(told)
        }
    }
}
