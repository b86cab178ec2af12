package import BLEHost
package import BLEWire

extension OwnAddressKind: WireField {
    package init?(wire: UInt8) {
        switch wire {
        case 1: self = .public
        case 2: self = .random
        case 3: self = .resolvable
        default: return nil
        }
    }

    package var wire: UInt8 {
        switch self {
        case .public: 1
        case .random: 2
        case .resolvable: 3
        }
    }
}

extension ConnectionLatency: WireField {
    package init?(wire: UInt8) {
        switch wire {
        case 1: self = .low
        case 2: self = .medium
        case 3: self = .high
        default: return nil
        }
    }

    package var wire: UInt8 {
        switch self {
        case .low: 1
        case .medium: 2
        case .high: 3
        }
    }
}

extension LinkParameters: Packet {
    package init() { self.init(mtu: 0) }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.count(&mtu, "MTU")
        try wire.text(&name, "Name")
    }
}

extension LinkDetails: Packet {
    package init() { self.init(address: .none) }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try address.layout(&wire)
        try wire.optional(&interval, blank: .shortest, "Connection Interval")
        try wire.optional(&latency, blank: .none, "Peripheral Latency")
        try wire.optional(&timeout, blank: .shortest, "Supervision Timeout")
        try wire.field(&transmitPHY, "TX PHY")
        try wire.field(&receivePHY, "RX PHY")
        try wire.count(&transmitOctets, "TX Octets")
        try wire.count(&receiveOctets, "RX Octets")
        try wire.field(&security, "Security")
    }
}

extension LinkTuning: TaggedEnum {
    package var code: UInt8 {
        switch self {
        case .parameters: 1
        case .physicalLayers: 2
        case .dataLength: 3
        }
    }

    package init?(blank code: UInt8) {
        switch code {
        case 1: self = .parameters(HCI.ConnectionParameters())
        case 2: self = .physicalLayers(transmit: [], receive: [])
        case 3: self = .dataLength(octets: 0)
        default: return nil
        }
    }

    package mutating func fields(_ wire: inout some AnyWire) throws(PacketError) {
        switch self {
        case .parameters(var parameters):
            try parameters.layout(&wire)
            self = .parameters(parameters)
        case .physicalLayers(var transmit, var receive):
            try wire.field(&transmit, "TX PHYs")
            try wire.field(&receive, "RX PHYs")
            self = .physicalLayers(transmit: transmit, receive: receive)
        case .dataLength(var octets):
            try wire.integer(&octets, "Octets")
            self = .dataLength(octets: octets)
        }
    }
}

extension OpenedChannel: Packet {
    package init() { self.init(id: .blank, psm: .none, outgoingMTU: 0, incomingMTU: 0) }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.field(&id, "Channel")
        try wire.field(&psm, "PSM")
        try wire.count(&outgoingMTU, "Outgoing MTU")
        try wire.count(&incomingMTU, "Incoming MTU")
    }
}

extension SystemLink: Packet {
    package init() { self.init(peer: .blank) }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.field(&peer, "Peer")
        try wire.text(&name, "Name")
        try wire.sequence(&services, "Service")
    }
}

extension KnownPeer: Packet {
    package init() { self.init(peer: .blank) }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.field(&peer, "Peer")
        try wire.text(&name, "Name")
    }
}
