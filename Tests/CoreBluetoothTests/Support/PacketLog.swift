import BLERuntime
import BLESimulation
import BLEWire

/// The packets between hosts and their controllers.
final class PacketLog: Sendable {
    private let kept = Locked<[PacketRecord]>([])

    /// Notes what happens in a world from now on.
    init(_ world: World) {
        world.observe { record in self.kept.withLock { $0.append(record) } }
    }

    /// Returns the packets of one kind to or from a machine's host, without their indicators.
    private func packets(_ kind: HCI.PacketType, _ direction: PacketRecord.Direction, _ machine: String) -> [[UInt8]] {
        kept.withLock { $0 }
            .filter { $0.machine == machine && $0.direction == direction && $0.bytes.first == kind.wire }
            .map { Array($0.bytes.dropFirst()) }
    }

    private func events(to machine: String) -> [HCIEventPacket] {
        packets(.event, .toHost, machine).compactMap { try? HCIEventPacket(decoding: $0) }
    }

    /// Returns whether the last command of a machine's host about scanning enabled it; false if there was none.
    func isScanning(_ machine: String) -> Bool {
        packets(.command, .toController, machine)
            .reduce(false) { isScanning, packet in
                switch try? HCICommandPacket(decoding: packet) {
                case .leSetScanEnable(let command): command.enable
                case .leSetExtendedScanEnable(let command): command.enable
                default: isScanning
                }
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
