import BLERuntime
import BLEWire
import Glibc
import Testing

@Suite("User channel", .timeLimit(.minutes(30)))
struct UserChannelTests {
    private static let event: [UInt8] = [0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00]
    private static let reset: [UInt8] = [0x01, 0x03, 0x0C, 0x00]
    private static let data: [UInt8] = [0x02, 0x40, 0x00, 0x03, 0x00, 1, 2, 3]
    private static let first = AdapterIndex(wire: 0)
    private static let address: UInt64 = 0x001A_7DDA_7113

    private func owner(_ text: String, of kernel: FakeKernel) throws -> TransportOwner {
        let reference = try #require(AdapterReference(text))
        return TransportOwner(PortTransport(UserChannelPort(reference, kernel: kernel, pause: .zero)))
    }

    @Test("Each packet of the host is one write, and each read is one packet")
    func carries() async throws {
        let kernel = FakeKernel(Self.address)
        let owner = try owner("0", of: kernel)
        #expect(await owner.next() == .opened)
        owner.send(Self.reset + Self.data + Self.reset)
        #expect(kernel.writes(3, to: Self.first) == [Self.reset, Self.data, Self.reset])
        for packet in [Self.event, Self.data, Self.event] { kernel.say(packet, as: Self.first) }
        for packet in [Self.event, Self.data, Self.event] { #expect(await owner.packet() == packet) }
        #expect(owner.octetsReceived == 2 * Self.event.count + Self.data.count)
        owner.stop()
    }

    @Test("An adapter is found by its address, whatever its number and the case of the digits")
    func byAddress() async throws {
        let kernel = FakeKernel(1, Self.address)
        let owner = try owner("00:1a:7d:DA:71:13", of: kernel)
        #expect(await owner.next() == .opened)
        owner.send(Self.reset)
        #expect(kernel.writes(1, to: AdapterIndex(wire: 1)) == [Self.reset])
        owner.stop()
    }

    @Test("An adapter that the kernel's host uses is powered off first, and on again afterwards")
    func restored() async throws {
        let kernel = FakeKernel(Self.address)
        kernel.plug(Self.first, address: Self.address, isPowered: true)
        let owner = try owner("0", of: kernel)
        #expect(await owner.next() == .opened)
        #expect(!kernel.isPowered(Self.first))
        kernel.change(Self.first) { $0.isTaken = false }
        await owner.stopped()
        #expect(kernel.isPowered(Self.first))
    }

    @Test("An adapter that was off stays off")
    func left() async throws {
        let kernel = FakeKernel(Self.address)
        let owner = try owner("0", of: kernel)
        #expect(await owner.next() == .opened)
        kernel.change(Self.first) { $0.isTaken = false }
        await owner.stopped()
        #expect(!kernel.isPowered(Self.first))
    }

    @Test("An adapter that was powered off in vain is powered on again")
    func refused() async throws {
        let kernel = FakeKernel()
        kernel.plug(Self.first, address: Self.address, isPowered: true)
        kernel.change(Self.first) { $0.bindings = [EPERM] }
        let owner = try owner("0", of: kernel)
        #expect(await owner.next() == .absent(.forbidden))
        // It is tried again later, so that what counts is what was asked for first.
        let switched = kernel.commands.filter { $0.first == 0x05 }.map { $0.last }
        #expect(switched.prefix(2) == [0, 1])
        owner.stop()
    }

    @Test(
        "A new adapter is opened immediately, however long until the next attempt",
        arguments: [
            ManagementEvent(.indexAdded, on: first), ManagementEvent(.extendedIndexAdded(.init(bus: .usb)), on: first),
        ]
    )
    func comes(event: ManagementEvent) async throws {
        let kernel = FakeKernel()
        let reference = try #require(AdapterReference("0"))
        let port = UserChannelPort(reference, kernel: kernel, pause: .zero)
        let owner = TransportOwner(PortTransport(port, pauses: .seconds(7_200)...(.seconds(7_200))))
        #expect(await owner.next() == .absent(.unreachable))
        kernel.announce([1, 2, 3])
        kernel.announce(ManagementEvent(.indexRemoved, on: Self.first).encoded)
        kernel.plug(Self.first, address: Self.address)
        let telling = Task {
            // What is said just after an attempt does not count.
            while !Task.isCancelled {
                kernel.announce(event.encoded)
                await Task.yield()
            }
        }
        #expect(await owner.next() == .opened)
        telling.cancel()
        owner.stop()
    }

    @Test("With hci:first, the first adapter that becomes usable is opened, but never one that BlueZ uses")
    func firstUsable() async throws {
        let kernel = FakeKernel(), second = AdapterIndex(wire: 1)
        let port = UserChannelPort(.first, kernel: kernel, pause: .zero)
        let owner = TransportOwner(PortTransport(port, pauses: .milliseconds(1)...(.milliseconds(1))))
        #expect(await owner.next() == .absent(.unreachable))
        #expect(owner.lastFailure?.finding == .noAdapter)
        kernel.plug(Self.first, address: 1, isPowered: true)
        kernel.plug(second, address: Self.address)
        var next = await owner.next()
        while next == .absent(.unreachable) { next = await owner.next() }
        #expect(next == .opened)
        owner.send(Self.reset)
        #expect(kernel.writes(1, to: second) == [Self.reset])
        #expect(kernel.isPowered(Self.first))
        owner.stop()
    }

    @Test("An adapter that is busy for a moment is tried again")
    func busy() async throws {
        let kernel = FakeKernel(Self.address)
        kernel.change(Self.first) { $0.bindings = [EBUSY, EBUSY, 0] }
        let owner = try owner("0", of: kernel)
        #expect(await owner.next() == .opened)
        owner.stop()
    }

    @Test("An unplugged adapter is first lost, then absent, and used again once it is back")
    func unplugged() async throws {
        let kernel = FakeKernel(Self.address)
        let owner = try owner("0", of: kernel)
        #expect(await owner.next() == .opened)
        kernel.say(Self.event, as: Self.first)
        #expect(await owner.packet() == Self.event)
        kernel.unplug(Self.first)
        #expect(await owner.next() == .closed(.closed))
        #expect(await owner.next() == .absent(.unreachable))
        #expect(owner.lastFailure?.errno == ENODEV)
        kernel.plug(Self.first, address: Self.address)
        await kernel.nextBinding()
        await kernel.nextBinding()
        var next = await owner.next()
        while next == .absent(.unreachable) { next = await owner.next() }
        #expect(next == .opened)
        owner.stop()
    }

    @Test(
        "A read that is not exactly one packet ends the connection",
        arguments: [[0xFF], [4, 14, 4], [4, 14], [4, 14, 1, 0, 4]]
    )
    func garbage(octets: [UInt8]) async throws {
        let kernel = FakeKernel(Self.address)
        let owner = try owner("0", of: kernel)
        #expect(await owner.next() == .opened)
        kernel.say(Self.event, as: Self.first)
        #expect(await owner.packet() == Self.event)
        kernel.say(octets, as: Self.first)
        #expect(await owner.next() == .closed(.garbage))
        #expect(await owner.next() == .opened)
        owner.stop()
    }

    /// Something that stands in the way, and how it is said.
    struct Obstacle: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let code: TransportError.Code
        let context: String
        let cure: String
        let arrange: @Sendable (FakeKernel) -> Void
    }

