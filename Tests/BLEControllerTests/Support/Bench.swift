import BLEController
import BLEWire

/// Boards on one air, driven through HCI bytes alone, and everything that they said so far.
struct Bench: ~Copyable {
    /// Something that a board told its host, and when.
    struct Said: Equatable {
        let instant: Instant
        let event: HCIEventPacket
    }

    /// A fragment of L2CAP that a board gave its host.
    struct Fragment: Equatable {
        let handle: ConnectionHandle
        let isStart: Bool
        let octets: [UInt8]
    }

    var air: Air
    var now = Instant()
    var said: [[Said]] = []
    var fragments: [[Fragment]] = []
    var records: [AirRecord] = []
    var notes: [ControllerNote] = []
    /// Every output in order, with its time: what two runs of one seed have in common.
    var trace: [String] = []
    var keepsTrace = false

    init(seed: UInt64 = 1, loss: Double = 0) { air = Air(seed: seed, conditions: .init(loss: loss)) }

    static func address(_ board: Int) -> DeviceAddress { DeviceAddress(0xC0DE_0000_0000 | UInt64(board), .public) }

    /// Adds a board whose host wants to see every event.
    @discardableResult
    mutating func add(
        _ profile: ControllerIdentity.Profile = .core5,
        at position: Position = .init(),
        maximumConnections: Int = ControllerIdentity.standardConnections
    ) -> Int {
        let id = air.add(
            .init(
                address: Self.address(said.count),
                profile: profile,
                position: position,
                maximumConnections: maximumConnections
            )
        )
        said.append([])
        fragments.append([])
        wantEverything(id.rawValue)
        return id.rawValue
    }

    mutating func wantEverything(_ board: Int) {
        send(.setEventMask(.init(mask: .init(wire: .max))), board)
        send(.setEventMaskPage2(.init(mask: .init(wire: .max))), board)
        send(.leSetEventMask(.init(mask: .init(wire: .max))), board)
        said[board] = []
    }

    mutating func send(_ command: HCICommandPacket, _ board: Int) { send(command.encoded, board) }

    mutating func send(_ bytes: [UInt8], _ board: Int) {
        air.receive(bytes, from: ControllerID(rawValue: board), at: now)
        drain()
    }

    /// Sends a fragment of L2CAP.
    mutating func send(_ octets: [UInt8], on handle: ConnectionHandle, isStart: Bool = true, _ board: Int) {
        let field = handle.wire | (isStart ? 0 : 0x1000)
        let length = UInt16(octets.count)
        send([2] + field.littleEndianOctets + length.littleEndianOctets + octets, board)
    }

    /// Lets time pass.
    mutating func run(for duration: Duration) { run(until: now + duration) }

    mutating func run(until end: Instant) {
        while let deadline = air.deadline, deadline <= end {
            now = max(now, deadline)
            air.wake(at: now)
            drain()
        }
        now = end
        air.wake(at: end)
        drain()
    }

    mutating func drain() {
        while let output = air.next() {
            if keepsTrace { trace.append("\(now.nanoseconds) \(output)") }
            switch output {
            case .hci(let bytes, let board): take(bytes, board.rawValue)
            case .note(let note, _): notes.append(note)
            case .air(let record): records.append(record)
            }
        }
    }

    private mutating func take(_ bytes: [UInt8], _ board: Int) {
        if bytes.first == HCI.PacketType.event.wire {
            guard let event = try? HCIEventPacket(decoding: Array(bytes.dropFirst())) else {
                preconditionFailure("a board says what is no event: \(bytes.hexadecimal)")
            }
            said[board].append(Said(instant: now, event: event))
        } else {
            let field = UInt16(bytes[1]) | UInt16(bytes[2]) << 8
            guard bytes[0] == HCI.PacketType.acl.wire, let handle = ConnectionHandle(wire: field & 0x0FFF) else {
                preconditionFailure("a board says what is no packet: \(bytes.hexadecimal)")
            }
            precondition(bytes.count == 5 + Int(bytes[3]) + Int(bytes[4]) << 8, "a fragment has another length")
            fragments[board].append(
                Fragment(handle: handle, isStart: field >> 12 == 2, octets: Array(bytes.dropFirst(5)))
            )
        }
    }

    /// What a board said, without the answers to commands.
    func events(_ board: Int) -> [HCIEventPacket] {
        said[board].map(\.event).filter { event in
            switch event {
            case .commandComplete, .commandStatus: false
            default: true
            }
        }
    }

    /// The status with which the last command was answered.
    func lastStatus(_ board: Int) -> HCI.Status? {
        for said in said[board].reversed() {
            switch said.event {
            case .commandComplete(let event): return event.status
            case .commandStatus(let event): return event.status
            default: continue
            }
        }
        return nil
    }

    /// Sends a command and returns the status of its answer.
    mutating func ask(_ command: HCICommandPacket, _ board: Int) -> HCI.Status? {
        send(command, board)
        return lastStatus(board)
    }
}
