import BLEWire
import Testing

@testable import BLEController

@Suite("Report templates")
struct ReportFormTests {
    private static func report(
        _ kind: AdvertisingReport.Kind,
        _ address: UInt64,
        _ data: [UInt8],
        _ strength: Int
    ) -> AdvertisingReport {
        AdvertisingReport(
            kind: kind,
            address: DeviceAddress(address, .random),
            target: nil,
            strength: strength,
            data: data
        )
    }

    private static func encoded(
        _ report: AdvertisingReport,
        _ type: HCI.LEAdvertisingReport.EventType
    ) -> [UInt8] {
        let event = HCI.LEAdvertisingReport.Report(
            type: type,
            address: report.address,
            data: report.data,
            rssi: RSSI(dBm: Int8(clamping: report.strength))
        )
        return HCIEventPacket.leAdvertisingReport(.init(reports: [event])).encoded
    }

    @Test(
        "An event made from a template equals the encoded packet, whatever was made before",
        arguments: UInt64(0)..<16
    )
    func equality(seed: UInt64) {
        let kinds: [(AdvertisingReport.Kind, HCI.LEAdvertisingReport.EventType)] = [
            (.connectable, .connectable), (.directed, .directed), (.scannable, .scannable),
            (.nonConnectable, .nonConnectable), (.connectableResponse, .scanResponse),
            (.scannableResponse, .scanResponse),
        ]
        var random = SeededGenerator(seed: seed), forms = AdvertisingReportCache()
        for _ in 0..<200 {
            let (kind, type) = kinds[Int(random.below(6))]
            let data = [UInt8](repeating: UInt8(random.below(2)), count: Int(random.below(3)) * 15)
            let report = Self.report(
                kind,
                0xC0_0000_0000 + UInt64(random.below(2)),
                data,
                Int(random.below(300)) - 200
            )
            #expect(forms.event(for: report, of: Int(random.below(3))) == Self.encoded(report, type))
        }
    }

    @Test("An event that was returned does not change later")
    func independence() {
        var forms = AdvertisingReportCache()
        let weak = Self.report(.connectable, 1, [2, 1, 6], -90), strong = Self.report(.connectable, 1, [2, 1, 6], -30)
        let event = forms.event(for: weak, of: 0)
        #expect(forms.event(for: strong, of: 0) != event)
        #expect(event == Self.encoded(weak, .connectable))
    }
}
