import BLERuntime
import Testing

@Suite("Serial line")
struct SerialFramingTests {
    private static let answer: [UInt8] = [0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00]
    private static let event: [UInt8] = [0x04, 0x0E, 0x04, 0x01, 0x01, 0x0C, 0x00]
    private static let data: [UInt8] = [0x02, 0x40, 0x00, 0x03, 0x00, 1, 2, 3]

    /// Feeds a line and returns what the host hears.
    private static func feed(_ line: inout SerialFraming, _ octets: [UInt8]) throws(TransportError) -> [[UInt8]] {
        var packets: [[UInt8]] = []
        try line.receive(octets.span) { packet in packets.append(packet.withUnsafeBufferPointer { Array($0) }) }
        return packets
    }

    /// Has nothing come until the line waits for nothing, and returns what the host hears.
    private static func rest(_ line: inout SerialFraming) throws(TransportError) -> [[UInt8]] {
        var packets: [[UInt8]] = []
        while line.readTimeout != nil {
            _ = try line.expire { packet in packets.append(packet.withUnsafeBufferPointer { Array($0) }) }
        }
        return packets
    }

    /// Feeds a line, and has nothing come then; returns what the host hears.
    private static func say(_ line: inout SerialFraming, _ octets: [UInt8]) throws(TransportError) -> [[UInt8]] {
        let packets = try feed(&line, octets)
        return try packets + rest(&line)
    }

    /// A line whose controller has answered.
    private static func ready() throws -> SerialFraming {
        var line = SerialFraming(name: "serial:/dev/ttyACM0")
        _ = line.begin()
        _ = try feed(&line, answer)
        try #require(line.isReady)
        return line
    }

    @Test("A line begins with a reset, and the host may send once it is answered")
    func begins() throws {
        var line = SerialFraming(name: "port")
        #expect(line.begin() == [SerialFraming.reset])
        let command: [UInt8] = [1, 1, 0x0C, 0]
        #expect(line.send(command.span).isEmpty)
        for octet in Self.answer {
            #expect(!line.isReady)
            #expect(try Self.feed(&line, [octet]).isEmpty)
        }
        #expect(line.isReady)
        #expect(line.readTimeout == nil)
        #expect(line.send(command.span) == [command])
        #expect(try Self.say(&line, Self.event + Self.data) == [Self.event, Self.data])
    }

    @Test(
        "Anything before the response to the reset is dropped",
        arguments: [
            Array("*** Booting Zephyr OS build v3.7.0 ***\r\n".utf8), [0x04], [0x04, 0x0E],
            [0x02, 0xFF, 0xFF, 0xFF, 0xFF], [0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C], data, event,
            [UInt8](repeating: 0x04, count: 1000),
        ]
    )
    func noise(octets: [UInt8]) throws {
        for size in [1, 7, 4096] {
            var line = SerialFraming(name: "port")
            _ = line.begin()
            let stream = octets + Self.answer
            var heard: [[UInt8]] = []
            for start in stride(from: 0, to: stream.count, by: size) {
                heard += try Self.feed(&line, Array(stream[start..<min(start + size, stream.count)]))
            }
            #expect(heard.isEmpty)
            #expect(line.isReady)
            #expect(try Self.say(&line, Self.data) == [Self.data])
        }
    }

    @Test("A response that reports a failure or is followed by noise does not count")
    func noAnswer() throws {
        var line = SerialFraming(name: "port")
        _ = line.begin()
        _ = try Self.feed(&line, [0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x12])
        #expect(!line.isReady)
        _ = try Self.feed(&line, Self.answer + [0xFF, 0xFF])
        #expect(!line.isReady)
        _ = try Self.feed(&line, Self.answer + Self.event)
        #expect(line.isReady)
    }

    @Test("An unanswered reset is repeated, in larger numbers, and given up in the end")
    func again() throws {
        var line = SerialFraming(name: "serial:/dev/ttyUSB0@115200")
        _ = line.begin()
        var counts: [Int] = []
        for _ in 0..<SerialFraming.mostAttempts {
            #expect(line.readTimeout == SerialFraming.resetTimeout)
            let writes = try line.expire { _ in }
            #expect(writes.allSatisfy { $0 == SerialFraming.reset })
            counts.append(writes.count)
        }
        #expect(counts.prefix(6) == [1, 2, 4, 8, 16, 16])
        // A controller that waits for the rest of the longest packet has had enough octets by then.
        #expect(counts.reduce(0, +) * SerialFraming.reset.count > 1_021 + 5)
        do throws(TransportError) {
            _ = try line.expire { _ in }
            Issue.record("the line has not given up")
        } catch {
            #expect(error.code == .unreachable)
            #expect(error.context.contains("serial:/dev/ttyUSB0@115200"))
            #expect(error.cure?.contains("rtscts") == true)
        }
    }

