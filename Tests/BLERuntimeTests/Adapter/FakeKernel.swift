import BLERuntime
import BLEWire
import Dispatch
import Glibc

/// A kernel with adapters of a test's making, which answers through socket pairs as the real one does.
final class FakeKernel: AdapterKernel {
    struct Adapter {
        var information = Management.Information()
        var bus = Management.Bus.usb
        /// What the kernel says to who wants the adapter, one call after the other; 0 for yes.
        var bindings: [Int32] = []
        var isTaken = false
        var kind = Management.ControllerKind.configured
    }

    private struct State {
        var adapters: [AdapterIndex: Adapter] = [:]
        var commands: [[UInt8]] = []
        var ends: [AdapterIndex: FileDescriptor] = [:]
        /// Where programs ask and listen.
        var listeners: [FileDescriptor] = []
        var switches: [RadioSwitch] = []
        var holders: [AdapterHolder] = []
        var isPrivileged = true
        var hasBluetooth = false
        var socketFailure: Int32 = 0
        /// What is said before each answer.
        var gossip: [ManagementEvent] = []
        /// What is said instead of an answer, by the opcode of the command.
        var refusals: [UInt16: Management.Status] = [:]
        var isMute = false
    }

    private let state = Locked(State())
    private let (binds, bound) = AsyncStream.makeStream(of: Void.self)

    /// A kernel with one adapter for each address, which are off.
    init(_ addresses: UInt64...) {
        for (number, address) in addresses.enumerated() { plug(AdapterIndex(wire: UInt16(number)), address: address) }
    }

    func plug(_ index: AdapterIndex, address: UInt64, isPowered: Bool = false, bus: Management.Bus = .usb) {
        var adapter = Adapter()
        adapter.information.address = DeviceAddress(address, .public)
        adapter.information.name = "box"
        adapter.information.supported = [.powered, .lowEnergy, .classic]
        adapter.information.current = isPowered ? [.powered, .lowEnergy] : []
        adapter.bus = bus
        state.withLock { $0.adapters[index] = adapter }
    }

    /// Takes an adapter away, as the real kernel does: its sockets break.
    func unplug(_ index: AdapterIndex) {
        state.withLock { state in
            state.adapters[index] = nil
            state.ends[index] = nil
        }
    }

    func change(_ index: AdapterIndex, _ body: (inout Adapter) -> Void) {
        state.withLock { state in
            guard var adapter = state.adapters[index] else { return }
            body(&adapter)
            state.adapters[index] = adapter
        }
    }

    func block(_ index: AdapterIndex, _ block: RadioSwitch.Block?) {
        state.withLock { $0.switches = [RadioSwitch(name: index.description, block: block)] }
    }

    func hold(by holders: AdapterHolder...) { state.withLock { $0.holders = holders } }
    func allow() { state.withLock { $0.isPrivileged = true } }
    func hideBluetooth() { state.withLock { $0.hasBluetooth = true } }
    func forbid() { state.withLock { $0.isPrivileged = false } }
    func failSockets(_ number: Int32) { state.withLock { $0.socketFailure = number } }
    func gossip(_ events: ManagementEvent...) { state.withLock { $0.gossip = events } }
    func refuse(_ opcode: Management.Opcode, _ status: Management.Status) {
        state.withLock { $0.refusals[opcode.wire] = status }
    }
    func grant(_ opcode: Management.Opcode) { state.withLock { $0.refusals[opcode.wire] = nil } }
    func mute() { state.withLock { $0.isMute = true } }

