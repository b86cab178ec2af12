import BLEHost
import BLEWire
import Testing

@Suite("Controller quirks")
struct QuirkTests {
    private static let address = DeviceAddress(0xC0FF_EE00_0001, .random)
    private static let other = DeviceAddress(0xC0FF_EE00_0002, .random)
    private static let legacy: [HCI.Opcode] = [
        .leSetAdvertisingParameters, .leSetAdvertisingData, .leSetScanResponseData, .leSetAdvertisingEnable,
        .leSetScanParameters, .leSetScanEnable, .leCreateConnection,
    ]

    /// A new controller that lacks some commands and features.
    private static func new(without opcodes: [HCI.Opcode] = [], _ features: LEFeatures = []) -> FakeController {
        var controller = FakeController.new
        for opcode in opcodes { controller.commands.remove(opcode) }
        controller.features.subtract(features)
        return controller
    }

    /// Has a client do all that needs the radio.
    private func busy(_ controller: FakeController) -> Rig {
        let rig = Rig.ready(controller)
        rig.perform(.server(.startAdvertising(.init(localName: "Tea"))), for: Rig.peripheral)
        rig.perform(.connect(rig.discover(Self.address), ConnectRequest()))
        return rig
    }

    /// The mask of LE events that a host asks for.
    private func mask(_ rig: Rig) -> LEEventMask? {
        rig.commands.compactMap { if case .leSetEventMask(let set) = $0 { set.mask } else { nil } }.last
    }

    @Test(
        "Extended commands are used for everything if the controller has all of them, and legacy ones otherwise",
        arguments: [
            (FakeController.old, false), (.new, true), (new(without: [.leSetExtendedScanEnable]), false),
            (new(without: [], .extendedAdvertising), false), (new(without: legacy), true),
            (new(without: legacy, .extendedAdvertising), true),
        ]
    )
    func sets(controller: FakeController, isExtended: Bool) {
        let used = busy(controller).commands.map(\.opcode)
        #expect(used.contains(.leSetExtendedScanEnable) == isExtended)
        #expect(used.contains(.leExtendedCreateConnection) == isExtended)
        #expect(used.contains(.leSetExtendedAdvertisingEnable) == isExtended)
        #expect(used.contains { Self.legacy.contains($0) } == !isExtended)
    }

    @Test("Links take turns if there is a single buffer")
    func fewBuffers() throws {
        var controller = FakeController.old
        controller.buffers = (27, 1)
        let rig = Rig.ready(controller), peers = [Self.address, Self.other].map { rig.discover($0) }
        for peer in peers { rig.perform(.connect(peer, ConnectRequest())) }
        rig.returnsBuffers = false
        rig.connect(Self.address, 0x40)
        rig.connect(Self.other, 0x41)
        var links: [UInt16] = []
        for _ in 0..<2 {
            let link = try #require(rig.frames.last?.link)
            #expect(rig.frames.count == links.count + 1)
            links.append(link.wire)
            rig.inject(.numberOfCompletedPackets(.init(completed: [.init(handle: link, count: 1)])))
        }
        #expect(links == [0x40, 0x41])
    }

    @Test("Without LE buffers, the shared BR/EDR buffers are used at their size")
    func sharedBuffers() throws {
        var controller = FakeController.old
        (controller.buffers, controller.sharedBuffers) = ((0, 0), (310, 2))
        let rig = Rig.ready(controller), peer = rig.discover(Self.address)
        #expect(rig.commands.map(\.opcode).contains(.readBufferSize))
        #expect(!Rig.ready(.old).commands.map(\.opcode).contains(.readBufferSize))
        rig.perform(.connect(peer, ConnectRequest()))
        rig.connect(Self.address)
        #expect(rig.frames.count == 1)
    }

    @Test("Support for LE Read Buffer Size v2 makes no difference")
    func bufferSize() {
        var controller = FakeController.new
        let usual = Rig.ready(controller).commands
        controller.commands.insert(.leReadBufferSizeV2)
        #expect(Rig.ready(controller).commands == usual)
        #expect(usual.map(\.opcode).contains(.leReadBufferSize))
    }

