import BLEWire
import Testing

@testable import BLEHost

/// Core 6.0, Vol 3, Part G, 7.1 and 7.2.
@Suite("Enabling Service Changed")
struct ServiceChangedSubscriptionTests {
    static let service = "07 0100 0900"
    /// Service Changed at 3, which indicates, and Client Supported Features at 6, which can be written.
    static let declared = "09 07 0200 20 0300 052a 0500 0a 0600 292b"

    static func play(
        _ answers: [String],
        in service: AttributeHandleRange? = nil
    ) throws -> (requests: [String], outcome: ServiceChangedSubscription.Outcome?) {
        var watch = ServiceChangedSubscription(in: service, limit: 100), database = PeerDatabase()
        return try BLEHostTests.play(watch.begin(&database, mtu: 64), answers) {
            watch.receive($0, &database, mtu: 64)
        }
    }

    @Test("The procedure finds the service and its characteristics, and enables the indications")
    func all() throws {
        let (requests, outcome) = try Self.play([
            Self.service, "01 06 0a00 0a", Self.declared, "01 08 0700 0a", "05 01 0400 0229", "13",
        ])
        #expect(requests.first == "060100ffff00280118")
        #expect(requests.last == "1204000200")
        #expect(outcome?.serviceChanged == AttributeHandle(wire: 3))
        #expect(outcome?.features == AttributeHandle(wire: 6))
    }

    @Test("The procedure ends without a result if the peer lacks the service or refuses")
    func nothing() throws {
        for answer in ["01 06 0100 0a", "01 06 0100 05", "13"] {
            let (requests, outcome) = try Self.play([answer])
            #expect(requests.count == 1 && outcome == ServiceChangedSubscription.Outcome())
        }
        let (requests, outcome) = try Self.play(["01 08 0200 0a"], in: range(1, 9))
        #expect(requests.count == 1 && outcome == ServiceChangedSubscription.Outcome(), "where it is was known")
    }

    @Test("A characteristic that cannot be indicated is ignored")
    func silent() throws {
        let declared = "09 07 0200 02 0300 052a"
        let (_, outcome) = try Self.play([declared, "01 08 0400 0a"], in: range(1, 9))
        #expect(outcome == ServiceChangedSubscription.Outcome())
    }
}
