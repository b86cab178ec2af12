import ArgumentParser
import BLEHost
import BLEWire
import Foundation

/// A driver that performs the pairing of a test case.
struct PairingDriver: Driver {
    private struct Command: Decodable {
        let encrypted: Bool
    }

    private struct Paired: Encodable {
        struct Outcome: Encodable {
            let authenticated: Bool
            let key_size: Int
        }

        let paired: Outcome
    }

    private let role: LinkRole
    private let passkey: UInt32?
    private let confirms: Bool
    private var manager: SecurityManager
    private var outputs: [DriverOutput] = []
    private var hasReportedKey = false
    /// Packets from the responder that require encryption, but arrived before the line that reports the encryption.
    ///
    /// At most ``earlyLimit`` packets are kept. Further packets are processed immediately.
    private var early: [[UInt8]] = []

    /// The opcodes of packets that require encryption.
    private static let keys = SMP.Opcode.encryptionInformation.wire...SMP.Opcode.signingInformation.wire
    private static let earlyLimit = 16

    init(_ description: PairingCase, at now: Instant) throws {
        role = try description.linkRole
        passkey = try description.digits
        confirms = description.confirm_numeric ?? true
        manager = try description.makeManager()
        if role == .central { manager.pair(needsMITM: false, at: now) }
        drain(at: now)
    }

    var deadline: Instant? { manager.deadline }

    mutating func next() -> DriverOutput? { outputs.isEmpty ? nil : outputs.removeFirst() }

    mutating func receive(packet: [UInt8], at now: Instant) {
        // The line and the packet arrive on different descriptors, so the packet may arrive first.
        let isEarly = role == .central && manager.isEncrypting && packet.first.map { Self.keys.contains($0) } ?? false
        if isEarly, early.count < Self.earlyLimit { return early.append(packet) }
        manager.receive(packet.span, at: now)
        drain(at: now)
    }

    mutating func receive(line: String, at now: Instant) throws {
        guard try JSONLine.value(Command.self, in: line).encrypted else {
            throw InvalidInput("encrypted: expected true; the end of encryption cannot be reported")
        }
        _ = manager.longTermKey(for: 0, diversifier: 0)
        manager.encryptionChanged(.on, at: now)
        drain(at: now)
        for packet in early { receive(packet: packet, at: now) }
        early = []
    }

    mutating func wake(at now: Instant) {
        manager.wake(at: now)
        drain(at: now)
    }

    private mutating func drain(at now: Instant) {
        while let output = manager.next() { follow(output, at: now) }
        guard !hasReportedKey, let (key, strength) = manager.agreedKey else { return }
        hasReportedKey = true
        let name = strength.isSecureConnections ? "ltk" : "stk"
        tell([name: key.key.wire.littleEndianOctets.hexadecimal])
    }

    private mutating func follow(_ output: SecurityManager.Output, at now: Instant) {
        switch output {
        case .send(let packet): outputs.append(.packet(packet))
        case .ask(.compare(let number)):
            let digits = String(number)
            tell(["numeric": String(repeating: "0", count: 6 - digits.count) + digits])
            manager.answer(.confirm(confirms), at: now)
        case .ask(.enterPasskey): manager.answer(passkey.map { .passkey($0) } ?? .cancel, at: now)
        case .ask(.consent): manager.answer(.confirm(true), at: now)
        case .paired(let outcome):
            let strength = outcome.strength
            tell(Paired(paired: .init(authenticated: strength.isAuthenticated, key_size: strength.keySize)))
        case .failed(let failure): tell(["failed": failure.reason.wire])
        case .ask(.display), .withdraw, .encrypt, .securityRequested, .note: break
        }
    }

    private mutating func tell(_ value: some Encodable) { outputs.append(.line(JSONLine.text(value))) }
}

extension PairingFailure {
    /// The SMP reason code that is closest to this failure.
    fileprivate var reason: SMP.Reason {
        switch self {
        case .refused(let reason), .refusedByPeer(let reason): reason
        case .tooSoon: .repeatedAttempts
        case .cannotAuthenticate, .noAgent: .authenticationRequirements
        case .timedOut, .encryptionFailed, .disconnected: .unspecified
        }
    }
}

/// The command `smp`, which performs one pairing on a packet socket.
struct PairingCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "smp",
        abstract: "Pair once with the peer on the packet socket at file descriptor 3."
    )

    @Argument(help: "The JSON file that describes the test case.")
    var file: String

    func run() throws {
        var driver = try PairingDriver(PairingCase(file: file), at: Instant())
        try DriverLoop(packets: 3, input: STDIN_FILENO, output: STDOUT_FILENO).run(&driver)
    }
}
