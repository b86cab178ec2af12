import BLEWire
import Testing

@testable import BLEHost

@Suite("Data that arrives before its link")
struct PreConnectionDataTests {
    private let address = DeviceAddress(0xC0FF_EE00_0001, .random)
    private let link = ConnectionHandle(wire: 0x40) ?? .lowest
    private let request = ATTPacket.exchangeMTURequest(.init(clientMTU: 100)).encoded

    private func answers(_ rig: Rig) -> Int {
        let response: UInt8 = 0x03
        return rig.frames.count { $0.channel == .attribute && $0.payload.first == response }
    }

    @Test(
        "A central's early request is answered even if the controller reports its link later",
        arguments: [
            (Duration.zero, 1), (PreConnectionData.maximumAge, 1), (PreConnectionData.maximumAge + .nanoseconds(1), 0),
        ]
    )
    func early(lead: Duration, count: Int) {
        let rig = Rig.ready()
        rig.deliver(request, on: .attribute, of: link)
        rig.pump()
        #expect(rig.notes.last == .unknownLink(link) && rig.frames.isEmpty)
        rig.advance(by: lead)
        rig.connect(address, role: .peripheral)
        #expect(answers(rig) == count)
    }

    @Test("Data for a link that has ended is not attributed to the next link", arguments: [0, 2])
    func late(seconds: Int) {
        let rig = Rig.ready()
        rig.connect(address, role: .peripheral)
        rig.disconnect()
        rig.advance(by: .seconds(seconds))
        rig.forget()
        rig.deliver(request, on: .attribute, of: link)
        rig.pump()
        rig.connect(address, role: .peripheral)
        #expect(answers(rig) == (seconds > 1 ? 1 : 0))
    }

    @Test("Stored early data is limited, and each link receives its own once")
    func limits() throws {
        var early = PreConnectionData(), now = Instant()
        let other = try #require(ConnectionHandle(wire: 0x41))
        for number in UInt8(0)..<20 {
            early.store([number].span, of: number % 2 == 0 ? link : other, at: now)
            early.store([UInt8](repeating: 0, count: PreConnectionData.limit.octets + 1).span, of: link, at: now)
        }
        #expect(early.take(of: link, at: now) == stride(from: UInt8(0), to: 16, by: 2).map { [$0] })
        #expect(early.take(of: link, at: now).isEmpty && !early.isEmpty)
        now = now + PreConnectionData.maximumAge + .nanoseconds(1)
        early.store([7].span, of: link, at: now)
        #expect(early.take(of: other, at: now).isEmpty && early.take(of: link, at: now) == [[7]])
    }
}
