import BLEController
import BLEHost
import BLEWire

/// A scanning host, with the advertising reports that it is fed.
struct ScanBench: ~Copyable {
    private var pair: HostPair
    private let reports: [[UInt8]]
    private var now: Instant
    private var outputs: [Host.Output] = []
    private var packets = OutgoingPackets()
    private var found = 0
    /// The memory that the host has taken for the advertisers, in KiB.
    private var memory = 0

    /// Starts a host on a virtual controller that supports only legacy advertising, and lets its apps scan.
    init(advertisers: Int, clients: Int) {
        var pair = HostPair(profile: .legacyOnly)
        let clients = (1...clients).map { ClientID(rawValue: $0) }
        for client in clients { pair.open(.central, client, on: .central) }
        pair.run(for: .seconds(1))
        for client in clients {
            pair.perform(.scan(ScanRequest(allowsDuplicates: true)), for: client, on: .central)
        }
        pair.run(for: .seconds(1))
        now = pair.now
        reports = (0..<advertisers).map(Self.report)
        self.pair = pair
        let before = Memory.residentKiB
        // Before the measurement, each device is reported so often that the host no longer waits for its scan response.
        for _ in 0..<4 {
            for start in stride(from: 0, to: reports.count, by: 16) {
                hear(start..<min(start + 16, reports.count))
            }
            rest()
        }
        memory = Memory.residentKiB - before
    }

    /// Measures a host that receives reports of `advertisers` devices in turn.
    static func measureCrowd(advertisers: Int) -> Result {
        var bench = ScanBench(advertisers: advertisers, clients: 1)
        let batch = 16, turns = (4 * advertisers + batch - 1) / batch, stopwatch = Stopwatch(.processor)
        let found = bench.run(turns: turns, batch: batch)
        return Result(
            workload: "crowd-advertisers",
            explanation: "a host that scans among many advertisers",
            figures: [
                .init("advertisers", .count(advertisers)),
                .init("ns_per_report", .number(Double(stopwatch.nanoseconds) / Double(max(found, 1)))),
                .init("goal_ns_per_report", .count(60)),
                .init("mib", .number(Double(bench.memory) / 1_024)),
                .init("goal_mib", .count(64)),
            ],
            isGood: found == turns * batch
        )
    }

    /// Feeds turns of `batch` reports each; returns the number of reports that clients received.
    mutating func run(turns: Int, batch: Int) -> Int {
        found = 0
        var next = 0
        for _ in 0..<turns {
            hear(next..<(next + batch))
            next = (next + batch) % reports.count
        }
        rest()
        return found
    }

    /// Feeds the host the reports with these numbers; the number after that of the last report stands for the first
    /// one.
    private mutating func hear(_ numbers: Range<Int>) {
        now = now.later(byNanoseconds: 100_000)
        for number in numbers {
            let report = reports[number % reports.count]
            pair.central.receive(report.span, at: now)
        }
        takeAll()
    }

    /// Advances the time until the host no longer waits for scan responses.
    private mutating func rest() {
        now = now + .seconds(1)
        pair.central.wake(at: now)
        takeAll()
    }

    private mutating func takeAll() {
        pair.central.takeAll(into: &outputs, &packets)
        packets.removeAll()
        for output in outputs { if case .event(.discovered, _) = output { found += 1 } }
        outputs.removeAll(keepingCapacity: true)
    }

    /// Returns a report of a device's connectable advertisement with 31 octets of data.
    private static func report(_ number: Int) -> [UInt8] {
        let data: [UInt8] =
            [2, 1, 6, 3, 3, 0x0F, 0x18, 11, 9] + Array("bench-adv0".utf8) + [11, 0xFF, 0x4C, 0, 1, 2, 3, 4, 5, 6, 7, 8]
        let address = UInt32(number).littleEndianOctets + [4, 0xC5]
        let parameters: [UInt8] = [0x02, 1, 0x00, 0x01] + address + [31] + data.prefix(31) + [0xC4]
        return [0x04, 0x3E, UInt8(parameters.count)] + parameters
    }
}
