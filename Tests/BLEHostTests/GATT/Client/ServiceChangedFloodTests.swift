import BLEWire
import Testing

@testable import BLEHost

@Suite("Services that change continually")
struct ServiceChangedFloodTests {
    @Test("A change is reported once until the services are discovered again")
    func notices() {
        var notices = ReportedChanges()
        let changes = [
            (5, 9), (5, 9), (6, 6), (10, 12), (5, 12), (20, 30), (13, 19), (5, 30), (4, 5), (1, 0xFFFF), (2, 3),
        ]
        let told = changes.map { notices.note(range(UInt16($0.0), UInt16($0.1))) }
        #expect(told == [true, false, false, true, false, true, true, false, true, true, false])
        notices.clear()
        #expect(notices.note(range(6, 6)) == true)
    }

    @Test("Changes of two ranges do not hide a change between them")
    func gap() {
        var notices = ReportedChanges()
        #expect(notices.note(range(1, 4)) == true)
        #expect(notices.note(range(6, 9)) == true)
        #expect(notices.note(range(5, 5)) == true)
        #expect(notices.note(range(1, 9)) == false)
    }

    @Test("The stored ranges are limited, and ranges that were dropped are reported again")
    func bound() {
        var notices = ReportedChanges()
        let handles = (0...ReportedChanges.most).map { UInt16(2 * $0 + 1) }
        for handle in handles { #expect(notices.note(range(handle, handle)) == true) }
        #expect(notices.note(range(handles[1], handles[1])) == false)
        #expect(notices.note(range(handles[0], handles[0])) == true)
    }

    /// A link on which the peer has been asked to tell of changes at 3, and an app has found a service at 16 to 31.
    private func makeLayer() -> LoneLayer {
        var lone = LoneLayer(role: .central, mtu: 64)
        _ = lone.perform(.discoverServices(only: []))
        _ = lone.answers(to: [UInt8]("11 06 0100 0400 0118 1000 ffff f0ff"))
        _ = lone.advance(by: .milliseconds(250))
        for answer in [
            "01 08 0000 0a", "11 06 0100 0400 0118 1000 ffff f0ff", "09 07 0200 20 0300 052a", "05 01 0400 0229", "13",
            "11 06 0100 0400 0118 1000 ffff f0ff",
            // It has no Database Hash.
            "01 08 0100 0a",
        ] {
            _ = lone.answers(to: [UInt8](answer))
        }
        #expect(lone.layer.links[0].client.serviceChanged == AttributeHandle(wire: 3))
        _ = lone.peerEvents()
        return lone
    }

    @Test("Three hundred identical changes are reported once, and each is confirmed")
    func flood() {
        var lone = makeLayer()
        for _ in 0..<300 { #expect(lone.answers(to: [UInt8]("1d 0300 1000 1f00")).first == [0x1E]) }
        #expect(lone.peerEvents() == [.servicesModified(range(0x10, 0x1F))])
    }

    @Test("An app that keeps repeating its discovery receives each change of what it has found")
    func looking() {
        var lone = makeLayer()
        for _ in 0..<5 {
            _ = lone.answers(to: [UInt8]("1d 0300 1000 1f00"))
            _ = lone.answers(to: [UInt8]("1d 0300 1000 1f00"))
            #expect(lone.peerEvents() == [.servicesModified(range(0x10, 0x1F))])
            _ = lone.perform(.discoverServices(only: [.short(0xFFF0)]))
            _ = lone.answers(to: [UInt8]("01 06 0100 0a"))
            #expect(lone.peerEvents() == [.servicesDiscovered(.success([]))])
        }
    }

    @Test("A discovery under way during changes restarts, and is answered once at the end")
    func underWay() {
        var lone = makeLayer()
        _ = lone.answers(to: [UInt8]("1d 0300 1000 1f00"))
        _ = lone.peerEvents()
        var requests = lone.perform(.discoverServices(only: [.short(0xFFF0)]))
        for _ in 0..<50 {
            _ = lone.answers(to: [UInt8]("1d 0300 1000 1f00"))
            #expect(requests == [[UInt8]("06 0100 ffff 0028 f0ff")])
            requests = lone.answers(to: [UInt8]("07 1000 1f00"))
        }
        #expect(lone.peerEvents() == [])
        requests = lone.answers(to: [UInt8]("01 06 0100 0a"))
        #expect(lone.peerEvents() == [.servicesDiscovered(.success([]))])
    }

    @Test("A change after a new subscription is reported, since it ends the subscription")
    func subscribing() {
        var lone = makeLayer()
        let handle = AttributeHandle(wire: 0x12)
        _ = lone.answers(to: [UInt8]("1d 0300 1000 1f00"))
        _ = lone.perform(.subscribe(.notifications, to: handle, in: range(0x13, 0x13)))
        _ = lone.answers(to: [UInt8]("05 01 1300 0229"))
        _ = lone.answers(to: [UInt8]("13"))
        _ = lone.peerEvents()
        _ = lone.answers(to: [UInt8]("1d 0300 1000 1f00"))
        #expect(lone.peerEvents() == [.servicesModified(range(0x10, 0x1F))])
    }
}
