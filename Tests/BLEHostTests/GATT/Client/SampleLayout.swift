import BLEHost
import BLEWire

/// A database of as many attributes as one likes, drawn from a seed, and what a client should find in it.
struct SampleLayout {
    var services: [GATTDatabase.ExactService] = []
    /// Type of each attribute, by its handle.
    var types: [(handle: UInt16, isLong: Bool)] = []
    /// From each declaration of a characteristic to the last handle of the characteristic.
    var characteristics: [(declaration: UInt16, value: UInt16, end: UInt16, isLong: Bool)] = []
    private var next: UInt16 = 1
    private var random: SeededGenerator

    /// Draws a database.
    ///
    /// - Parameters:
    ///   - count: How many attributes it has.
    ///   - longTypes: How many of a hundred types have 128 bits.
    ///   - gaps: How many of a hundred handles are followed by some that are not used.
    ///   - seed: What it is drawn from.
    init(count: Int, longTypes: Int64, gaps: Int64, seed: UInt64) {
        random = SeededGenerator(seed: seed)
        while types.count < count { addService(upTo: count, longTypes, gaps) }
    }

    var database: GATTDatabase { GATTDatabase(exactly: services) ?? GATTDatabase() }

    private mutating func addService(upTo count: Int, _ longTypes: Int64, _ gaps: Int64) {
        let start = next, uuid = type(longTypes)
        var items: [GATTDatabase.ExactItem] = [], end = place(isLong: false, 0)
        let wanted = min(count, types.count + 2 + Int(random.below(40)))
        while types.count + 1 < wanted {
            let declaration = place(isLong: false, gaps), characteristic = type(longTypes)
            let value = place(isLong: characteristic.isLong, 0)
            end = value
            items.append(
                .characteristic(
                    .init(wire: declaration),
                    characteristic,
                    .read,
                    value: (.init(wire: value), []),
                    .readable
                )
            )
            for _ in 0..<random.below(4) where types.count < wanted {
                let descriptor = type(longTypes)
                end = place(isLong: descriptor.isLong, gaps)
                items.append(.descriptor(.init(wire: end), descriptor, .readable, []))
            }
            if let last = characteristics.indices.last, characteristics[last].declaration > start {
                characteristics[last].end = declaration - 1
            }
            characteristics.append((declaration, value, end, characteristic.isLong))
        }
        if random.below(100) < gaps {
            end += 1
            next = end + 1
        }
        if let last = characteristics.indices.last, characteristics[last].declaration > start {
            characteristics[last].end = end
        }
        let range = AttributeHandleRange(.init(wire: start), .init(wire: end)) ?? .all
        services.append(.init(uuid: uuid, isPrimary: true, range: range, items: items))
    }

    /// Takes the next handle, perhaps with a gap before it.
    private mutating func place(isLong: Bool, _ gaps: Int64) -> UInt16 {
        if random.below(100) < gaps { next += 1 + UInt16(random.below(5)) }
        types.append((next, isLong))
        next += 1
        return next - 1
    }

    private mutating func type(_ longTypes: Int64) -> BluetoothUUID {
        let number = UInt16(0xA000 + random.below(0x1000))
        return random.below(100) < longTypes
            ? .full(0xA0E1_0000_1122_3344_5566_7788_99AA_0000 | UInt128(number))
            : .short(number)
    }
}

extension BluetoothUUID {
    fileprivate var isLong: Bool {
        if case .short = attributeForm { false } else { true }
    }
}
