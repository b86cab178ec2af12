import BLERuntime
import BLESimulation
import BLEWire

/// A printer for the packets between the hosts and controllers of a world, layer by layer and field by field.
@MainActor
final class PacketPrinter {
    private let printer: Printer
    private let waiting: PacketQueue
    private var traces = PacketTraces()

    init(world: World, printer: Printer) {
        self.printer = printer
        let waiting = PacketQueue()
        self.waiting = waiting
        world.observe { waiting.append($0) }
    }

    /// Prints the packets that have been recorded since the last call.
    func flush() {
        for record in waiting.takeAll() {
            let time = record.time - Instant()
            let (packet, summary) = traces.read(record)
            let fact = Fact(record, packet, summary, stamp: time.stamp, usesColor: printer.usesColor)
            printer.print(fact.withWorldTime(time))
        }
    }
}

/// The packets that the world's thread has recorded and the main thread has not printed yet.
private final class PacketQueue: Sendable {
    private let records = Locked<[PacketRecord]>([])

    func append(_ record: PacketRecord) { records.withLock { $0.append(record) } }

    func takeAll() -> [PacketRecord] {
        records.withLock { records in
            defer { records = [] }
            return records
        }
    }
}
