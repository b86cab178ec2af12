import BLEWire
import Testing

@testable import BLEHost

@Suite("Reassembly of advertising reports")
struct ReportReassemblerTests {
    typealias Report = HCI.LEExtendedAdvertisingReport.Report

    static func report(
        _ data: [UInt8],
        _ status: HCI.LEExtendedAdvertisingReport.DataStatus = .complete,
        of address: UInt64 = 1,
        set: UInt8 = 0,
        flags: HCI.LEExtendedAdvertisingReport.EventType = []
    ) -> Report {
        Report(
            type: .init(flags, data: status),
            address: DeviceAddress(address, .random),
            sid: AdvertisingSID(wire: set),
            rssi: RSSI(dBm: -40),
            data: data
        )
    }

    /// The data of the advertisement that a report completes; `nil` if it completes none.
    static func data(_ event: ReportReassembler.OnReport) -> [UInt8]? {
        if case .advertisement(_, let data) = event { data } else { nil }
    }

    @Test("An advertisement is complete with its last fragment, whatever other devices send in between")
    func parts() {
        var assembler = ReportReassembler(limit: 4)
        let events = [
            assembler.receive(Self.report([1], .incomplete)), assembler.receive(Self.report([9], of: 2)),
            assembler.receive(Self.report([2], .incomplete, set: 1)),
            assembler.receive(Self.report([3], .incomplete, flags: .scanResponse)),
            assembler.receive(Self.report([4])), assembler.receive(Self.report([5], set: 1)),
            assembler.receive(Self.report([6], flags: .scanResponse)), assembler.receive(Self.report([7])),
        ]
        #expect(events.map(Self.data) == [nil, [9], nil, nil, [1, 4], [2, 5], [3, 6], [7]])
    }

    @Test("A truncated advertisement is reported as it is")
    func truncated() {
        var assembler = ReportReassembler(limit: 4)
        _ = assembler.receive(Self.report([1], .incomplete))
        guard case .advertisement(let advertisement, let data) = assembler.receive(Self.report([2], .truncated)) else {
            Issue.record("half of it is better than nothing")
            return
        }
        #expect(data == [1, 2] && advertisement.packet.isTruncated)
    }

    @Test("An advertisement that is too long or of a reserved kind is dropped")
    func senseless() {
        var assembler = ReportReassembler(limit: 4)
        let long = [UInt8](repeating: 0, count: 229)
        var last = ReportReassembler.OnReport.incomplete, count = 0
        while case .incomplete = last, count < 20 {
            last = assembler.receive(Self.report(long, .incomplete))
            count += 1
        }
        guard case .ignored = last else {
            Issue.record("1650 octets are the most")
            return
        }
        #expect(count == AdvertisingData.maximumExtendedLength / 229 + 1)
        let fresh = assembler.receive(Self.report([1]))
        #expect(Self.data(fresh) == [1], "nothing is left of it")
        guard case .ignored = assembler.receive(Self.report([1], .reserved)) else {
            Issue.record("nobody knows what a reserved status says")
            return
        }
    }

    @Test("When too many are incomplete, the oldest is dropped")
    func crowded() {
        var assembler = ReportReassembler(limit: 2)
        for address in 1...2 as ClosedRange<UInt64> {
            _ = assembler.receive(Self.report([1], .incomplete, of: address))
        }
        guard case .displacedOldest = assembler.receive(Self.report([1], .incomplete, of: 3)) else {
            Issue.record("there is room for two")
            return
        }
        let second = assembler.receive(Self.report([2], of: 2)), first = assembler.receive(Self.report([2], of: 1))
        #expect(Self.data(second) == [1, 2] && Self.data(first) == [2])
        assembler.reset()
        let third = assembler.receive(Self.report([2], of: 3))
        #expect(Self.data(third) == [2])
    }
}