    private static let obstacles = [
        Obstacle(
            testDescription: "no right",
            code: .forbidden,
            context: "/opt/app may not use hci0",
            cure: "sudo setcap cap_net_admin+ep /opt/app",
            arrange: { $0.forbid() }
        ),
        Obstacle(
            testDescription: "no right as the kernel sees it",
            code: .forbidden,
            context: "/opt/app may not use hci0",
            cure: "AmbientCapabilities=CAP_NET_ADMIN",
            arrange: { $0.change(first) { $0.bindings = [EPERM] } }
        ),
        Obstacle(
            testDescription: "no right to switch off",
            code: .forbidden,
            context: "may not use hci0",
            cure: "--cap-add=NET_ADMIN",
            arrange: {
                $0.plug(first, address: address, isPowered: true)
                $0.refuse(.setPowered, .permissionDenied)
            }
        ),
        Obstacle(
            testDescription: "BlueZ",
            code: .unreachable,
            context: "hci0 is in use by bluetoothd (process 7)",
            cure: "bluetoothctl power off",
            arrange: {
                $0.plug(first, address: address, isPowered: true)
                $0.hold(by: AdapterHolder(process: 7, name: "bluetoothd"))
                $0.refuse(.setPowered, .busy)
            }
        ),
        Obstacle(
            testDescription: "another program",
            code: .unreachable,
            context: "hci0 is in use by node (process 12)",
            cure: "End that program",
            arrange: {
                $0.hold(by: AdapterHolder(process: 12, name: "node"))
                $0.change(first) { $0.bindings = [Int32](repeating: EBUSY, count: 100) }
            }
        ),
        Obstacle(
            testDescription: "somebody unknown",
            code: .unreachable,
            context: "hci0 is in use by another program",
            cure: "ble adapters",
            arrange: { $0.change(first) { $0.bindings = [EUSERS] } }
        ),
        Obstacle(
            testDescription: "blocked by a program",
            code: .switchedOff,
            context: "hci0 is blocked by software (rfkill)",
            cure: "rfkill unblock bluetooth",
            arrange: { $0.block(first, .soft) }
        ),
        Obstacle(
            testDescription: "blocked by a switch",
            code: .switchedOff,
            context: "a hardware switch",
            cure: "with that switch",
            arrange: { $0.block(first, .hard) }
        ),
        Obstacle(
            testDescription: "blocked as the kernel sees it",
            code: .switchedOff,
            context: "hci0 is blocked by software (rfkill)",
            cure: "rfkill unblock bluetooth",
            arrange: { $0.change(first) { $0.bindings = [ERFKILL] } }
        ),
        Obstacle(
            testDescription: "no adapter",
            code: .unreachable,
            context: "the machine has no Bluetooth adapter",
            cure: "Plug in hci:0",
            arrange: { $0.unplug(first) }
        ),
        Obstacle(
            testDescription: "only another adapter",
            code: .unreachable,
            context: "only hci5",
            cure: "Plug in hci:0",
            arrange: {
                $0.unplug(first)
                $0.plug(AdapterIndex(wire: 5), address: address)
            }
        ),
        Obstacle(
            testDescription: "no Bluetooth",
            code: .unreachable,
            context: "the kernel has no Bluetooth support",
            cure: "sudo modprobe bluetooth",
            arrange: { $0.failSockets(EAFNOSUPPORT) }
        ),
        Obstacle(
            testDescription: "another error",
            code: .unreachable,
            context: "cannot open hci0",
            cure: "dmesg",
            arrange: { $0.change(first) { $0.bindings = [EIO] } }
        ),
    ]

    @Test("An obstacle is reported with its remedy", arguments: obstacles)
    func obstacle(_ obstacle: Obstacle) async throws {
        let kernel = FakeKernel(Self.address)
        obstacle.arrange(kernel)
        let owner = try owner("0", of: kernel)
        #expect(await owner.next() == .absent(obstacle.code))
        let failure = try #require(owner.lastFailure)
        #expect(failure.context.contains(obstacle.context))
        #expect(failure.cure?.contains(obstacle.cure) == true)
        owner.stop()
    }
}
