import BLEController
import BLEWire
import Testing

/// Core 6.0, Vol 4, Part E, 4.5, 7.3, 7.4 and 7.8.
@Suite("Commands")
struct CommandTests {
    @Test("A controller reports its identity, and only the commands and features that it supports")
    func identity() throws {
        var bench = Bench()
        let new = bench.add(), old = bench.add(.legacyOnly)
        for board in [new, old] {
            for command: HCICommandPacket in [
                .readBDADDR, .readLocalVersionInformation, .readLocalSupportedCommands, .leReadLocalSupportedFeatures,
                .leReadBufferSize, .readLocalSupportedFeatures, .leReadSupportedStates,
            ] { #expect(bench.ask(command, board) == .success) }
        }
        let address = try answer(HCI.ReadBDADDR.self, bench, new)
        #expect(address.address == Bench.address(new))
        let buffers = try (answer(HCI.LEReadBufferSize.self, bench, new), answer(HCI.LEReadBufferSize.self, bench, old))
        #expect(buffers.0.aclLength == 251 && buffers.1.aclLength == 27 && buffers.0.aclCount == 16)
        let features = try (
            answer(HCI.LEReadLocalSupportedFeatures.self, bench, new),
            answer(HCI.LEReadLocalSupportedFeatures.self, bench, old)
        )
        #expect(features.0.features.isSuperset(of: [.privacy, .extendedScanningFilterPolicies]))
        #expect(features.0.features.contains(.extendedAdvertising) && features.1.features == [.encryption])
        let commands = try (
            answer(HCI.ReadLocalSupportedCommands.self, bench, new),
            answer(HCI.ReadLocalSupportedCommands.self, bench, old)
        )
        #expect(commands.0.commands.contains(.leExtendedCreateConnection))
        #expect(commands.0.commands.contains(.leEnableEncryption))
        #expect(!commands.1.commands.contains(.leSetExtendedScanEnable))
    }

    private func answer<C: HCICommand>(_ command: C.Type, _ bench: borrowing Bench, _ board: Int) throws -> C.Return {
        for said in bench.said[board].reversed() {
            guard case .commandComplete(let event) = said.event, event.opcode == C.opcode else { continue }
            return try event.returned(by: command)
        }
        Issue.record("no answer to \(C.opcode)")
        return .init()
    }

    @Test("A command reported as supported is never unknown, and any other command always is")
    func claims() throws {
        for profile in [ControllerIdentity.Profile.core5, .legacyOnly] {
            var bench = Bench()
            let board = bench.add(profile)
            bench.send(.readLocalSupportedCommands, board)
            let commands = try answer(HCI.ReadLocalSupportedCommands.self, bench, board).commands
            for group in [0x01, 0x03, 0x04, 0x05, 0x08] as [UInt16] {
                for field in 0..<0x90 as Range<UInt16> {
                    let opcode = HCI.Opcode(wire: group << 10 | field)
                    bench.send([1] + opcode.wire.littleEndianOctets + [0], board)
                    #expect((bench.lastStatus(board) == .unknownCommand) == !commands.contains(opcode), "\(opcode)")
                }
            }
        }
    }

    @Test("A known command with a wrong length or a reserved value has invalid parameters")
    func malformed() {
        let cases: [(opcode: HCI.Opcode, parameters: [UInt8])] = [
            (.reset, [0]), (.readBDADDR, [1]), (.leSetScanEnable, [1]), (.leSetScanEnable, [2, 0]),
            (.disconnect, [0]), (.disconnect, [0, 0x0F, 0x13]), (.leCreateConnection, []),
            (.leSetAdvertisingData, [UInt8](repeating: 32, count: 32)), (.leSetAdvertisingEnable, [7]),
            (.leSetExtendedScanParameters, [0, 0, 0]), (.leSetExtendedAdvertisingEnable, [1, 1, 0]),
        ]
        for (opcode, parameters) in cases {
            var bench = Bench()
            let board = bench.add()
            bench.send([1] + opcode.wire.littleEndianOctets + [UInt8(parameters.count)] + parameters, board)
            #expect(bench.lastStatus(board) == .invalidCommandParameters, "\(opcode)")
            bench.send([1] + opcode.wire.littleEndianOctets + [UInt8(parameters.count + 1)] + parameters, board)
            #expect(bench.lastStatus(board) == .invalidCommandParameters, "\(opcode)")
        }
    }

    @Test("Every command with a handle that names no connection fails with an unknown connection identifier")
    func unknownHandles() throws {
        var bench = Bench()
        let board = bench.add()
        let handle = try #require(ConnectionHandle(wire: 0x0123)), parameters = Bench.parameters()
        let commands: [HCICommandPacket] = [
            .disconnect(.init(handle: handle, reason: .remoteUserTerminatedConnection)),
            .readRemoteVersionInformation(.init(handle: handle)), .leReadRemoteFeatures(.init(handle: handle)),
            .readRSSI(.init(handle: handle)), .leReadChannelMap(.init(handle: handle)),
            .leReadPHY(.init(handle: handle)), .leSetDataLength(.init(handle: handle, octets: 100, time: 1_000)),
            .leSetPHY(.init(handle: handle, transmit: .le2M, receive: .le2M)),
            .leConnectionUpdate(.init(handle: handle, parameters: parameters)),
            .leRemoteConnectionParameterRequestReply(.init(handle: handle, parameters: parameters)),
            .readTransmitPowerLevel(.init(handle: handle, maximum: false)),
            .readAuthenticatedPayloadTimeout(.init(handle: handle)),
        ]
        for command in commands {
            #expect(bench.ask(command, board) == .unknownConnectionIdentifier, "\(command)")
        }
        bench.send([1, 2, 3], on: handle, board)
        #expect(bench.notes == [.unknownConnection(handle)])
    }

    @Test("Legacy and extended commands exclude each other until a reset")
    func generations() {
        let legacy: [HCICommandPacket] = [
            .leSetAdvertisingData(.init(data: [])), .leSetScanEnable(.init(enable: false)),
            .leReadAdvertisingTransmitPower, .leSetAdvertisingEnable(.init(enable: false)),
        ]
        let extended: [HCICommandPacket] = [
            .leSetExtendedScanEnable(.init(enable: false)), .leReadNumberOfSupportedAdvertisingSets,
            .leClearAdvertisingSets, .leReadMaximumAdvertisingDataLength,
        ]
        for (first, second) in [(legacy, extended), (extended, legacy)] {
            var bench = Bench()
            let board = bench.add()
            for command in first { #expect(bench.ask(command, board) == .success, "\(command)") }
            for command in second { #expect(bench.ask(command, board) == .commandDisallowed, "\(command)") }
            #expect(bench.ask(.reset, board) == .success)
            for command in second { #expect(bench.ask(command, board) == .success, "\(command)") }
        }
    }

    @Test("A command that the controller's state does not permit is disallowed")
    func disallowed() {
        var bench = Bench()
        let board = bench.add()
        #expect(bench.ask(.leCreateConnectionCancel, board) == .commandDisallowed)
        bench.scan(board)
        #expect(bench.ask(.leSetRandomAddress(.init(address: Bench.address(9))), board) == .commandDisallowed)
        let interval = ScanInterval(.milliseconds(10))
        let again = HCI.LESetScanParameters(type: .active, interval: interval, window: interval)
        #expect(bench.ask(.leSetScanParameters(again), board) == .commandDisallowed)
        bench.advertise(board)
        bench.send(.leSetAdvertisingParameters(.init()), board)
        #expect(bench.lastStatus(board) == .commandDisallowed)
        bench.initiate(board, to: Bench.address(7))
        bench.initiate(board, to: Bench.address(8))
        #expect(bench.lastStatus(board) == .commandDisallowed)
        #expect(bench.ask(.leSetAddressResolutionEnable(.init(enable: true)), board) == .commandDisallowed)
    }

    @Test("A cancelled connection attempt ends with an event that says so")
    func cancelling() {
        var bench = Bench()
        let board = bench.add()
        bench.initiate(board, to: Bench.address(7))
        bench.run(for: .seconds(1))
        #expect(bench.ask(.leCreateConnectionCancel, board) == .success)
        guard case .leEnhancedConnectionComplete(let event)? = bench.events(board).last else {
            Issue.record("nothing was said")
            return
        }
        #expect(event.status == .unknownConnectionIdentifier)
    }

    @Test("A random address has to be set before it is used")
    func randomAddress() {
        var bench = Bench()
        let board = bench.add()
        let parameters = HCI.LESetAdvertisingParameters(
            minimum: Bench.interval,
            maximum: Bench.interval,
            ownAddress: .random,
            peer: .none
        )
        bench.send(.leSetAdvertisingParameters(parameters), board)
        #expect(bench.ask(.leSetAdvertisingEnable(.init(enable: true)), board) == .invalidCommandParameters)
        bench.send(.leSetRandomAddress(.init(address: DeviceAddress(0xC000_0000_0001, .random))), board)
        #expect(bench.ask(.leSetAdvertisingEnable(.init(enable: true)), board) == .success)
    }

    @Test("Device lists hold exactly as many entries as the controller reports")
    func lists() {
        var bench = Bench()
        let board = bench.add()
        func entry(_ index: Int) -> HCICommandPacket {
            .leAddDeviceToFilterAcceptList(.init(address: Bench.address(index)))
        }
        for index in 0..<32 { #expect(bench.ask(entry(index), board) == .success) }
        #expect(bench.ask(entry(0), board) == .success)
        #expect(bench.ask(entry(32), board) == .memoryCapacityExceeded)
        #expect(bench.ask(.leClearFilterAcceptList, board) == .success)
        #expect(bench.ask(entry(32), board) == .success)
        func identity(_ index: Int) -> HCICommandPacket {
            .leAddDeviceToResolvingList(.init(identity: Bench.address(index), peerKey: .zero, localKey: .zero))
        }
        for index in 0..<16 { #expect(bench.ask(identity(index), board) == .success) }
        #expect(bench.ask(identity(0), board) == .invalidCommandParameters)
        #expect(bench.ask(identity(16), board) == .memoryCapacityExceeded)
        let gone = HCI.LERemoveDeviceFromResolvingList(identity: Bench.address(40))
        #expect(bench.ask(.leRemoveDeviceFromResolvingList(gone), board) == .unknownConnectionIdentifier)
    }

    @Test("The accept list cannot change while it is in use")
    func usedList() {
        var bench = Bench()
        let board = bench.add()
        bench.scan(board, policy: .acceptList)
        let entry = HCICommandPacket.leAddDeviceToFilterAcceptList(.init(address: Bench.address(1)))
        #expect(bench.ask(entry, board) == .commandDisallowed)
        #expect(bench.ask(.leClearFilterAcceptList, board) == .commandDisallowed)
        bench.send(.leSetScanEnable(.init(enable: false)), board)
        #expect(bench.ask(entry, board) == .success)
    }

    @Test("An event that the host masks out is not sent")
    func masks() {
        var bench = Bench()
        let advertiser = bench.add(), scanner = bench.add()
        bench.advertise(advertiser)
        bench.send(.leSetEventMask(.init(mask: [.connectionComplete])), scanner)
        bench.scan(scanner)
        bench.run(for: .seconds(1))
        #expect(bench.reports(scanner).isEmpty)
        bench.send(.leSetEventMask(.init(mask: [.advertisingReport])), scanner)
        bench.run(for: .seconds(1))
        #expect(!bench.reports(scanner).isEmpty)
        bench.send(.setEventMask(.init(mask: .standard)), scanner)
        let count = bench.reports(scanner).count
        bench.run(for: .seconds(1))
        #expect(bench.reports(scanner).count == count)
    }

    @Test("Without its event mask bit, a connection is reported with the legacy event", arguments: [true, false])
    func olderForm(isMasked: Bool) throws {
        var bench = Bench()
        let central = bench.add(), peripheral = bench.add()
        if isMasked { bench.send(.leSetEventMask(.init(mask: .standard)), central) }
        bench.advertise(peripheral)
        bench.initiate(central, to: Bench.address(peripheral))
        bench.run(for: .seconds(1))
        switch try #require(bench.events(central).first) {
        case .leConnectionComplete(let event):
            #expect(isMasked && event.status == .success && event.peer == Bench.address(peripheral))
        case .leEnhancedConnectionComplete: #expect(!isMasked)
        default: Issue.record("the first event is another")
        }
    }
}
