package import BLEHost
package import BLEWire

extension AppPhase: WireField {
    package init?(wire: UInt8) {
        switch wire {
        case 1: self = .foreground
        case 2: self = .background
        case 3: self = .suspended
        default: return nil
        }
    }

    package var wire: UInt8 {
        switch self {
        case .foreground: 1
        case .background: 2
        case .suspended: 3
        }
    }
}

extension ScanRequest: Packet {
    package init() { self.init(services: []) }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.sequence(&services, "Service")
        try wire.sequence(&solicitedServices, "Solicited Service")
        try wire.flag(&allowsDuplicates, "Duplicates")
        var rssi = minimumRSSI.map { RSSI(dBm: $0) }
        try wire.optional(&rssi, blank: .unavailable, "Minimum RSSI")
        minimumRSSI = rssi.map { Int8(bitPattern: $0.wire) }
        try wire.text(&namePrefix, "Name Prefix")
    }
}

extension ConnectRequest: Packet {
    package init() { self.init(startDelay: .zero) }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.duration(&startDelay, "Start Delay")
        try wire.flag(&reconnects, "Reconnects")
        var limit = timeout.map(TimeLimit.init)
        try wire.optional(&limit, "Timeout")
        timeout = limit?.duration
        try wire.optional(&ownAddress, blank: .random, "Own Address")
        try wire.field(&alerts, "Alerts")
    }
}

/// A packet that contains a duration.
private struct TimeLimit: Packet {
    var duration: Duration
    init(_ duration: Duration) { self.duration = duration }
    init() { duration = .zero }
    mutating func layout(_ wire: inout some AnyWire) throws(PacketError) { try wire.duration(&duration, "Time") }
}

extension ClientRequest: TaggedEnum, Packet {
    package init() { self = .stopScan }

    package var code: UInt8 {
        switch self {
        case .scan: 1
        case .stopScan: 2
        case .connect: 3
        case .cancelConnection: 4
        case .peer: 5
        case .server, .service: 6
        case .channel: 7
        case .security: 8
        case .appPhaseChanged: 9
        case .showAlerts: 10
        case .tester: preconditionFailure("test sessions exist only inside the host's process")
        }
    }

    package init?(blank code: UInt8) {
        switch code {
        case 1: self = .scan(ScanRequest())
        case 2: self = .stopScan
        case 3: self = .connect(.blank, ConnectRequest())
        case 4: self = .cancelConnection(.blank)
        case 5: self = .peer(.blank, .readRSSI)
        case 6: self = .server(.stopAdvertising)
        case 7: self = .channel(.blank, .close)
        case 8: self = .security(.listBonds)
        case 9: self = .appPhaseChanged(to: .foreground)
        case 10: self = .showAlerts
        default: return nil
        }
    }

    private static func laidOut(
        _ request: OwnServerRequest,
        _ wire: inout some AnyWire
    ) throws(PacketError) -> Self {
        var request = request
        try request.layout(&wire)
        return request.request
    }

    package mutating func fields(_ wire: inout some AnyWire) throws(PacketError) {
        switch self {
        case .scan(var request, let number):
            try request.layout(&wire)
            var tail = TrailingNumber(number)
            try wire.tail(&tail)
            self = .scan(request, number: tail?.number ?? 0)
        case .stopScan, .showAlerts, .tester: break
        case .connect(var peer, var request):
            try wire.field(&peer, "Peer")
            try request.layout(&wire)
            var renewal = TrailingNumber(request.isRenewal ? 1 : 0)
            try wire.tail(&renewal)
            request.isRenewal = renewal != nil
            self = .connect(peer, request)
        case .cancelConnection(var peer):
            try wire.field(&peer, "Peer")
            self = .cancelConnection(peer)
        case .peer(var peer, var request, let number):
            try wire.field(&peer, "Peer")
            try request.layout(&wire)
            var tail = TrailingNumber(number.rawValue)
            try wire.tail(&tail)
            self = .peer(peer, request, RequestNumber(rawValue: tail?.number ?? 0))
        case .server(let request): self = try Self.laidOut(.server(request), &wire)
        case .service(let request): self = try Self.laidOut(.service(request), &wire)
        case .channel(var channel, var request):
            try wire.field(&channel, "Channel")
            try request.layout(&wire)
            self = .channel(channel, request)
        case .security(var request):
            try request.layout(&wire)
            self = .security(request)
        case .appPhaseChanged(var phase):
            try wire.field(&phase, "Phase")
            self = .appPhaseChanged(to: phase)
        }
    }
}
