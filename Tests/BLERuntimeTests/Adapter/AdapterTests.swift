import BLERuntime
import BLEWire
import Glibc
import Testing

@Suite("Adapters", .timeLimit(.minutes(30)))
struct AdapterTests {
    private static let indexes = (0..<4).map { AdapterIndex(wire: $0) }

    @Test("Each adapter is listed with its user, even if the kernel's host cannot see it")
    func all() throws {
        let kernel = FakeKernel(0xA, 0xB, 0xC)
        kernel.plug(Self.indexes[1], address: 0xB, isPowered: true, bus: .uart)
        kernel.change(Self.indexes[2]) { $0.isTaken = true }
        kernel.block(Self.indexes[0], .soft)
        kernel.hold(
            by: AdapterHolder(process: 1, name: "bluetoothd"),
            AdapterHolder(process: 2, name: "node")
        )
        let adapters = try Adapter.all(in: kernel)
        #expect(adapters.map(\.index) == Array(Self.indexes[..<3]))
        #expect(adapters.map(\.state) == [.off, .powered, .taken])
        #expect(adapters.map(\.address?.value) == [0xA, 0xB, 0xC])
        #expect(adapters.map(\.bus) == [.usb, .uart, nil])
        #expect(adapters.map(\.block) == [.soft, nil, nil])
        #expect(adapters.map { $0.holders.map(\.name) } == [[], ["bluetoothd"], ["node"]])
    }

    @Test("The first unused adapter without obstacles is chosen")
    func chosen() throws {
        let kernel = FakeKernel(0xA, 0xB, 0xC, 0xD)
        #expect(try AdapterReference.firstUsable(in: kernel) == .index(Self.indexes[0]))
        kernel.plug(Self.indexes[0], address: 0xA, isPowered: true)
        kernel.change(Self.indexes[1]) { $0.isTaken = true }
        kernel.block(Self.indexes[2], .hard)
        #expect(try AdapterReference.firstUsable(in: kernel) == .index(Self.indexes[3]))
        kernel.change(Self.indexes[3]) { $0.information.supported = [.powered, .classic] }
        do throws(TransportError) {
            Issue.record("\(try AdapterReference.firstUsable(in: kernel)) was chosen")
        } catch {
            #expect(error.context == "hci0 is in use by BlueZ (process 0)")
            #expect(error.cure?.contains("BLUETOOTH_HOST=hci:0") == true)
        }
    }

    @Test("One line tells why no adapter can be chosen")
    func none() throws {
        let cases: [(FakeKernel, String)] = [
            (FakeKernel(), "the machine has no Bluetooth adapter"),
            (FakeKernel(0xA), "/opt/app may not use hci0"),
            (FakeKernel(0xA), "the kernel has no Bluetooth support"),
        ]
        cases[1].0.forbid()
        cases[2].0.failSockets(EAFNOSUPPORT)
        for (kernel, context) in cases {
            do throws(TransportError) {
                Issue.record("\(try AdapterReference.firstUsable(in: kernel)) was chosen")
            } catch {
                #expect(error.context == context)
            }
        }
    }

    /// What a controller answers, by opcode; the commands that it knows follow from that.
    private static let answers: [(HCI.Opcode, [UInt8])] = [
        (.reset, [0]), (.readLocalVersionInformation, [0, 0x0C, 1, 0, 0x0C, 0x59, 0x00, 2, 0]),
        (.readBDADDR, [0, 0x13, 0x71, 0xDA, 0x7D, 0x1A, 0x00]),
        (.leReadLocalSupportedFeatures, [0, 0x01, 0x11, 0, 0, 0, 0, 0, 0]), (.leReadBufferSize, [0, 0xFB, 0, 8]),
        (.leReadFilterAcceptListSize, [0, 16]), (.leReadNumberOfSupportedAdvertisingSets, [0, 5]),
        (.leReadMaximumAdvertisingDataLength, [0, 0x72, 0x06]),
    ]

    private func facts(_ answers: [(HCI.Opcode, [UInt8])]) async throws -> ControllerFacts {
        let kernel = FakeKernel(0xA)
        let port = UserChannelPort(.index(Self.indexes[0]), kernel: kernel)
        async let facts = ProbeSession.facts(through: PortTransport(port), within: .seconds(60))
        await kernel.nextBinding()
        while let command = kernel.writes(1, to: Self.indexes[0]).first, command.count >= 4 {
            kernel.say([0x04, 0xFF, 0x01, 0x00], as: Self.indexes[0])
            kernel.say(ControllerAnswers(answers).answer(to: command), as: Self.indexes[0])
        }
        return try await facts
    }

    @Test("A controller is asked for its capabilities with only the commands that it supports")
    func probed() async throws {
        let facts = try await facts(Self.answers)
        #expect(facts.version == .v5_3)
        #expect(facts.manufacturer?.wire == 0x59)
        #expect(facts.address?.description == "00:1A:7D:DA:71:13")
        #expect(facts.features == [.encryption, .phy2M, .extendedAdvertising])
        #expect((facts.aclOctets, facts.aclPackets) == (251, 8))
        #expect((facts.acceptListSize, facts.resolvingListSize) == (16, nil))
        #expect((facts.advertisingSets, facts.advertisingOctets) == (5, 0x0672))
    }

    @Test("Facts that a controller refuses or garbles are omitted")
    func partial() async throws {
        let answers: [(HCI.Opcode, [UInt8])] = [
            (.reset, [0]), (.leReadLocalSupportedFeatures, [0, 1, 0, 0, 0, 0, 0, 0, 0]), (.readBDADDR, [0, 1]),
            (.leReadBufferSize, [0, 0, 0, 0]), (.readBufferSize, [0, 0x36, 0x01, 0x40, 0x0A, 0, 0, 0]),
        ]
        let facts = try await facts(answers)
        #expect(facts.version == nil && facts.address == nil && facts.acceptListSize == nil)
        #expect((facts.aclOctets, facts.aclPackets) == (0x136, 10))
        #expect((facts.advertisingSets, facts.advertisingOctets) == (1, 31))
    }

    @Test("A controller that cannot be reset is not a controller")
    func broken() async throws {
        await #expect(throws: TransportError.self) { try await facts([(.reset, [0x1F])]) }
    }

    @Test("A missing adapter is reported immediately")
    func missing() async throws {
        let port = UserChannelPort(.index(Self.indexes[0]), kernel: FakeKernel())
        await #expect(throws: TransportError.self) {
            try await ProbeSession.facts(through: PortTransport(port), within: .seconds(60))
        }
    }
}