    @Test(
        "A feature without its commands is not used, and neither are commands without their feature",
        arguments: [
            (
                HCI.Opcode.leRemoteConnectionParameterRequestReply, LEFeatures.connectionParametersRequest,
                HCI.LESubevent.remoteConnectionParameterRequest
            ),
            (.leSetDataLength, .dataPacketLengthExtension, .dataLengthChange),
            (.leSetPHY, .phy2M, .phyUpdateComplete),
            (.leClearResolvingList, .privacy, .directedAdvertisingReport),
        ]
    )
    func features(opcode: HCI.Opcode, feature: LEFeatures, event: HCI.LESubevent) throws {
        let whole = try #require(mask(Rig.ready(.new)))
        #expect(whole.allows(event))
        for controller in [Self.new(without: [opcode]), Self.new(without: [], feature)] {
            let rig = Rig.ready(controller), asked = try #require(mask(rig))
            #expect(!asked.allows(event))
            #expect(rig.events(of: Rig.central).last == .stateChanged(.poweredOn) && rig.notes.isEmpty)
        }
    }

    @Test("The host makes and resolves private addresses if the controller cannot be relied on")
    func resolvingList() {
        var able = FakeController.new
        for opcode in FakeController.resolving { able.commands.insert(opcode) }
        for isAble in [true, false] {
            var controller = able
            if !isAble { controller.commands.remove(.leSetPrivacyMode) }
            var bond = Bond(identity: Self.address, longTermKey: LongTermKey(key: Key128(wire: 5)))
            bond.resolvingKey = Key128(wire: 7)
            let resolvablePeer = PeerRecord(identifier: .init(rawValue: 7), address: Self.address, bond: bond)
            let configuration = Host.Configuration(identifierSecret: 42, knownPeers: [resolvablePeer], isPrivate: true)
            let rig = Rig.ready(controller, configuration: configuration)
            rig.perform(.scan(ScanRequest()))
            let used = rig.commands.map(\.opcode)
            #expect(used.contains(.leSetAddressResolutionEnable) == isAble)
            #expect(used.contains(.leSetRandomAddress) && used.contains(.leSetExtendedScanEnable))
        }
    }

    @Test(
        "An invalid public address is replaced by a random one, the same each time",
        arguments: [0, 0xFFFF_FFFF_FFFF] as [UInt64]
    )
    func publicAddress(value: UInt64) {
        var controller = FakeController.new
        controller.address = DeviceAddress(value, .public)
        let addresses = (0..<2).map { _ in
            Rig.ready(controller).commands.compactMap { command in
                if case .leSetRandomAddress(let set) = command { set.address } else { nil }
            }
        }
        #expect(addresses[0] == addresses[1] && addresses[0].map(\.randomKind) == [.static])
    }

    @Test(
        "If an extended command turns out to be unknown, legacy commands are used and apps continue",
        arguments: [HCI.Opcode.leSetExtendedScanParameters, .leSetExtendedScanEnable]
    )
    func unknownExtended(opcode: HCI.Opcode) {
        var controller = FakeController.new
        controller.refused = [opcode.wire: .unknownCommand]
        let rig = Rig.ready(controller)
        rig.perform(.scan(ScanRequest()))
        #expect(rig.events(of: Rig.central).suffix(2) == [.stateChanged(.resetting), .stateChanged(.poweredOn)])
        rig.forget()
        rig.perform(.scan(ScanRequest()))
        rig.advance(by: .seconds(60))
        let used = Set(rig.commands.map(\.opcode.wire))
        #expect(used.contains(HCI.Opcode.leSetScanEnable.wire) && !used.contains(opcode.wire))
        #expect(rig.transportResets == 0 && rig.notes.isEmpty)
    }

    @Test("Any other command that turns out to be unknown is sent only once")
    func unknownOther() {
        var controller = FakeController.new
        controller.refused = [HCI.Opcode.leReadRemoteFeatures.wire: .unknownCommand]
        let rig = Rig.ready(controller)
        for (handle, address) in [(UInt16(0x40), Self.address), (0x41, Self.other)] {
            rig.perform(.connect(rig.discover(address), ConnectRequest()))
            rig.connect(address, handle)
        }
        #expect(rig.commands.count { $0.opcode == .leReadRemoteFeatures } == 1)
        #expect(rig.events(of: Rig.central).contains(.stateChanged(.resetting)) == false)
    }

    /// Whether duplicates were to be dropped, for each time that a scan was begun.
    private func filters(_ rig: Rig) -> [Bool] {
        rig.commands.compactMap { command in
            if case .leSetScanEnable(let set) = command, set.enable { set.filterDuplicates } else { nil }
        }
    }

    @Test("Duplicate filtering is turned off if reports arrive only without it")
    func deaf() {
        let rig = Rig.ready()
        rig.perform(.scan(ScanRequest()))
        for period in 0..<4 {
            if filters(rig).last == false { rig.hear(.connectable, from: Self.address) }
            rig.advance(by: .seconds(10))
            #expect(filters(rig) == Array([true, true, false, true, false].prefix(period + 2)))
        }
        rig.hear(.connectable, from: Self.address)
        rig.hear(.connectable, from: Self.address)
        rig.advance(by: .seconds(300))
        #expect(filters(rig).count == 5)
        #expect(rig.discoveries().count == 1)
    }

