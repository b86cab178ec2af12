import BLERuntime
import BLESimulation
import BLEWire

/// What controllers told their hosts.
final class PacketLog: Sendable {
    private let kept = Locked<[PacketRecord]>([])

    /// Notes what happens in a world from now on.
    init(_ world: World) {
        world.observe { record in
            if record.direction == .toHost { self.kept.withLock { $0.append(record) } }
        }
    }

    private func events(to machine: String) -> [HCIEventPacket] {
        kept.withLock { $0 }.compactMap { record in
            guard record.machine == machine, record.bytes.first == 0x04 else { return nil }
            return try? HCIEventPacket(decoding: Array(record.bytes.dropFirst()))
        }
    }

    /// How many packets of advertisers were reported to a machine.
    func reports(to machine: String) -> Int {
        events(to: machine).reduce(0) { count, event in
            switch event {
            case .leAdvertisingReport(let event): count + event.reports.count
            case .leExtendedAdvertisingReport(let event): count + event.reports.count
            default: count
            }
        }
    }

    /// The connection intervals with which a machine's links were made.
    func firstIntervals(of machine: String) -> [Duration] {
        events(to: machine).compactMap { event in
            switch event {
            case .leConnectionComplete(let event): event.interval.value?.duration
            case .leEnhancedConnectionComplete(let event): event.interval.value?.duration
            default: nil
            }
        }
    }

    /// How often the ends of a machine's link were to meet, after each change.
    func intervals(of machine: String) -> [Duration] {
        events(to: machine).compactMap { event in
            guard case .leConnectionUpdateComplete(let event) = event else { return nil }
            return event.interval.value?.duration
        }
    }
}
