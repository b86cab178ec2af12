package import BLEHost
package import BLEWire

/// The last part of a request to set a pairing policy; older daemons do not know this part, and skip it.
private struct SetPolicyExtension: Packet {
    private(set) var unattended: UnattendedPairing?
    private(set) var everywhere: Bool

    init(_ unattended: UnattendedPairing?, _ everywhere: Bool) {
        self.unattended = unattended
        self.everywhere = everywhere
    }

    init() { self.init(nil, false) }

    mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.flag(&everywhere, "Everywhere")
        var isSet = unattended != nil, value = unattended ?? .whenNeeded
        try wire.flag(&isSet, "Unattended Pairing Is Set")
        if isSet { try wire.field(&value, "Unattended Pairing") }
        unattended = isSet ? value : nil
    }
}

extension SecurityRequest: TaggedEnum {
    package var code: UInt8 {
        switch self {
        case .setAgent: 1
        case .answer: 2
        case .pair: 3
        case .setPolicy: 4
        case .makeOutOfBandData: 5
        case .takeOutOfBandData: 6
        case .takeTemporaryKey: 7
        case .listBonds: 8
        case .removeBond: 9
        }
    }

    package init?(blank code: UInt8) {
        switch code {
        case 1: self = .setAgent(nil)
        case 2: self = .answer(.blank, .cancel)
        case 3: self = .pair(.blank)
        case 4: self = .setPolicy(PairingPolicy())
        case 5: self = .makeOutOfBandData
        case 6: self = .takeOutOfBandData(nil, from: .blank)
        case 7: self = .takeTemporaryKey(nil, with: nil)
        case 8: self = .listBonds
        case 9: self = .removeBond(.blank)
        default: return nil
        }
    }

    package mutating func fields(_ wire: inout some AnyWire) throws(PacketError) {
        switch self {
        case .setAgent(var capability):
            try wire.optional(&capability, blank: .noInputNoOutput, "IO Capability")
            self = .setAgent(capability)
        case .answer(var peer, var reply):
            try wire.field(&peer, "Peer")
            try reply.layout(&wire)
            self = .answer(peer, reply)
        case .pair(var peer):
            try wire.field(&peer, "Peer")
            self = .pair(peer)
        case .setPolicy(var policy, let everywhere):
            try policy.layout(&wire)
            var tail = policy.unattended != nil || everywhere ? SetPolicyExtension(policy.unattended, everywhere) : nil
            try wire.tail(&tail)
            policy.unattended = tail?.unattended
            self = .setPolicy(policy, everywhere: tail?.everywhere ?? false)
        case .makeOutOfBandData, .listBonds: break
        case .takeOutOfBandData(var told, var peer):
            try wire.optional(&told, "Told")
            try wire.field(&peer, "Peer")
            self = .takeOutOfBandData(told, from: peer)
        case .takeTemporaryKey(var key, var peer):
            try wire.optional(&key, blank: .zero, "Temporary Key")
            try wire.optional(&peer, blank: .blank, "Peer")
            self = .takeTemporaryKey(key, with: peer)
        case .removeBond(var peer):
            try wire.field(&peer, "Peer")
            self = .removeBond(peer)
        }
    }
}