    @Test("Duplicate filtering stays on if reports arrive with it, or if none arrive either way")
    func able() {
        let rig = Rig.ready(), silent = Rig.ready()
        for rig in [rig, silent] { rig.perform(.scan(ScanRequest())) }
        for _ in 0..<12 {
            rig.hear(.connectable, from: Self.address)
            for rig in [rig, silent] { rig.advance(by: .seconds(10)) }
        }
        #expect(filters(rig).count == 13 && filters(rig).allSatisfy { $0 })
        #expect(filters(silent) == (0..<13).map { $0 % 3 != 2 })
    }

    @Test("A controller that refuses duplicate filtering is asked to report everything")
    func refusing() {
        let rig = Rig.ready()
        rig.controller.refused = [HCI.Opcode.leSetScanEnable.wire: .memoryCapacityExceeded]
        rig.perform(.scan(ScanRequest()))
        rig.controller.refused = [:]
        rig.advance(by: .seconds(60))
        #expect(filters(rig) == [true, false])
    }

    @Test("Events and data of an unknown connection are noted and ignored")
    func strangeHandle() throws {
        let rig = Rig.ready(), peer = rig.discover(Self.address)
        rig.perform(.connect(peer, ConnectRequest()))
        rig.connect(Self.address)
        let strange = try #require(ConnectionHandle(wire: 0x777))
        let events: [HCIEventPacket] = [
            .disconnectionComplete(.init(status: .success, handle: strange, reason: .connectionTimeout)),
            .numberOfCompletedPackets(.init(completed: [.init(handle: strange, count: 1)])),
        ]
        for event in events {
            rig.forget()
            rig.inject(event)
            #expect(rig.notes == [.unknownLink(strange)] && rig.events.isEmpty && rig.commands.isEmpty)
        }
        rig.forget()
        rig.deliver([0x02, 0x17, 0x00], on: .attribute, of: strange)
        rig.pump()
        #expect(rig.notes == [.unknownLink(strange)] && rig.frames.isEmpty)
    }

    /// What is found in a report, for each quirk that one tells of.
    static let reports: [(ControllerReport, [ControllerQuirk])] = {
        func report(
            _ controller: FakeController,
            v2: Bool = true,
            buffers: Int = 8,
            isShared: Bool = false
        ) -> ControllerReport {
            var commands = controller.commands
            for opcode in FakeController.resolving { commands.insert(opcode) }
            if v2 { commands.insert(.leReadBufferSizeV2) }
            return ControllerReport(
                commands: commands,
                features: controller.features,
                address: controller.address,
                buffers: buffers,
                sharesBuffers: isShared
            )
        }
        var nameless = FakeController.new
        nameless.address = DeviceAddress(0xFFFF_FFFF_FFFF, .public)
        return [
            (report(.new), []),
            (report(new(without: [], .extendedAdvertising)), [.noExtendedAdvertising]),
            (report(new(without: legacy)), [.extendedOnly]),
            (report(.new, buffers: 2), [.fewBuffers]), (report(.new, buffers: 3), []),
            (report(.new, isShared: true), [.sharedBuffers]), (report(.new, v2: false), [.noBufferSizeV2]),
            (report(new(without: [.leSetPHY])), [.featureWithoutCommands]),
            (report(new(without: [], .phy2M)), [.commandsWithoutFeature]),
            (report(new(without: [.leClearResolvingList], .privacy)), [.noResolvingList]),
            (report(nameless), [.noPublicAddress]),
        ]
    }()

    @Test("Quirks are found in a controller's report, and none for a controller without them", arguments: reports)
    func found(report: ControllerReport, quirks: [ControllerQuirk]) {
        #expect(ControllerQuirks(report).found == quirks)
    }

    @Test("The explanation of a quirk names the features that the host does not use")
    func explanation() {
        let sentences = Self.reports.flatMap { report, quirks in
            quirks.map { ControllerQuirks(report).explanation(of: $0) }
        }
        #expect(sentences.contains { $0.hasPrefix("has fewer than three ACL data buffers: the host lets links") })
        let features = "the feature LE 2M PHY, but not the commands it needs: the host does not use the feature"
        #expect(sentences.contains("reports " + features))
        let commands = "the commands of LE 2M PHY, but does not report the feature: the host does not use it"
        #expect(sentences.contains("supports " + commands))
    }
}
