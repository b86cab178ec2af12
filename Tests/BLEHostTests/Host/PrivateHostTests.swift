import BLECrypto
import BLEWire
import Testing

@testable import BLEHost

@Suite("A private host and its controller")
struct PrivateHostTests {
    private let key = Key128(wire: 0x77)

    private static func resolvablePeer(_ number: UInt64) -> PeerRecord {
        let identity = DeviceAddress(0xC0FF_EE00_0000 | number, .random)
        var bond = Bond(identity: identity, longTermKey: LongTermKey(key: Key128(wire: 5)))
        bond.resolvingKey = Key128(wire: UInt128(number))
        return PeerRecord(identifier: PeerIdentifier(rawValue: UInt128(number)), address: identity, bond: bond)
    }

    private func makeRig(_ controller: FakeController = .new, resolvablePeers: [PeerRecord] = []) -> Rig {
        .ready(controller, configuration: .init(identifierSecret: 42, knownPeers: resolvablePeers, isPrivate: true))
    }

    @Test("Nothing is sent before there is a private address", arguments: [FakeController.old, .new])
    func silent(controller: FakeController) {
        var controller = controller
        controller.silent = [HCI.Opcode.leSetRandomAddress.wire]
        let rig = makeRig(controller)
        rig.perform(.scan(ScanRequest()))
        rig.perform(.server(.startAdvertising(.init(localName: "Shy"))), for: Rig.peripheral)
        #expect(rig.commands.allSatisfy { !$0.startsRadio })
        #expect(rig.commands.last?.opcode == .leSetRandomAddress)
    }

    @Test("All activities use the private address", arguments: [FakeController.old, .new])
    func ownAddress(controller: FakeController) throws {
        let rig = makeRig(controller)
        rig.perform(.scan(ScanRequest()))
        rig.perform(.server(.startAdvertising(.init(localName: "Shy"))), for: Rig.peripheral)
        rig.perform(.connect(rig.discover(DeviceAddress(7, .public)), ConnectRequest()))
        let addresses = rig.commands.compactMap(\.shownAddress), own = rig.commands.compactMap(\.ownAddress)
        let made = HostIdentity.resolvingKey(of: rig.controller.address, secret: 42)
        #expect(!addresses.isEmpty && addresses.allSatisfy { RandomAddress.isMade($0, with: made) })
        #expect(own.count >= 3 && own.allSatisfy { $0 == .random })
    }

    @Test("Only test suites choose the address from which the host connects", arguments: [ClientRole.central, .tester])
    func chosenAddress(role: ClientRole) {
        let rig = makeRig()
        let peer = rig.discover(DeviceAddress(7, .public)), client = ClientID(rawValue: 9)
        rig.host.open(client, role: role, at: rig.now)
        rig.forget()
        rig.perform(.connect(peer, ConnectRequest(ownAddress: .public)), for: client)
        #expect(rig.commands.compactMap(\.ownAddress) == [role == .tester ? .public : .random])
    }

    @Test(
        "Radio activity pauses to change the private address, and resumes with the new one",
        arguments: [FakeController.old, .new]
    )
    func rotation(controller: FakeController) throws {
        let rig = makeRig(controller)
        rig.perform(.scan(ScanRequest(allowsDuplicates: true)))
        rig.perform(.server(.startAdvertising(.init(localName: "Shy"))), for: Rig.peripheral)
        let first = try #require(rig.commands.compactMap(\.shownAddress).last)
        rig.forget()
        rig.advance(by: .seconds(900) - .nanoseconds(1))
        #expect(rig.commands.isEmpty)
        rig.advance(by: .nanoseconds(1))
        let address = try #require(rig.commands.firstIndex { $0.opcode == .leSetRandomAddress })
        let starts = rig.commands.indices.filter { rig.commands[$0].startsRadio }
        let stops = rig.commands.indices.filter { rig.commands[$0].stopsRadio }
        #expect(starts.count == 2 && starts.allSatisfy { $0 > address })
        #expect(stops.count == 2 && stops.allSatisfy { $0 < address })
        #expect(rig.commands.compactMap(\.shownAddress).allSatisfy { $0 != first })
        #expect(rig.notes.isEmpty && rig.events.isEmpty)
    }

    @Test("The host waits for a controller that is slow to stop, without a deadline in between")
    func slow() {
        let rig = makeRig(.old)
        rig.perform(.scan(ScanRequest(allowsDuplicates: true)))
        rig.controller.silent = [HCI.Opcode.leSetScanEnable.wire]
        rig.forget()
        rig.advance(by: .seconds(901))
        #expect(rig.commands.map(\.opcode) == [.leSetScanEnable])
        let isDueLater = rig.host.deadline.map { $0 > rig.now } ?? false
        #expect(isDueLater)
    }

