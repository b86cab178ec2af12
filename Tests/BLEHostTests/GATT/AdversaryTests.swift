import BLEHost
import BLEWire
import Testing

@Suite("A peer that sends random packets")
struct AdversaryTests {
    /// A packet that may be right, cut short, extended, or nonsense.
    static func packet(_ random: inout SeededGenerator) -> [UInt8] {
        let opcodes: [UInt8] = [
            0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x0E, 0x0F, 0x10, 0x11, 0x12,
            0x13, 0x16, 0x17, 0x18, 0x19, 0x1B, 0x1D, 0x1E, 0x20, 0x21, 0x23, 0x52, 0xD2,
        ]
        let opcode = random.below(8) == 0 ? UInt8(random.below(256)) : opcodes[Int(random.below(Int64(opcodes.count)))]
        var packet = [opcode]
        switch random.below(3) {
        case 0: for _ in 0..<random.below(30) { packet.append(UInt8(random.below(256))) }
        case 1:
            // Handles that there are, and a little more.
            for _ in 0..<random.below(4) { packet += [UInt8(random.below(24)), 0] }
            for _ in 0..<random.below(3) { packet.append(UInt8(random.below(4))) }
        default:
            let types: [[UInt8]] = [[0x00, 0x28], [0x01, 0x28], [0x03, 0x28], [0x00, 0x2A], [0x3D, 0x2A]]
            packet += [UInt8(random.below(3)), 0, 0xFF, UInt8(random.below(2)) &* 0xFF]
            packet += types[Int(random.below(Int64(types.count)))]
        }
        return packet
    }

    @Test("A random client harms only its own requests", arguments: 0..<16)
    func client(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var lone = LoneLayer(role: .peripheral)
        _ = lone.perform(.addService(SampleService.definition))
        for _ in 0..<2000 {
            for answer in lone.answers(to: Self.packet(&random)) { #expect(answer.count <= 517) }
            for event in lone.serverEvents() { respond(to: event, &lone, &random) }
            if random.below(20) == 0 { _ = lone.perform(.update(SampleService.sent, [1, 2, 3], to: nil)) }
            if random.below(10) == 0 { lone.take() }
        }
        while let event = lone.serverEvents().first { respond(to: event, &lone, &random) }
        #expect(lone.answers(to: [UInt8]("0a 0e00")).map(\.hexadecimal) == ["0b010203"])
    }

    /// Answers what an app is asked; what is nothing to answer is left alone.
    private func respond(to event: ServerEvent, _ lone: inout LoneLayer, _ random: inout SeededGenerator) {
        let response: ServerResponse =
            random.below(2) == 0 ? .failure(.unlikelyError) : .success([UInt8](repeating: 1, count: 40))
        switch event {
        case .readRequested(let transaction, _, _, _): _ = lone.perform(.respond(transaction, response))
        case .writeRequested(let transaction?, _, _): _ = lone.perform(.respond(transaction, response))
        default: break
        }
    }

    @Test("A random server delays nothing indefinitely, and every request is answered once", arguments: 0..<16)
    func server(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var lone = LoneLayer(role: .central)
        var asked = 0, answered = 0
        for _ in 0..<2000 {
            if random.below(4) == 0 {
                asked += 1
                let request = LinkDownTests.requests[Int(random.below(Int64(LinkDownTests.requests.count)))]
                _ = lone.perform(request)
            }
            _ = lone.answers(to: Self.packet(&random))
            if random.below(10) == 0 { lone.take() }
            answered += lone.peerEvents().compactMap(LinkDownTests.key).count
        }
        // An honest server from now on: it refuses whatever it is asked.
        var packets = lone.sent()
        for _ in 0..<10_000 where answered < asked {
            for opcode in [0x02, 0x04, 0x06, 0x08, 0x0A, 0x0C, 0x10, 0x12, 0x16, 0x18] as [UInt8] {
                packets += lone.answers(to: [0x01, opcode, 0, 0, 0x0E])
            }
            lone.take()
            answered += lone.peerEvents().compactMap(LinkDownTests.key).count
        }
        #expect(answered == asked)
        #expect(lone.perform(.read(.init(wire: 5))).last == [UInt8]("0a 0500"))
    }
}
