import BLERuntime
import BLESimulation
import BLEWire

/// Prints the packets between the hosts of a world and their controllers, layer by layer and field by field.
@MainActor
final class PacketPrinter {
    private let printer: Printer
    private let waiting: PacketQueue

    init(world: World, printer: Printer) {
        self.printer = printer
        let waiting = PacketQueue()
        self.waiting = waiting
        world.observe { waiting.append($0) }
    }

    /// Prints what has passed since the last time.
    func flush() {
        for record in waiting.takeAll() { printer.print(fact(of: record)) }
    }

    private func fact(of record: PacketRecord) -> Fact {
        let layers = HCIPacketDissection.dissect(h4: record.bytes)
        let time = record.time - Instant()
        let arrow = record.direction == .toController ? "→ controller" : "→ host"
        let names = layers.map(\.name).joined(separator: " / ")
        var lines = ["\(time.stamp)    \(record.machine) \(arrow)  \(names)"]
        for layer in layers {
            for field in layer.fields {
                let octets = "[\(field.range.lowerBound)..<\(field.range.upperBound)]"
                lines.append("              \(octets.padded(to: 10)) \(field.name) = \(field.text)")
            }
        }
        return Fact(
            "packet",
            json(record, layers, time / .seconds(1)),
            text: lines.joined(separator: "\n").faint(printer.usesColor)
        )
    }

    private func json(_ record: PacketRecord, _ layers: [DissectedLayer], _ seconds: Double) -> [String: Any] {
        [
            "who": record.machine,
            "to": record.direction == .toController ? "controller" : "host",
            "time": seconds,
            "octets": record.bytes.hexadecimal,
            "layers": layers.map { layer in
                [
                    "name": layer.name,
                    "fields": layer.fields.map {
                        ["name": $0.name, "start": $0.range.lowerBound, "end": $0.range.upperBound, "text": $0.text]
                    },
                ] as [String: Any]
            },
        ]
    }
}

/// Packets on their way from the world's thread to the one that prints.
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