    /// Tells all programs that listen.
    func announce(_ octets: [UInt8]) {
        for end in state.withLock({ $0.listeners }) {
            _ = send(end.raw, octets, octets.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        }
    }

    /// Whether the kernel's own host uses an adapter now.
    func isPowered(_ index: AdapterIndex) -> Bool {
        state.withLock { $0.adapters[index]?.information.current.contains(.powered) == true }
    }

    /// What the management sockets were told, in order.
    var commands: [[UInt8]] { state.withLock { $0.commands } }

    /// Waits until a program takes an adapter.
    func nextBinding() async { await binds.first { _ in true } }

    /// Sends what the controller of an adapter says, with one write.
    func say(_ octets: [UInt8], as index: AdapterIndex) {
        guard let end = state.withLock({ $0.ends[index] }) else { return }
        _ = send(end.raw, octets, octets.count, Int32(MSG_NOSIGNAL))
    }

    /// What the host has written to an adapter, one array for each of `count` writes, waiting for them.
    func writes(_ count: Int, to index: AdapterIndex) -> [[UInt8]] {
        guard let end = state.withLock({ $0.ends[index] }) else { return [] }
        return (0..<count).map { _ in
            var buffer = [UInt8](repeating: 0, count: 65_536)
            return Array(buffer[..<max(0, recv(end.raw, &buffer, buffer.count, 0))])
        }
    }

    func openManagement() throws(SystemFailure) -> FileDescriptor {
        let failure = state.withLock { $0.socketFailure }
        guard failure == 0 else { throw SystemFailure(errno: failure) }
        let (near, far) = Self.pair()
        state.withLock { $0.listeners.append(far) }
        DispatchQueue(label: "test.kernel").async { [self] in serve(far) }
        return near
    }

    func openUserChannel(of index: AdapterIndex) throws(SystemFailure) -> FileDescriptor {
        let failure: Int32 = state.withLock { state in
            guard var adapter = state.adapters[index] else { return ENODEV }
            defer { state.adapters[index] = adapter }
            if !adapter.bindings.isEmpty, case let next = adapter.bindings.removeFirst(), next != 0 { return next }
            if adapter.information.current.contains(.powered) { return EBUSY }
            adapter.isTaken = true
            return 0
        }
        guard failure == 0 else { throw SystemFailure(errno: failure) }
        let (near, far) = Self.pair()
        state.withLock { $0.ends[index] = far }
        bound.yield()
        return near
    }

    var indexes: [AdapterIndex] { state.withLock { $0.adapters.keys.sorted() } }
    func address(of index: AdapterIndex) -> DeviceAddress? {
        state.withLock { $0.adapters[index]?.information.address }
    }
    var switches: [RadioSwitch] { state.withLock { $0.switches } }
    var holders: [AdapterHolder] { state.withLock { $0.holders } }
    func users(of path: String) -> [RunningProgram] { LinuxKernel().users(of: path) }
    var hasBluetooth: Bool { state.withLock { $0.hasBluetooth } }
    var isPrivileged: Bool { state.withLock { $0.isPrivileged } }
    var program: String { "/opt/app" }

    private static func pair() -> (FileDescriptor, FileDescriptor) {
        var ends: [Int32] = [0, 0]
        let kind = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue)
        precondition(socketpair(AF_UNIX, kind, 0, &ends) == 0, "no pair of sockets")
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        return (FileDescriptor(ends[0]), FileDescriptor(ends[1]))
    }

    private func serve(_ socket: FileDescriptor) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(socket.raw, &buffer, buffer.count, 0)
            guard count >= 6 else { return }
            for answer in answers(to: Array(buffer[..<count])) {
                _ = send(socket.raw, answer, answer.count, Int32(MSG_NOSIGNAL))
            }
        }
    }

    private func answers(to command: [UInt8]) -> [[UInt8]] {
        state.withLock { state in
            state.commands.append(command)
            if state.isMute { return [] }
            let opcode = Management.Opcode(wire: UInt16(command[0]) | UInt16(command[1]) << 8)
            let index = AdapterIndex(wire: UInt16(command[2]) | UInt16(command[3]) << 8)
            let answer = Self.answer(opcode, Array(command[6...]), on: index, in: &state)
            return (state.gossip + [ManagementEvent(answer, on: index)]).map(\.encoded)
        }
    }

    private static func answer(
        _ opcode: Management.Opcode,
        _ parameters: [UInt8],
        on index: AdapterIndex,
        in state: inout State
    ) -> ManagementEvent.Body {
        if let status = state.refusals[opcode.wire] { return .commandStatus(.init(opcode, status)) }
        if opcode == .readExtendedIndexList {
            let entries = state.adapters.sorted { $0.key < $1.key }.filter { !$0.value.isTaken }
                .map { Management.ControllerEntry(index: $0.key, kind: $0.value.kind, bus: $0.value.bus) }
            return .commandComplete(.init(opcode, parameters: Management.ExtendedIndexList(entries).encoded))
        }
        guard var adapter = state.adapters[index], !adapter.isTaken else {
            return .commandStatus(.init(opcode, .invalidIndex))
        }
        if opcode == .setPowered {
            adapter.information.current = parameters == [1] ? [.powered, .lowEnergy] : []
            state.adapters[index] = adapter
            let settings = Management.NewSettings(adapter.information.current)
            return .commandComplete(.init(opcode, parameters: settings.encoded))
        }
        return .commandComplete(.init(opcode, parameters: adapter.information.encoded))
    }
}
