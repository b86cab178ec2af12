import BLEWire
import Testing

@testable import BLEHost

@Suite("Advertisements that do not fit into one")
struct SharedAdvertisingTests {
    private static let clients = [Rig.peripheral, ClientID(rawValue: 4), ClientID(rawValue: 5)]

    /// A host with as many apps that advertise one long service each.
    private func rig(_ controller: FakeController, apps: Int) -> Rig {
        let rig = Rig.ready(controller)
        for client in Self.clients.dropFirst() { rig.host.open(client, role: .peripheral, at: rig.now) }
        rig.pump()
        rig.forget()
        for (number, client) in Self.clients.prefix(apps).enumerated() {
            let service = AdvertisingTests.long(UInt8(number))
            rig.perform(.server(.startAdvertising(.init(services: [service]))), for: client)
        }
        return rig
    }

    private func answers(_ rig: Rig, _ client: ClientID) -> [ClientEvent] {
        rig.events(of: client).filter { if case .server(.advertisingStarted) = $0 { true } else { false } }
    }

    /// The services that were handed to the controller, with the set that they are in.
    private func services(_ rig: Rig) -> [(set: UInt8, service: BluetoothUUID?)] {
        rig.commands.compactMap { command in
            switch command {
            case .leSetAdvertisingData(let set): (0, AdvertisingData(decoding: set.data).serviceUUIDs.first)
            case .leSetExtendedAdvertisingData(let set):
                (set.set.wire, AdvertisingData(decoding: set.data).serviceUUIDs.first)
            default: nil
            }
        }
    }

    @Test("Advertisements use separate sets where the controller has them")
    func sets() {
        let rig = rig(.new, apps: 3)
        let found = services(rig)
        #expect(found.map(\.set) == [0, 16, 17])
        #expect(found.map(\.service) == (0..<3).map { AdvertisingTests.long($0) })
        for client in Self.clients { #expect(answers(rig, client) == [.server(.advertisingStarted(nil))]) }
        rig.forget()
        rig.advance(by: .seconds(10))
        #expect(rig.commands.isEmpty)
        rig.perform(.server(.stopAdvertising), for: Self.clients[2])
        #expect(rig.commands.last == .leRemoveAdvertisingSet(.init(set: AdvertisingHandle(wire: 17) ?? .first)))
    }

    @Test("Advertisements take turns where the controller has only one set")
    func turns() {
        let rig = rig(.old, apps: 3)
        #expect(answers(rig, Self.clients[0]) == [.server(.advertisingStarted(nil))])
        #expect(answers(rig, Self.clients[1]).isEmpty)
        rig.forget()
        for _ in 0..<6 { rig.advance(by: .seconds(1)) }
        let order: [UInt8] = [1, 2, 0, 1, 2, 0]
        #expect(services(rig).map(\.service) == order.map { AdvertisingTests.long($0) })
        for client in Self.clients.dropFirst() { #expect(answers(rig, client) == [.server(.advertisingStarted(nil))]) }
        for client in Self.clients.prefix(2) { rig.perform(.server(.stopAdvertising), for: client) }
        rig.forget()
        rig.advance(by: .seconds(10))
        #expect(rig.commands.isEmpty)
    }

    @Test("Advertisements share the existing sets when the controller refuses another")
    func few() {
        let rig = rig(.new, apps: 1)
        rig.controller.refused = [HCI.Opcode.leSetExtendedAdvertisingParameters.wire: .memoryCapacityExceeded]
        let service = AdvertisingTests.long(1)
        rig.perform(.server(.startAdvertising(.init(services: [service]))), for: Self.clients[1])
        rig.controller.refused = [:]
        #expect(answers(rig, Self.clients[1]).isEmpty)
        rig.advance(by: .seconds(1))
        rig.advance(by: .seconds(1))
        #expect(answers(rig, Self.clients[1]) == [.server(.advertisingStarted(nil))])
        #expect(services(rig).last?.set == 0)
    }
}
