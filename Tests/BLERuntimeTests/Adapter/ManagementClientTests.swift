import BLERuntime
import BLEWire
import Glibc
import Testing

@Suite("Management client", .timeLimit(.minutes(30)))
struct ManagementClientTests {
    private static let first = AdapterIndex(wire: 0)

    private func client(of kernel: FakeKernel) throws -> ManagementClient {
        ManagementClient(try kernel.openManagement(), timeout: .milliseconds(200))
    }

    @Test("Adapters are listed with details, whatever other events the kernel sends in between")
    func describes() throws {
        let kernel = FakeKernel(0xA, 0xB)
        kernel.gossip(
            ManagementEvent(.indexAdded, on: AdapterIndex(wire: 9)),
            ManagementEvent(.newSettings(.init([.powered])), on: Self.first),
            ManagementEvent(.commandComplete(.init(.setPowered, parameters: [])), on: Self.first),
            ManagementEvent(.commandStatus(.init(.readInformation, .failed)), on: AdapterIndex(wire: 9)),
            ManagementEvent(.unknown(.init(wire: 0x17), [1, 2]), on: .none)
        )
        let client = try client(of: kernel)
        #expect(try client.controllers().map(\.index) == [Self.first, AdapterIndex(wire: 1)])
        let information = try client.information(about: AdapterIndex(wire: 1))
        #expect(information.address.value == 0xB)
        #expect(information.name == "box")
        try client.setPowered(true, Self.first)
        #expect(try client.information(about: Self.first).current.contains(.powered))
        #expect(kernel.commands.count == 4)
    }

    @Test("A refusal by the kernel is reported", arguments: [Management.Status.invalidIndex, .permissionDenied, .busy])
    func refused(status: Management.Status) throws {
        let kernel = FakeKernel(0xA)
        kernel.refuse(.setPowered, status)
        let client = try client(of: kernel)
        #expect(throws: ManagementClient.Failure.refused(status)) { try client.setPowered(true, Self.first) }
    }

    @Test("A kernel that does not respond causes a timeout")
    func silent() throws {
        let kernel = FakeKernel(0xA)
        kernel.mute()
        let client = try client(of: kernel)
        #expect(throws: ManagementClient.Failure.silent) { try client.controllers() }
    }

    @Test("An invalid response is an error, not a crash")
    func malformed() throws {
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0)
        let near = FileDescriptor(ends[0]), far = FileDescriptor(ends[1])
        let answers: [[UInt8]] = [
            [1], [0x01, 0x00, 0xFF, 0xFF, 0x02, 0x00, 0x3C],
            ManagementEvent(.commandComplete(.init(.readExtendedIndexList, parameters: [9, 0])), on: .none).encoded,
        ]
        for answer in answers {
            _ = send(far.raw, answer, answer.count, 0)
            #expect(throws: ManagementClient.Failure.self) { try ManagementClient(near).controllers() }
        }
    }
}
