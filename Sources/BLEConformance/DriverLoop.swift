import BLEWire
import Foundation

/// A loop that runs a driver on a packet socket and the standard streams, until the peer closes the socket.
struct DriverLoop {
    /// The descriptor of a socket that preserves packet boundaries.
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
                throw Senseless("cannot write to standard output: \(String(cString: strerror(errno)))")
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Waits until a descriptor is readable or closed, or the deadline has passed; returns the readable or closed ones.
    private func wait(for descriptors: [Int32], until deadline: Instant?, _ now: Instant) throws -> [Int32] {
        var entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let milliseconds = deadline.map { Int32(clamping: $0.nanoseconds(since: now) / 1_000_000 + 1) }
        let count = poll(&entries, nfds_t(entries.count), max(milliseconds ?? -1, deadline == nil ? -1 : 0))
        guard count >= 0 || errno == EINTR else { throw Senseless("cannot wait: \(String(cString: strerror(errno)))") }
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
                throw Senseless("cannot read descriptor \(descriptor): \(String(cString: strerror(errno)))")
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
