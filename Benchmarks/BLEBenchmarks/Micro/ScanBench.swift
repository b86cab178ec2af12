import BLEController
import BLEHost
import BLEWire

/// A host that scans, and the advertising reports that it is fed.
struct ScanBench: ~Copyable {
    private static let client = ClientID(rawValue: 1)
    private var pair: HostPair
    private let reports: [[UInt8]]
    private var now: Instant
    private var outputs: [Host.Output] = []
    private var packets = OutgoingPackets()
    private var found = 0

    /// Brings a host up on a virtual controller that knows only legacy advertising, and has it scan.
    init() {
        var pair = HostPair(profile: .legacyOnly)
        pair.open(.central, Self.client, on: .central)
        pair.run(for: .seconds(1))
        pair.perform(.scan(ScanRequest(allowsDuplicates: true)), for: Self.client, on: .central)
        pair.run(for: .seconds(1))
        now = pair.now
        reports = (0..<256).map(Self.report)
        self.pair = pair
    }

    /// Feeds as many turns of reports, and says how many of them the client got.
    ///
    /// A report waits for the scan response, which does not come, until the next one of its device or a deadline.
    mutating func run(turns: Int, batch: Int) -> Int {
        found = 0
        var next = 0
        for _ in 0..<turns {
            now = now + .microseconds(100)
            for _ in 0..<batch {
                let report = reports[next]
                pair.central.receive(report.span, at: now)
                next = (next + 1) % reports.count
            }
            takeAll()
        }
        now = now + .seconds(1)
        pair.central.wake(at: now)
        takeAll()
        return found
    }

    private mutating func takeAll() {
        pair.central.takeAll(into: &outputs, &packets)
        packets.removeAll()
        for output in outputs { if case .event(.discovered, _) = output { found += 1 } }
        outputs.removeAll(keepingCapacity: true)
    }

    /// A report of one device's connectable advertisement with 31 octets of data.
    private static func report(_ number: Int) -> [UInt8] {
        let data: [UInt8] =
            [2, 1, 6, 3, 3, 0x0F, 0x18, 11, 9] + Array("bench-adv0".utf8) + [11, 0xFF, 0x4C, 0, 1, 2, 3, 4, 5, 6, 7, 8]
        let address: [UInt8] = [UInt8(number), 1, 2, 3, 4, 0xC5]
        let parameters: [UInt8] = [0x02, 1, 0x00, 0x01] + address + [31] + data.prefix(31) + [0xC4]
        return [0x04, 0x3E, UInt8(parameters.count)] + parameters
    }
}
