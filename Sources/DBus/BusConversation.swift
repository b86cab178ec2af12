package import BLERuntime

/// The client end of a D-Bus connection without its socket: octets in, octets and events out.
///
/// It authenticates with the user ID, sends `Hello`, then calls methods and receives replies and signals. Calls may be
/// made from the start; they are sent after authentication.
///
/// D-Bus Specification, Authentication Protocol and Message Bus Overview.
package struct BusConversation {
    /// A reason why the connection is unusable.
    package enum Failure: Error, Hashable, CustomStringConvertible {
        /// The bus rejected the user.
        case rejected
        /// The bus sent this unexpected line during authentication.
        case unexpected(String)
        /// The bus sent octets that are not a message.
        case malformed
        /// The maximum number of calls, given as the associated value, already wait for a reply.
        case congested(Int)
        /// The bus refused the call to `Hello`, for this reason.
        case notGreeted(String)

        package var description: String {
            switch self {
            case .rejected: "the bus rejected this user"
            case .unexpected(let line): "the bus answered “\(line.printable)” during authentication"
            case .malformed: "the bus sent an invalid D-Bus message"
            case .congested(let count): "\(count) calls are waiting for a reply, which is the limit"
            case .notGreeted(let reason): "the bus refused Hello (\(reason.printable))"
            }
        }
    }

    package enum Event: Hashable {
        /// A call by another program; only if the conversation was created to receive calls.
        case called(BusMessage)
        /// The result of the call with this serial number, and the file descriptors that came with it.
        ///
        /// There are no descriptors unless the conversation was created to pass them.
        case replied(UInt32, BusReply, [FileDescriptor] = [])
        case signal(BusMessage)
    }

    private enum State {
        /// Authentication is not complete; `line` is the part of the current line that has arrived so far.
        case authenticating(line: [UInt8])
        /// The bus has accepted the user, but has not yet answered whether it can pass file descriptors.
        case negotiating(line: [UInt8])
        /// The octets are the beginning of a message.
        case speaking([UInt8])
        /// A message that is too long is being skipped; this number of its octets is still to come.
        case skipping(Int)
        case failed(Failure)
    }

    /// A call that has not been answered yet.
    private struct Call {
        let serial: UInt32
        let destination: String?

        /// Returns whether to accept a reply from this sender: only the called program and the bus may reply.
        ///
        /// If the program was called by a well-known name, its replies have another sender, which is not known. Then
        /// all senders are accepted.
        func admits(_ sender: String?) -> Bool {
            guard sender != BusConversation.bus, let destination else { return true }
            // The owner of a name replies with its unique name, which the caller does not know.
            return destination.hasPrefix(":") || destination == BusConversation.bus ? sender == destination : true
        }
    }

    /// File descriptors that came with received octets.
    private struct PassedDescriptors {
        /// The number of octets received since the beginning of the connection, including those with the descriptors.
        let end: UInt64
        let descriptors: [FileDescriptor]
    }

    /// The maximum length of a line during authentication.
    package static let lineLimit = 1_024
    /// The default maximum number of calls that wait for a reply.
    package static let callLimit = 64

    private static let bus = "org.freedesktop.DBus"

    private var state = State.authenticating(line: [])
    private var output: [UInt8]
    /// The octets to send after authentication.
    private var held: [UInt8] = []
    /// The calls that have no reply yet; at first, only `Hello`.
    private var calls: [Call] = []
    private var greeting: UInt32 = 0
    private var lastSerial: UInt32 = 0
    /// The number of octets received since the beginning of the connection.
    private var received: UInt64 = 0
    /// The descriptors whose message is not complete yet, at most ``SocketMessage/descriptorLimit``.
    ///
    /// A descriptor is closed when the last reference to it is released.
    private var passed: [PassedDescriptors] = []

    private let receivesCalls: Bool
    private let passesDescriptors: Bool
    private let callLimit: Int

    /// Starts authentication as the user with this ID.
    ///
    /// - Parameters:
    ///   - user: The user ID of this process.
    ///   - receivesCalls: False to refuse all calls by other programs.
    ///   - passesDescriptors: True to require a bus that can pass file descriptors.
    ///   - callLimit: The maximum number of calls that wait for a reply. A further call fails with
    ///     ``Failure/congested(_:)``, after which the conversation is unusable.
    package init(
        user: UInt32,
        receivesCalls: Bool = false,
        passesDescriptors: Bool = false,
        callLimit: Int = Self.callLimit
    ) {
        self.receivesCalls = receivesCalls
        self.passesDescriptors = passesDescriptors
        self.callLimit = callLimit
        let digits = String(user).utf8.map { String($0, radix: 16) }.joined()
        output = [0] + Array("AUTH EXTERNAL \(digits)\r\n".utf8)
        greeting = write(Self.call("Hello"))
        calls = [Call(serial: greeting, destination: Self.bus)]
    }

    /// Returns and removes the octets to send.
    package mutating func takeOctets() -> [UInt8] {
        defer { output = [] }
        return output
    }

    /// Calls a method; returns the serial number of the call, which the reply will contain.
    package mutating func call(_ message: BusMessage) throws(Failure) -> UInt32 {
        if case .failed(let failure) = state { throw failure }
        guard calls.count < callLimit else { throw fail(.congested(calls.count)) }
        let serial = write(message)
        calls.append(Call(serial: serial, destination: message.destination))
        return serial
    }

    /// Ends the wait for the reply to a call; a later reply is ignored.
    package mutating func forget(_ serial: UInt32) { calls.removeAll { $0.serial == serial } }

    /// Subscribes to the signals that the owner of a bus name sends from an interface; returns the call's serial
    /// number.
    package mutating func subscribe(toInterface interface: String, of name: String) throws(Failure) -> UInt32 {
        let rule = "type='signal',sender='\(name)',interface='\(interface)'"
        var message = Self.call("AddMatch")
        message.body = [.string(rule)]
        return try call(message)
    }

    /// Processes octets from the bus.
    ///
    /// After a failure, the conversation is unusable: later calls throw the same error.
    ///
    /// - Parameters:
    ///   - octets: Octets that were read with one system call.
    ///   - descriptors: The file descriptors that came with these octets.
    /// - Returns: The events, in the order of their messages.
    /// - Throws: The reason why the conversation is unusable.
    package mutating func receive(
        _ octets: [UInt8],
        with descriptors: [FileDescriptor] = []
    ) throws(Failure) -> [Event] {
        received &+= UInt64(octets.count)
        store(descriptors)
        var rest = octets[...]
        while true {
            switch state {
            case .speaking(let begun): return try read(begun + rest)
            case .skipping(let count):
                state = rest.count < count ? .skipping(count - rest.count) : .speaking([])
                guard rest.count >= count else { return [] }
                rest = rest.dropFirst(count)
            case .failed(let failure): throw failure
            case .authenticating(let begun), .negotiating(let begun):
                var line = begun
                guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else {
                    line += rest
                    guard line.count <= Self.lineLimit else { throw fail(.malformed) }
                    store(line)
                    return []
                }
                line += rest[..<end]
                rest = rest[(end + 1)...]
                guard line.count <= Self.lineLimit, line.last == UInt8(ascii: "\r") else { throw fail(.malformed) }
                try processReply(String(decoding: line.dropLast(), as: UTF8.self))
            }
        }
    }

    /// Stores descriptors until their message is complete; drops them if there are too many.
    private mutating func store(_ descriptors: [FileDescriptor]) {
        guard passesDescriptors, !descriptors.isEmpty,
            passed.reduce(descriptors.count, { $0 + $1.descriptors.count }) <= SocketMessage.descriptorLimit
        else { return }
        passed.append(PassedDescriptors(end: received, descriptors: descriptors))
    }

    /// Removes the descriptors of reads that ended at `end` or earlier, and returns those of reads that ended after
    /// `begin`.
    ///
    /// The kernel ends a read after the octets that descriptors were sent with, and the bus sends the descriptors of a
    /// message with its first octets. Descriptors therefore belong to the message with the last octet of the read. The
    /// number of descriptors in the header is not enough to assign them, because a header may be malformed.
    private mutating func takeDescriptors(_ begin: UInt64, _ end: UInt64) -> [FileDescriptor] {
        guard !passed.isEmpty else { return [] }
        let taken = passed.filter { $0.end > begin && $0.end <= end }
        passed.removeAll { $0.end <= end }
        return taken.flatMap(\.descriptors)
    }

    /// Keeps the beginning of a line until the rest of the line arrives.
    private mutating func store(_ line: [UInt8]) {
        switch state {
        case .authenticating: state = .authenticating(line: line)
        case .negotiating: state = .negotiating(line: line)
        case .speaking, .skipping, .failed: break
        }
    }

    private mutating func processReply(_ line: String) throws(Failure) {
        switch (state, line.prefix(while: { $0 != " " })) {
        case (.authenticating, "OK"):
            guard !passesDescriptors else {
                output += Array("NEGOTIATE_UNIX_FD\r\n".utf8)
                state = .negotiating(line: [])
                return
            }
        case (.negotiating, "AGREE_UNIX_FD"): break
        case (.authenticating, "REJECTED"): throw fail(.rejected)
        case (_, _): throw fail(.unexpected(String(line.prefix(80))))
        }
        state = .speaking([])
        output += Array("BEGIN\r\n".utf8) + held
        held = []
    }

    /// Sends a reply, an error or a signal; returns its serial number.
    @discardableResult
    package mutating func send(_ message: BusMessage) -> UInt32 { write(message) }

    private mutating func read(_ octets: [UInt8]) throws(Failure) -> [Event] {
        var rest = octets[...], events: [Event] = [], missing = 0
        let start = received &- UInt64(octets.count)
        do throws(BusMessage.Malformed) {
            while let size = try BusMessage.size(of: rest), size.total <= rest.count || size.total > BusMessage.limit {
                // The header of a message that is too long is needed for the refusal.
                guard size.header > BusMessage.limit || size.header <= rest.count else { break }
                let begin = start &+ UInt64(rest.startIndex), end = begin &+ UInt64(size.total)
                let descriptors = takeDescriptors(begin, end)
                if let event = take(rest.prefix(size.total), size, descriptors) { events.append(event) }
                missing = max(0, size.total - rest.count)
                rest = rest.dropFirst(size.total)
            }
        } catch {
            throw fail(.malformed)
        }
        if case .failed(let failure) = state { throw failure }
        state = missing > 0 ? .skipping(missing) : .speaking(Array(rest))
        return events
    }

    /// Decodes and processes a message, and returns the event for it; `nil` if there is none.
    ///
    /// If the message is too long or its body cannot be decoded, a call is refused, a reply becomes an error, and a
    /// signal is dropped. A message whose header cannot be decoded is dropped, too.
    ///
    /// Another program may have sent such a message through the bus, so the connection does not end.
    ///
    /// `descriptors` came with the message. If the header states another number of them, all are closed.
    private mutating func take(
        _ octets: ArraySlice<UInt8>,
        _ size: BusMessage.Size,
        _ descriptors: [FileDescriptor]
    ) -> Event? {
        if size.total <= BusMessage.limit, let message = try? BusMessage(reading: Array(octets)) {
            return handle(message, descriptors.count == message.descriptors ?? 0 ? descriptors : [])
        }
        guard size.header <= octets.count, let header = try? BusMessage(headerOf: Array(octets.prefix(size.header)))
        else { return nil }
        switch header.kind {
        case .call:
            refuse(header, "LimitsExceeded")
            return nil
        case .reply, .error:
            var reply = header
            (reply.kind, reply.errorName) = (.error, Self.bus + ".Error.LimitsExceeded")
            return handle(reply, [])
        case .signal: return nil
        }
    }

    private mutating func handle(_ message: BusMessage, _ descriptors: [FileDescriptor]) -> Event? {
        switch message.kind {
        case .signal: return .signal(message)
        case .call:
            if receivesCalls { return .called(message) }
            refuse(message, "UnknownMethod")
            return nil
        case .reply, .error:
            guard let serial = message.replySerial, let index = calls.firstIndex(where: { $0.serial == serial }),
                calls[index].admits(message.sender)
            else { return nil }
            calls.remove(at: index)
            let reply = BusReply(message)
            guard serial == greeting else { return .replied(serial, reply, descriptors) }
            if case .refused(let refusal) = reply { _ = fail(.notGreeted(refusal.description)) }
            return nil
        }
    }

    /// Refuses a call with the D-Bus error `name`, unless the caller wants no reply.
    private mutating func refuse(_ call: BusMessage, _ name: String) {
        guard !call.expectsNoReply else { return }
        var refusal = BusMessage(kind: .error, errorName: "\(Self.bus).Error.\(name)", replySerial: call.serial)
        refusal.destination = call.sender
        _ = write(refusal)
    }

    private mutating func fail(_ failure: Failure) -> Failure {
        state = .failed(failure)
        return failure
    }

    /// Sends a message, or keeps it until authentication is complete; returns its serial number.
    private mutating func write(_ message: BusMessage) -> UInt32 {
        var message = message
        lastSerial = lastSerial == .max ? 1 : lastSerial + 1
        message.serial = lastSerial
        switch state {
        case .speaking, .skipping: output += message.octets
        case .authenticating, .negotiating, .failed: held += message.octets
        }
        return lastSerial
    }

    /// Returns a call to the method `member` of the bus itself.
    private static func call(_ member: String) -> BusMessage {
        var message = BusMessage(kind: .call, serial: 0, path: "/org/freedesktop/DBus", interface: bus, member: member)
        message.destination = bus
        return message
    }
}
