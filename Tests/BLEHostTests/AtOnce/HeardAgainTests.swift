import BLEWire
import Testing

@testable import BLEHost

@Suite("Repeated advertisements")
struct HeardAgainTests {
    /// What a controller may report, by chance: few devices that mostly say what they said before.
    private static func reports(
        _ random: inout SeededGenerator
    ) -> [HCI.LEAdvertisingReport.Report] {
        (0..<Int.random(in: 2...4, using: &random)).map { _ in
            let types: [HCI.LEAdvertisingReport.EventType] = [
                .connectable, .connectable, .connectable, .scannable, .nonConnectable, .scanResponse, .init(wire: 9),
            ]
            let isLikeBefore = Int.random(in: 0..<4, using: &random) > 0
            let device = UInt64.random(in: 0..<5, using: &random)
            let usual: HCI.LEAdvertisingReport.EventType = device < 3 ? .connectable : .nonConnectable
            return .init(
                type: isLikeBefore ? usual : types.randomElement(using: &random) ?? usual,
                address: DeviceAddress(0xC0FF_EE00_0000 + device, .random),
                data: [UInt8](repeating: 1, count: isLikeBefore ? 31 : .random(in: 0...31, using: &random)),
                rssi: RSSI(dBm: isLikeBefore ? -50 : .random(in: -52 ... -50, using: &random))
            )
        }
    }

    /// What clients hear of a story, if each report has an event of its own, or shares one with others.
    private static func account(seed: UInt64, together: Bool) -> (events: [String], notes: [Note]) {
        var random = SeededGenerator(seed: seed)
        let rig = Rig.ready()
        rig.host.open(Rig.otherCentral, role: .central, at: rig.now)
        rig.perform(.scan(ScanRequest(allowsDuplicates: true)))
        for _ in 0..<300 {
            let reports = reports(&random)
            for event in together ? [reports] : reports.map({ [$0] }) {
                rig.inject(.leAdvertisingReport(.init(reports: event)), pumps: false)
            }
            rig.pump()
            switch Int.random(in: 0..<24, using: &random) {
            case 0: rig.perform(.scan(ScanRequest(allowsDuplicates: .random(using: &random))), for: Rig.otherCentral)
            case 1: rig.perform(.stopScan, for: Rig.otherCentral)
            case 2: rig.perform(.appPhaseChanged(to: Bool.random(using: &random) ? .background : .foreground))
            case 3..<9: rig.advance(by: .milliseconds(.random(in: 0...12, using: &random)))
            default: break
            }
        }
        rig.advance(by: .milliseconds(20))
        return (rig.events.map { "\($0.client): \($0.event)" }, rig.notes)
    }

    @Test("Advertisements give the same events one by one and in batches", arguments: UInt64(0)..<16)
    func alone(seed: UInt64) {
        let alone = Self.account(seed: seed, together: false), together = Self.account(seed: seed, together: true)
        #expect(alone.events.count > 200)
        #expect(alone.events == together.events && alone.notes == together.notes)
    }

    @Test(
        "Each report has the RSSI at the time, and repeated reports share the rest",
        arguments: [HCI.LEAdvertisingReport.EventType.connectable, .nonConnectable]
    )
    func strengths(type: HCI.LEAdvertisingReport.EventType) {
        let rig = Rig.ready(), address = DeviceAddress(0xC0FF_EE00_0001, .random)
        rig.perform(.scan(ScanRequest(allowsDuplicates: true)))
        for strength in [-40, -40, -50, -60] as [Int8] {
            rig.hear(type, from: address, [1, 2], rssi: strength)
        }
        rig.advance(by: .milliseconds(20))
        let reports = rig.discoveries()
        #expect(reports.map(\.rssi.dBm) == [-40, -40, -50, -60])
        #expect(reports.allSatisfy { $0.repeats(reports[0]) })
    }
}
