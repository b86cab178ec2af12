import BLERuntime
import BLEWire
import Foundation

/// A loop that runs a driver on a packet socket and the standard streams, until the peer closes the socket.
struct DriverLoop {
    /// The file descriptor of a socket that preserves packet boundaries.
    let packets: Int32
    let input: Int32
    let output: Int32

    private static let largestPacket = 65_536

    func run(_ driver: inout some Driver) throws {
        let start = ContinuousClock.now
        var lines = LineBuffer()
        var isInputOpen = true
        while true {
            while let next = driver.next() { try perform(next) }
            let now = Instant(nanoseconds: 0) + start.duration(to: .now)
            let ready = try wait(for: isInputOpen ? [packets, input] : [packets], until: driver.deadline, now)
            let woken = Instant(nanoseconds: 0) + start.duration(to: .now)
            if ready.contains(packets) {
                guard let packet = try readPacket() else { return }
                driver.receive(packet: packet, at: woken)
            }
            if isInputOpen, ready.contains(input) {
                let bytes = try read(input, atMost: 4096)
                isInputOpen = !bytes.isEmpty
                for line in lines.append(bytes) { try driver.receive(line: line, at: woken) }
            }
            driver.wake(at: woken)
        }
    }

    private func perform(_ next: DriverOutput) throws {
        switch next {
        case .packet(let packet):
            _ = packet.withUnsafeBytes { send(packets, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        case .line(let line): try write(Array((line + "\n").utf8))
        }
    }

    private func write(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(output, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw InvalidInput("cannot write to standard output: \(String(cString: strerror(errno)))")
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Waits until a file descriptor is readable or closed, or the deadline has passed; returns those that are readable
    /// or closed.
    private func wait(for descriptors: [Int32], until deadline: Instant?, _ now: Instant) throws -> [Int32] {
        var entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let milliseconds = deadline.map { Int32(clamping: $0.nanoseconds(since: now) / 1_000_000 + 1) }
        let count = poll(&entries, nfds_t(entries.count), max(milliseconds ?? -1, deadline == nil ? -1 : 0))
        guard count >= 0 || errno == EINTR else {
            throw InvalidInput("cannot wait: \(String(cString: strerror(errno)))")
        }
        return entries.filter { $0.revents != 0 }.map(\.fd)
    }

    /// Returns the next packet; `nil` if the peer has closed the socket.
    private func readPacket() throws -> [UInt8]? {
        let bytes = try read(packets, atMost: Self.largestPacket)
        return bytes.isEmpty ? nil : bytes
    }

    private func read(_ descriptor: Int32, atMost limit: Int) throws -> [UInt8] {
        while true {
            var count = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, initialized in
                count = Foundation.read(descriptor, buffer.baseAddress, limit)
                initialized = max(count, 0)
            }
            if count >= 0 { return bytes }
            if errno == ECONNRESET { return [] }
            guard errno == EINTR else {
                throw InvalidInput("cannot read file descriptor \(descriptor): \(String(cString: strerror(errno)))")
            }
        }
    }
}

/// A buffer that assembles lines from bytes.
struct LineBuffer {
    private var rest: [UInt8] = []

    /// Adds bytes; returns the lines that they complete, except empty lines.
    mutating func append(_ bytes: [UInt8]) -> [String] {
        rest += bytes
        var lines = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        rest = lines.popLast().map { Array($0) } ?? []
        return lines.filter { !$0.isEmpty }.map { String(decoding: $0, as: UTF8.self) }
    }
}

/// A part of the stack that is driven by packets and JSON lines, and that returns packets and JSON lines.
protocol Driver {
    /// Returns the next output. Call it until it returns `nil`.
    mutating func next() -> DriverOutput?
    /// The time at which to call ``wake(at:)`` unless something else happens first; `nil` if nothing is due.
    var deadline: Instant? { mutating get }
    mutating func receive(packet: [UInt8], at now: Instant)
    /// Processes a line of standard input.
    mutating func receive(line: String, at now: Instant) throws
    mutating func wake(at now: Instant)
}

enum DriverOutput: Equatable {
    /// A packet to send on file descriptor 3.
    case packet([UInt8])
    /// A line to print to standard output.
    case line(String)
}

/// The encoding and decoding of JSON lines, whose keys have a fixed order.
enum JSONLine {
    /// Encodes a value as a line.
    static func text(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do { return String(decoding: try encoder.encode(value), as: UTF8.self).printableJSON } catch {
            preconditionFailure("\(value) cannot be encoded as JSON: \(error)")
        }
    }

    /// Prints a value as a line; exits the process if standard output cannot be written.
    static func print(_ value: some Encodable) {
        do throws(StandardStream.Failure) {
            try StandardStream.output.write(line: text(value))
        } catch {
            BLEConformance.end("\(error)")
        }
    }

    /// Decodes a value from a line.
    static func value<Value: Decodable>(_: Value.Type, in line: String) throws -> Value {
        do { return try JSONDecoder().decode(Value.self, from: Data(line.utf8)) } catch {
            let reason = (error as? DecodingError)?.explanation ?? "\(error)"
            throw InvalidInput("invalid line on standard input (\(reason)): \(line)")
        }
    }
}
