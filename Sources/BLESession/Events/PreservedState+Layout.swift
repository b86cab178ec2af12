package import BLEHost
package import BLEWire

extension PreservedPeer: Packet {
    package init() { self.init(peer: .blank, request: ConnectRequest(), name: nil, mtu: nil, validEvents: []) }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        var peer = peer, request = request, name = name, validEvents = validEvents
        var mtu = mtu.map { Size(wire: UInt32(clamping: $0)) }
        try wire.field(&peer, "Peer")
        try request.layout(&wire)
        try wire.text(&name, "Name")
        try wire.optional(&mtu, blank: Size(wire: 0), "MTU")
        try wire.sequence(&validEvents, "Learnt")
        self = Self(peer: peer, request: request, name: name, mtu: mtu.map { Int($0.wire) }, validEvents: validEvents)
    }
}

/// A field that contains a size in octets.
private struct Size: WireField {
    let wire: UInt32
}

extension PreservedCentral: Packet {
    package init() { self.init(scan: nil) }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        var scan = scan, peers = peers
        try wire.optional(&scan, "Scan")
        try wire.sequence(&peers, "Peer")
        self = Self(scan: scan, peers: peers)
    }
}

extension PreservedPeripheral.Subscriber: Packet {
    package init() { self.init(central: RemoteCentral(), characteristic: .blank) }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        var central = central, characteristic = characteristic
        try central.layout(&wire)
        try wire.field(&characteristic, "Attribute")
        self = Self(central: central, characteristic: characteristic)
    }
}

extension PreservedPeripheral: Packet {
    package init() { self.init(services: []) }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        var services = services, advertisement = advertisement, subscribers = subscribers
        try wire.sequence(&services, "Service")
        try wire.optional(&advertisement, "Advertisement")
        try wire.sequence(&subscribers, "Subscriber")
        self = Self(services: services, advertisement: advertisement, subscribers: subscribers)
    }
}

extension PreservedState: TaggedEnum, Packet {
    package init() { self = .central(PreservedCentral()) }

    package var code: UInt8 {
        switch self {
        case .central: 1
        case .peripheral: 2
        }
    }

    package init?(blank code: UInt8) {
        switch code {
        case 1: self = .central(PreservedCentral())
        case 2: self = .peripheral(PreservedPeripheral())
        default: return nil
        }
    }

    package mutating func fields(_ wire: inout some AnyWire) throws(PacketError) {
        switch self {
        case .central(var state):
            try state.layout(&wire)
            self = .central(state)
        case .peripheral(var state):
            try state.layout(&wire)
            self = .peripheral(state)
        }
    }
}

extension PreservedState {
    /// The properties of the state's advertisement that earlier versions of the protocol lack.
    ///
    /// They are `nil` if there is no advertisement, or if all of them have their defaults; setting `nil` has no effect.
    /// They are encoded at the end of the message or record that contains the state.
    package var addition: BroadcastAddition? {
        get {
            guard case .peripheral(let state) = self else { return nil }
            return BroadcastAddition(state.advertisement)
        }
        set {
            guard let newValue, case .peripheral(let state) = self else { return }
            var advertisement = state.advertisement
            newValue.add(to: &advertisement)
            self = .peripheral(
                PreservedPeripheral(
                    services: state.services,
                    advertisement: advertisement,
                    subscribers: state.subscribers
                )
            )
        }
    }
}
