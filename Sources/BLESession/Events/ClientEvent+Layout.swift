package import BLEHost
package import BLEWire

extension HostState: WireField {
    package init?(wire: UInt8) {
        switch wire {
        case 0: self = .unknown
        case 1: self = .resetting
        case 2: self = .unsupported
        case 3: self = .unauthorized
        case 4: self = .poweredOff
        case 5: self = .poweredOn
        default: return nil
        }
    }

    package var wire: UInt8 {
        switch self {
        case .unknown: 0
        case .resetting: 1
        case .unsupported: 2
        case .unauthorized: 3
        case .poweredOff: 4
        case .poweredOn: 5
        }
    }
}

extension ClientEvent: TaggedEnum, Packet {
    package init() { self = .stateChanged(.unknown) }

    package var code: UInt8 {
        switch self {
        case .restored: 1
        case .stateChanged: 2
        case .featuresChanged: 3
        case .knownPeers: 4
        case .systemLinks: 5
        case .discovered: 6
        case .connected: 7
        case .connectFailed: 8
        case .disconnected: 9
        case .peer: 10
        case .server: 11
        case .security: 12
        case .channel: 13
        case .alert: 14
        case .scanBegan: 15
        case .tester: preconditionFailure("test sessions exist only inside the host's process")
        }
    }

    package init?(blank code: UInt8) {
        switch code {
        case 1: self = .restored(.central(PreservedCentral()))
        case 2: self = .stateChanged(.unknown)
        case 3: self = .featuresChanged([])
        case 4: self = .knownPeers([])
        case 5: self = .systemLinks([])
        case 6: self = .discovered(AdvertisementReport())
        case 7: self = .connected(.blank, LinkParameters())
        case 8: self = .connectFailed(.blank, Failure())
        case 9: self = .disconnected(.blank, nil, isReconnecting: false)
        case 10: self = .peer(.blank, .writeCommandsTaken(0))
        case 11: self = .server(.updatesTaken(0))
        case 12: self = .security(.bonds([]))
        case 13: self = .channel(.blank, .closed(nil))
        case 14: self = .alert(ClientAlert())
        case 15: self = .scanBegan(0)
        default: return nil
        }
    }

    package mutating func fields(_ wire: inout some AnyWire) throws(PacketError) {
        switch self {
        case .restored(var state):
            var addition = state.addition
            try state.layout(&wire)
            try wire.tail(&addition)
            state.addition = addition
            self = .restored(state)
        case .stateChanged(var state):
            try wire.field(&state, "State")
            self = .stateChanged(state)
        case .featuresChanged(var features):
            try wire.field(&features, "Features")
            self = .featuresChanged(features)
        case .knownPeers(var peers):
            try wire.sequence(&peers, "Peer")
            self = .knownPeers(peers)
        case .systemLinks(var links):
            try wire.sequence(&links, "Link")
            self = .systemLinks(links)
        case .discovered(var report):
            try report.layout(&wire)
            self = .discovered(report)
        case .connected, .connectFailed, .disconnected: try linkFields(&wire)
        case .peer(var peer, var event, let number):
            try wire.field(&peer, "Peer")
            try event.layout(&wire)
            var tail = TrailingNumber(number.rawValue)
            try wire.tail(&tail)
            self = .peer(peer, event, answering: RequestNumber(rawValue: tail?.number ?? 0))
        case .server(var event):
            try event.layout(&wire)
            self = .server(event)
        case .security(var event):
            try event.layout(&wire)
            self = .security(event)
        case .channel(var channel, var event):
            try wire.field(&channel, "Channel")
            try event.layout(&wire)
            self = .channel(channel, event)
        case .alert(var alert):
            try alert.layout(&wire)
            self = .alert(alert)
        case .scanBegan(var number):
            try wire.integer(&number, "Number")
            self = .scanBegan(number)
        case .tester: break
        }
    }
    /// Visits the fields of an event about the start or end of a link.
    private mutating func linkFields(_ wire: inout some AnyWire) throws(PacketError) {
        switch self {
        case .connected(var peer, var link):
            try wire.field(&peer, "Peer")
            try link.layout(&wire)
            self = .connected(peer, link)
        case .connectFailed(var peer, var failure):
            try wire.field(&peer, "Peer")
            try failure.layout(&wire)
            self = .connectFailed(peer, failure)
        case .disconnected(var peer, var failure, var isReconnecting):
            try wire.field(&peer, "Peer")
            try wire.optional(&failure, "Failure")
            try wire.flag(&isReconnecting, "Reconnecting")
            self = .disconnected(peer, failure, isReconnecting: isReconnecting)
        default: break
        }
    }
}