    @Test("The host receives responses to its own resets, but not to the line's")
    func surplus() throws {
        var line = try Self.ready()
        #expect(try Self.say(&line, Self.answer + Self.answer + Self.event) == [Self.event])
        let reset = SerialFraming.reset
        _ = line.send(reset.span)
        #expect(try Self.say(&line, Self.answer) == [Self.answer])
        #expect(try Self.say(&line, Self.answer + Self.data) == [Self.data])
    }

    /// What the host hears of pieces with a moment of silence behind each, and whether the line is at an end then.
    private static func hear(_ pieces: [[UInt8]]) throws -> (heard: [[UInt8]], isOver: Bool) {
        var line = try Self.ready(), heard: [[UInt8]] = []
        do throws(TransportError) {
            for piece in pieces {
                heard += try Self.feed(&line, piece)
                guard line.readTimeout == SerialFraming.packetGap else { continue }
                _ = try line.expire { packet in heard.append(packet.withUnsafeBufferPointer { Array($0) }) }
            }
            heard += try Self.rest(&line)
        } catch {
            #expect(error.code == .garbage)
            return (heard, true)
        }
        return (heard, false)
    }

    @Test("Packets are received wherever there is a moment of silence", arguments: 1..<22)
    func pause(position: Int) throws {
        let packets = [Self.event, Self.data, Self.event]
        let stream = packets.flatMap { $0 }
        let (heard, isOver) = try Self.hear([Array(stream[..<position]), Array(stream[position...])])
        #expect(heard == packets)
        #expect(!isOver)
    }

    @Test("A lost octet ends the line before a wrong packet is delivered", arguments: 0..<22)
    func lost(position: Int) throws {
        let packets = [Self.event, Self.data, Self.event]
        var (stream, ends) = (packets.flatMap { $0 }, [7, 15, 22])
        stream.remove(at: position)
        ends = ends.map { $0 > position ? $0 - 1 : $0 }
        let apart = [Array(stream[..<ends[0]]), Array(stream[ends[0]..<ends[1]]), Array(stream[ends[1]...])]
        // With each packet the octet that takes the place of one that was lost before it comes by itself.
        let first = apart.flatMap { [Array($0.prefix(1)), Array($0.dropFirst())] }.filter { !$0.isEmpty }
        for pieces in [[stream], apart, first] {
            let (heard, isOver) = try Self.hear(pieces)
            #expect(isOver)
            #expect(heard == Array(packets.prefix(heard.count)))
        }
        var line = try Self.ready(), heard: [[UInt8]] = []
        #expect(throws: TransportError.self) {
            for octet in stream { heard += try Self.feed(&line, [octet]) }
            heard += try Self.rest(&line)
        }
        #expect(heard == Array(packets.prefix(heard.count)))
    }

    @Test("The last packet is delivered after a moment of silence, and after a longer one if it had a pause in it")
    func moments() throws {
        var line = try Self.ready()
        #expect(try Self.feed(&line, Self.event + Self.data) == [Self.event])
        #expect(line.readTimeout == SerialFraming.packetGap)
        #expect(try Self.rest(&line) == [Self.data])
        #expect(try Self.feed(&line, Array(Self.data.prefix(5))).isEmpty)
        #expect(line.readTimeout == SerialFraming.packetGap)
        #expect(try line.expire { _ in Issue.record("half a packet is heard") }.isEmpty)
        #expect(line.readTimeout == SerialFraming.packetTimeout)
        #expect(try Self.feed(&line, Array(Self.data.dropFirst(5))).isEmpty)
        #expect(line.readTimeout == SerialFraming.longPacketGap)
        #expect(try Self.rest(&line) == [Self.data])
    }

    @Test("Noise after a packet ends the line", arguments: [0x00, 0x01, 0x7F, 0xFF])
    func garbage(octet: UInt8) throws {
        var line = try Self.ready()
        #expect(try Self.feed(&line, Self.event + Self.data) == [Self.event])
        #expect(throws: TransportError.self) { _ = try Self.feed(&line, [octet] + Self.data) }
    }
}
