import BLERuntime

/// The client side of a D-Bus connection, without its socket: takes received octets, and returns events and octets to
/// send.
///
/// It authenticates with the user ID, sends `Hello`, then calls methods and receives replies and signals. Calls may be
/// made from the start; they are sent after authentication.
///
/// D-Bus Specification, Authentication Protocol and Message Bus Overview.
struct BusConversation {
    /// A reason why the connection is unusable.
    enum Failure: Error, Hashable, CustomStringConvertible {
        /// The bus rejected the user.
        case rejected
        /// The bus sent this unexpected line during authentication.
        case unexpected(String)
        /// The bus sent a malformed or too long message.
        case malformed
        /// Too many calls wait for a reply; the value is their number.
        case congested(Int)
        /// The bus refused `Hello`, for this reason.
        case notGreeted(String)

        var description: String {
            switch self {
            case .rejected: "the bus rejects this user"
            case .unexpected(let line): "the bus answered “\(line.printable)” during authentication"
            case .malformed: "the bus sent an invalid D-Bus message"
            case .congested(let count): "\(count) calls have no reply yet"
            case .notGreeted(let reason): "the bus does not answer Hello: \(reason.printable)"
            }
        }
    }

    enum Event: Hashable {
        /// The result of the call with this serial number.
        case replied(UInt32, BusReply)
        case signal(BusMessage)
    }

    private enum State {
        /// Authentication is not complete; the octets are an unfinished line.
        case authenticating(line: [UInt8])
        /// Authentication is complete; the octets are the beginning of an unfinished message.
        case speaking([UInt8])
        case failed(Failure)
    }

    /// The maximum length of a line during authentication, in octets.
    ///
    /// A longer line ends the connection.
    static let lineLimit = 1_024
    /// The maximum number of calls that wait for a reply.
    ///
    /// One more ends the connection.
    static let callLimit = 64

    private static let bus = "org.freedesktop.DBus"

    private var state = State.authenticating(line: [])
    private var output: [UInt8]
    /// The octets to send after authentication.
    private var held: [UInt8] = []
    /// The serial numbers of the calls that wait for a reply; `Hello` is the first call.
    private var calls: [UInt32] = []
    private var greeting: UInt32 = 0
    private var lastSerial: UInt32 = 0

    /// Starts authentication with the user ID `user`.
    init(user: UInt32) {
        let digits = String(user).utf8.map { String($0, radix: 16) }.joined()
        output = [0] + Array("AUTH EXTERNAL \(digits)\r\n".utf8)
        greeting = write(Self.call("Hello"))
        calls = [greeting]
    }

    /// Returns and removes the octets to send.
    mutating func takeOctets() -> [UInt8] {
        defer { output = [] }
        return output
    }

    /// Calls a method; returns the serial number that its reply will carry.
    mutating func call(_ message: BusMessage) throws(Failure) -> UInt32 {
        if case .failed(let failure) = state { throw failure }
        guard calls.count < Self.callLimit else { throw fail(.congested(calls.count)) }
        let serial = write(message)
        calls.append(serial)
        return serial
    }

    /// Subscribes to the signals of an interface that come from the owner of a bus name; returns the call's serial
    /// number.
    mutating func hear(interface: String, of name: String) throws(Failure) -> UInt32 {
        let rule = "type='signal',sender='\(name)',interface='\(interface)'"
        var message = Self.call("AddMatch")
        message.body = [.string(rule)]
        return try call(message)
    }

    /// Processes octets from the bus, and returns the events in them.
    ///
    /// A failure ends the connection.
    mutating func receive(_ octets: [UInt8]) throws(Failure) -> [Event] {
        var rest = octets[...]
        if case .authenticating(var line) = state {
            guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else {
                line += rest
                guard line.count <= Self.lineLimit else { throw fail(.malformed) }
                state = .authenticating(line: line)
                return []
            }
            line += rest[..<end]
            rest = rest[(end + 1)...]
            guard line.count <= Self.lineLimit, line.last == UInt8(ascii: "\r") else { throw fail(.malformed) }
            try begin(after: String(decoding: line.dropLast(), as: UTF8.self))
        }
        switch state {
        case .speaking(let begun): return try read(begun + rest)
        case .failed(let failure): throw failure
        case .authenticating: return []
        }
    }

    private mutating func begin(after line: String) throws(Failure) {
        switch line.prefix(while: { $0 != " " }) {
        case "OK": break
        case "REJECTED": throw fail(.rejected)
        default: throw fail(.unexpected(String(line.prefix(80))))
        }
        state = .speaking([])
        output += Array("BEGIN\r\n".utf8) + held
        held = []
    }

    private mutating func read(_ octets: [UInt8]) throws(Failure) -> [Event] {
        var rest = octets[...], events: [Event] = []
        do throws(BusMessage.Malformed) {
            while let length = try BusMessage.length(of: rest), length <= rest.count {
                let message = try BusMessage(reading: Array(rest.prefix(length)))
                rest = rest.dropFirst(length)
                if let event = handle(message) { events.append(event) }
            }
        } catch {
            throw fail(.malformed)
        }
        if case .failed(let failure) = state { throw failure }
        state = .speaking(Array(rest))
        return events
    }

    private mutating func handle(_ message: BusMessage) -> Event? {
        switch message.kind {
        case .signal: return .signal(message)
        case .call:
            // This program offers no methods; the caller receives an error instead of waiting for a reply.
            var refusal = BusMessage(kind: .error, serial: 0, errorName: Self.bus + ".Error.UnknownMethod")
            refusal.replySerial = message.serial
            refusal.destination = message.sender
            _ = write(refusal)
            return nil
        case .reply, .error:
            guard let serial = message.replySerial, let index = calls.firstIndex(of: serial) else { return nil }
            calls.remove(at: index)
            let reply = BusReply(message)
            guard serial == greeting else { return .replied(serial, reply) }
            if case .refused(let refusal) = reply { _ = fail(.notGreeted(refusal.description)) }
            return nil
        }
    }

    private mutating func fail(_ failure: Failure) -> Failure {
        state = .failed(failure)
        return failure
    }

    /// Adds a message with the next serial number to the output, or keeps it until authentication is complete.
    private mutating func write(_ message: BusMessage) -> UInt32 {
        var message = message
        lastSerial = lastSerial == .max ? 1 : lastSerial + 1
        message.serial = lastSerial
        if case .speaking = state { output += message.octets } else { held += message.octets }
        return lastSerial
    }

    /// Returns a message that calls a method of the bus itself.
    private static func call(_ member: String) -> BusMessage {
        var message = BusMessage(kind: .call, serial: 0, path: "/org/freedesktop/DBus", interface: bus, member: member)
        message.destination = bus
        return message
    }
}
