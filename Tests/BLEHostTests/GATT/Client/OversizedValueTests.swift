import BLEWire
import Testing

@testable import BLEHost

/// Core 6.0, Vol 3, Part F, 3.2.9.
@Suite("Values of more than 512 octets")
struct OversizedValueTests {
    static let handle = AttributeHandle(wire: 9)

    /// A host whose app has subscribed to a value; packets have up to 517 octets.
    private func makeRig() -> Rig {
        let rig = Rig.ready(), address = DeviceAddress(0xC0FF_EE00_0001, .random)
        rig.peer = { request in
            switch request {
            case .exchangeMTURequest: .exchangeMTUResponse(.init(serverMTU: 517))
            case .findInformationRequest:
                .findInformationResponse(.init(entries: [.init(handle: .init(wire: 10), type: .short(0x2902))]))
            case .writeRequest: .writeResponse
            default: nil
            }
        }
        let peer = rig.discover(address)
        rig.perform(.connect(peer, ConnectRequest()))
        rig.connect(address)
        rig.pump()
        rig.perform(.peer(peer, .subscribe(.notifications, to: Self.handle, in: range(10, 10))))
        rig.pump()
        return rig
    }

    private func values(_ rig: Rig) -> [[UInt8]] {
        rig.events.compactMap { _, event in
            switch event {
            case .peer(_, .valueNotified(Self.handle, let value), _): value
            case .peer(_, .valueRead(Self.handle, .success(let value)), _): value
            default: nil
            }
        }
    }

    private func value(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0) } }

    @Test(
        "A notified or indicated value is truncated to 512 octets",
        arguments: [512, 513, 514, 600],
        [0x1B, 0x1D] as [UInt8]
    )
    func notified(count: Int, opcode: UInt8) throws {
        let rig = makeRig(), link = try #require(ConnectionHandle(wire: 0x40))
        rig.forget()
        rig.deliver([opcode, 9, 0] + value(count), on: .attribute, of: link)
        rig.pump()
        #expect(values(rig) == [value(512)])
        #expect(rig.notes == (count > 512 ? [.oversizedValue(Self.handle, link)] : []))
    }

    @Test("A value read in one packet is truncated to 512 octets", arguments: [512, 513, 515])
    func read(count: Int) throws {
        let rig = makeRig(), link = try #require(ConnectionHandle(wire: 0x40))
        let peer = try #require(rig.host.links[link]?.peer)
        rig.perform(.peer(peer, .read(Self.handle)))
        rig.forget()
        rig.deliver([0x0B] + value(count), on: .attribute, of: link)
        rig.pump()
        #expect(values(rig) == [value(512)])
    }
}