    @Test("Bonded peers on the resolving list are connected to by identity, and others are found by scanning")
    func crowded() throws {
        var controller = FakeController.new
        for opcode in FakeController.resolving { controller.commands.insert(opcode) }
        controller.resolvingListSize = 2
        let rig = makeRig(controller, resolvablePeers: (1...3).map(Self.resolvablePeer))
        let listed = rig.commands.compactMap { command in
            if case .leAddDeviceToResolvingList(let entry) = command { entry } else { nil }
        }
        #expect(listed.map(\.peerKey.wire) == [3, 2], "those of use last come first")
        let own = HostIdentity.resolvingKey(of: controller.address, secret: 42)
        #expect(listed.allSatisfy { $0.localKey == own })
        rig.forget()
        rig.perform(.connect(PeerIdentifier(rawValue: 2), ConnectRequest()))
        #expect(rig.commands.allSatisfy { !$0.isScan })
        let called = rig.commands.compactMap { command -> HCI.LEExtendedCreateConnection? in
            if case .leExtendedCreateConnection(let command) = command { command } else { nil }
        }
        #expect(called.map(\.peer) == [DeviceAddress(0xC0FF_EE00_0002, .random)])
        #expect(called.map(\.ownAddress) == [.resolvableOrRandom])
        rig.perform(.cancelConnection(PeerIdentifier(rawValue: 2)))
        rig.connect(.none, status: .unknownConnectionIdentifier)
        rig.forget()
        // It takes the place of the one that was of use longest ago.
        rig.perform(.connect(PeerIdentifier(rawValue: 1), ConnectRequest()))
        let opcodes = rig.commands.map(\.opcode)
        #expect(opcodes.contains(.leRemoveDeviceFromResolvingList) && opcodes.contains(.leAddDeviceToResolvingList))
        #expect(rig.commands.last?.opcode == .leExtendedCreateConnection)
        #expect(rig.notes.isEmpty)
    }

    @Test("A bonded peer that advertises its identity address is connected to there as well")
    func identity() {
        let rig = makeRig(.old, resolvablePeers: [Self.resolvablePeer(1)])
        let identity = DeviceAddress(0xC0FF_EE00_0001, .random)
        var random = SeededGenerator(seed: 3)
        let peer = PeerIdentifier(rawValue: 1)
        #expect(rig.discover(RandomAddress.makeResolvable(key: Key128(wire: 1), using: &random)) == peer)
        rig.perform(.connect(peer, ConnectRequest()))
        rig.forget()
        rig.hear(.connectable, from: identity)
        for _ in 0..<6 {
            rig.advance(by: .seconds(1))
            guard rig.commands.last?.opcode == .leCreateConnectionCancel else { continue }
            rig.connect(.none, status: .unknownConnectionIdentifier)
        }
        let called = rig.commands.compactMap { command -> DeviceAddress? in
            if case .leCreateConnection(let command) = command { command.peer } else { nil }
        }
        #expect(called.contains(identity))
    }

    @Test("A host whose controller has no address keeps the one that it generates", arguments: [UInt128(1), 2])
    func fallback(secret: UInt128) {
        var controller = FakeController.new
        controller.address = .none
        let addresses = (0..<2).map { _ in
            let rig = Rig.ready(controller, configuration: .init(identifierSecret: secret))
            return rig.commands.compactMap(\.shownAddress).first
        }
        #expect(addresses[0] == HostIdentity.staticAddress(secret: secret) && addresses[0] == addresses[1])
    }
}

extension HCICommandPacket {
    /// Whether it begins to scan, advertise or initiate.
    fileprivate var startsRadio: Bool {
        switch self {
        case .leSetScanEnable(let command): command.enable
        case .leSetExtendedScanEnable(let command): command.enable
        case .leSetAdvertisingEnable(let command): command.enable
        case .leSetExtendedAdvertisingEnable(let command): command.enable
        case .leCreateConnection, .leExtendedCreateConnection: true
        default: false
        }
    }

    fileprivate var stopsRadio: Bool {
        switch self {
        case .leSetScanEnable, .leSetExtendedScanEnable, .leSetAdvertisingEnable, .leSetExtendedAdvertisingEnable:
            !startsRadio
        default: false
        }
    }

    fileprivate var isScan: Bool { opcode == .leSetScanEnable || opcode == .leSetExtendedScanEnable }

    /// The address that it gives the controller.
    fileprivate var shownAddress: DeviceAddress? {
        switch self {
        case .leSetRandomAddress(let command): command.address
        case .leSetAdvertisingSetRandomAddress(let command): command.address
        default: nil
        }
    }

    /// Which of its addresses the controller is to use.
    fileprivate var ownAddress: HCI.OwnAddress? {
        switch self {
        case .leSetScanParameters(let command): command.ownAddress
        case .leSetExtendedScanParameters(let command): command.ownAddress
        case .leSetAdvertisingParameters(let command): command.ownAddress
        case .leSetExtendedAdvertisingParameters(let command): command.ownAddress
        case .leCreateConnection(let command): command.ownAddress
        case .leExtendedCreateConnection(let command): command.ownAddress
        default: nil
        }
    }
}
