import BLEHost
import BLERuntime

/// The packets that a tap heard of.
final class PacketLog: Sendable {
    private let kept = Locked<[PacketRecord]>([])
    var records: [PacketRecord] { kept.withLock { $0 } }
    func append(_ record: PacketRecord) { kept.withLock { $0.append(record) } }
}

extension SeamApp {
    /// How often a connection came up.
    var connections: Int { events.count { if case .connected = $0 { true } else { false } } }

    /// How often a connection was lost that the app had not given up.
    var lostConnections: Int { events.count { if case .disconnected(_, .some, _) = $0 { true } else { false } } }
}
