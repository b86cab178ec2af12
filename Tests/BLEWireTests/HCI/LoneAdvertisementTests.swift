import BLEWire
import Testing

@Suite("Legacy advertisements read in place")
struct LoneAdvertisementTests {
    static let report = HCI.LEAdvertisingReport.Report(
        type: .scannable,
        address: DeviceAddress(0xC123_4567_89AB, .random),
        data: [],
        rssi: RSSI(dBm: -70)
    )

    static func packet(_ reports: [HCI.LEAdvertisingReport.Report]) -> [UInt8] {
        HCIEventPacket.leAdvertisingReport(.init(reports: reports)).encoded
    }

    @Test("Fields read in place equal the decoded ones", arguments: [0, 1, 31])
    func fields(count: Int) throws {
        var report = Self.report
        report.data = [UInt8](repeating: 0x5A, count: count)
        let octets = Self.packet([report]), found = LoneAdvertisement(octets.span)
        let advertisement = try #require(found), data = [UInt8](copying: advertisement.data(in: octets.span))
        #expect(advertisement.type == report.type && advertisement.address == report.address)
        #expect(advertisement.rssi == report.rssi && data == report.data)
    }

    @Test("Only a single legacy advertisement of the right length is read in place")
    func others() {
        let whole = Self.packet([Self.report])
        var data = whole, other = whole, subevent = whole, longer = whole, inner = whole
        data[0] = HCI.PacketType.acl.wire
        other[1] = 0x13
        subevent[3] = 0x0D
        longer[2] += 1
        inner[13] += 1
        let others = [
            data, other, subevent, longer, inner, whole + [0], Self.packet([]),
            Self.packet([Self.report, Self.report]),
        ]
        for octets in others + (0..<whole.count).map({ [UInt8](whole.prefix($0)) }) {
            let found = LoneAdvertisement(octets.span)
            #expect(found == nil)
        }
    }
}
