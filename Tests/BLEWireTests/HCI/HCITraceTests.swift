import BLEWire
import Testing

@Suite("HCI: packet traces")
struct HCITraceTests {
    private var trace = HCITrace()

    /// The packet that carries `fragment`, and what is told of it.
    private mutating func data(
        _ fragment: [UInt8],
        isFromHost: Bool,
        isFirst: Bool = true,
        handle: UInt16 = 0x40
    ) -> DissectedPacket {
        let boundary: UInt16 = isFirst ? (isFromHost ? 0 : 2) : 1
        let header = (handle | boundary << 12).littleEndianOctets + UInt16(fragment.count).littleEndianOctets
        return trace.dissect(h4: [2] + header + fragment, isFromHost: isFromHost)
    }

    private mutating func frame(_ payload: [UInt8], on channel: UInt16, isFromHost: Bool) -> DissectedPacket {
        let header = UInt16(payload.count).littleEndianOctets + channel.littleEndianOctets
        return data(header + payload, isFromHost: isFromHost)
    }

    /// Opens a channel between 0x0040 of the host and 0x0051 of the peer.
    private mutating func open(_ spsm: UInt8, isEnhanced: Bool = false) {
        let asked: [UInt8] = [spsm, 0] + (isEnhanced ? [] : [0x40, 0]) + [0x40, 0, 0x40, 0, 5, 0]
        let answered: [UInt8] = (isEnhanced ? [] : [0x51, 0]) + [0x40, 0, 0x40, 0, 5, 0, 0, 0]
        let more: (source: [UInt8], destination: [UInt8]) =
            isEnhanced ? ([0x40, 0, 0x41, 0], [0x51, 0, 0, 0]) : ([], [])
        let request = asked + more.source, response = answered + more.destination
        _ = frame([isEnhanced ? 0x17 : 0x14, 7, UInt8(request.count), 0] + request, on: 5, isFromHost: true)
        _ = frame([isEnhanced ? 0x18 : 0x15, 7, UInt8(response.count), 0] + response, on: 5, isFromHost: false)
    }

    @Test("The last fragment shows the whole packet, whatever is sent in the other direction in between")
    mutating func fragments() {
        let whole: [UInt8] = [7, 0, 4, 0, 0x0B, 1, 2, 3, 4, 5, 6]
        let first = data(Array(whole[..<6]), isFromHost: false)
        #expect(first.layers.map(\.name) == ["ACL Data", "L2CAP", "L2CAP Fragment"])
        #expect(first.completed == [] && first.codes.attribute == nil)
        let other = frame([0x0A, 3, 0], on: 4, isFromHost: true)
        #expect(other.layers.last?.name == "ATT Read Request" && other.completed == [])
        #expect(data(Array(whole[6..<8]), isFromHost: false, isFirst: false).completed == [])
        let last = data(Array(whole[8...]), isFromHost: false, isFirst: false)
        #expect(last.layers.map(\.name) == ["ACL Data", "L2CAP Fragment"])
        #expect(last.completed.map(\.name) == ["L2CAP", "ATT Read Response"])
        #expect(last.codes.attribute?.wire == 0x0B && last.codes.handles == [0x40])
    }

    @Test("A fragment without a known beginning or on another link completes nothing")
    mutating func strayFragments() {
        #expect(data([1, 2], isFromHost: true, isFirst: false).completed == [])
        _ = data([7, 0, 4, 0, 0x0B], isFromHost: false)
        #expect(data([1, 2, 3, 4, 5, 6], isFromHost: false, isFirst: false, handle: 0x41).completed == [])
        #expect(data([1, 2, 3, 4, 5, 6], isFromHost: true, isFirst: false).completed == [])
        #expect(data([1, 2, 3, 4, 5, 6], isFromHost: false, isFirst: false).completed.count == 2)
    }

    @Test("ATT packets are recognized on channels opened for them, in both directions", arguments: [false, true])
    mutating func enhancedBearers(isEnhanced: Bool) {
        open(0x27, isEnhanced: isEnhanced)
        let request = frame([3, 0, 0x0A, 9, 0], on: 0x51, isFromHost: true)
        #expect(request.layers.map(\.name) == ["ACL Data", "L2CAP", "L2CAP SDU", "ATT Read Request"])
        #expect(request.codes.attribute?.wire == 0x0A)
        let part = frame([4, 0, 0x0B, 1], on: 0x40, isFromHost: false)
        #expect(part.layers.map(\.name) == ["ACL Data", "L2CAP", "L2CAP SDU", "SDU Segment"])
        #expect(part.codes.attribute == nil)
        let last = frame([2, 3], on: 0x40, isFromHost: false)
        #expect(last.layers.map(\.name) == ["ACL Data", "L2CAP", "SDU Segment"])
        #expect(last.completed.map(\.name) == ["ATT Read Response"] && last.codes.attribute?.wire == 0x0B)
        // The same numbers the other way name other ends.
        #expect(frame([3, 0, 0x0A, 9, 0], on: 0x40, isFromHost: true).layers.last?.name == "L2CAP Payload")
        // The second channel of two was refused.
        #expect(frame([1, 0, 0x0A], on: 0x41, isFromHost: false).layers.last?.name == "L2CAP Payload")
    }

    @Test("An app's channel data is shown as octets, in one piece with its last packet")
    mutating func channels() {
        open(0x80)
        #expect(frame([2, 0, 0x0A, 9], on: 0x51, isFromHost: true).layers.last?.name == "SDU")
        _ = frame([3, 0, 1, 2], on: 0x51, isFromHost: true)
        let last = frame([3], on: 0x51, isFromHost: true)
        #expect(last.completed.first?.fields.map(\.text) == ["010203"] && last.codes.attribute == nil)
    }

    @Test(
        "An inconsistent SDU is malformed, and the next one is read correctly",
        arguments: [[0x05], [1, 0, 1, 2], [2, 0, 0x0A, 1]] as [[UInt8]]
    )
    mutating func malformedUnits(payload: [UInt8]) {
        open(0x27)
        #expect(frame(payload, on: 0x51, isFromHost: true).isMalformed)
        #expect(frame([3, 0, 0x0A, 9, 0], on: 0x51, isFromHost: true).codes.attribute?.wire == 0x0A)
        _ = frame([9, 0, 0x12, 9, 0], on: 0x51, isFromHost: true)
        #expect(frame([1, 2, 3, 4, 5, 6, 7], on: 0x51, isFromHost: true).isMalformed)
        #expect(frame([3, 0, 0x0A, 9, 0], on: 0x51, isFromHost: true).codes.attribute?.wire == 0x0A)
    }

    @Test("A closed channel, a link that has ended and a reset controller are forgotten")
    mutating func forgetting() {
        func isKnown(_ trace: inout Self) -> Bool {
            trace.frame([3, 0, 0x0A, 9, 0], on: 0x51, isFromHost: true).codes.attribute != nil
        }
        open(0x27)
        _ = frame([7, 9, 4, 0, 0x51, 0, 0x40, 0], on: 5, isFromHost: true)
        #expect(isKnown(&self))
        _ = frame([7, 9, 4, 0, 0x51, 0, 0x40, 0], on: 5, isFromHost: false)
        #expect(!isKnown(&self))
        let endings: [(octets: [UInt8], forgets: Bool)] = [
            ([4, 5, 4, 0, 0x41, 0, 0x13], false), ([4, 5, 4, 0x0C, 0x40, 0, 0x13], false), ([1, 3, 0x0C, 0], true),
            ([4, 5, 4, 0, 0x40, 0, 0x13], true),
        ]
        for ending in endings {
            open(0x27)
            _ = trace.dissect(h4: ending.octets, isFromHost: ending.octets[0] == 1)
            #expect(isKnown(&self) != ending.forgets)
        }
    }

    @Test("The codes of packets are returned, and of malformed ones as far as they can be read")
    mutating func codes() {
        let command = trace.dissect(h4: [1, 6, 4, 3, 0x40, 0, 0x13], isFromHost: true).codes
        #expect(command.type == .command && command.opcode?.wire == 0x0406 && command.handles == [0x40])
        let complete = trace.dissect(h4: [4, 0x0E, 4, 1, 3, 0x0C, 0], isFromHost: false).codes
        #expect(complete.event?.wire == 0x0E && complete.opcode?.wire == 0x0C03 && complete.handles == [])
        let packets = trace.dissect(h4: [4, 0x13, 9, 2, 0x40, 0, 1, 0, 0x41, 0, 1, 0], isFromHost: false).codes
        #expect(packets.handles == [0x40, 0x41] && packets.opcode == nil)
        let short = trace.dissect(h4: [4, 0x3E, 2, 0x0A, 0], isFromHost: false)
        #expect(short.isMalformed && short.codes.event?.wire == 0x3E && short.codes.subevent?.wire == 0x0A)
        #expect(frame([0x0B, 1], on: 6, isFromHost: false).codes.security?.wire == 0x0B)
        #expect(frame([0x12, 1, 9], on: 5, isFromHost: false).codes.signal?.wire == 0x12)
        #expect(frame([0xEE], on: 4, isFromHost: false).codes.attribute?.wire == 0xEE)
        let nothing = trace.dissect(h4: [], isFromHost: true)
        #expect(nothing.codes.type == nil && nothing.isMalformed)
    }

    @Test("The number of links and channels is limited, and old ones are replaced by new ones")
    mutating func limits() {
        for handle in UInt16(0)..<200 { _ = data([7, 0, 4, 0], isFromHost: false, handle: handle) }
        #expect(data([0x0B, 1, 2, 3, 4, 5, 6], isFromHost: false, isFirst: false, handle: 0).completed == [])
        let newest = data([0x0B, 1, 2, 3, 4, 5, 6], isFromHost: false, isFirst: false, handle: 199)
        #expect(newest.codes.attribute?.wire == 0x0B)
        for channel in UInt8(0x40)...0xFF {
            let request: [UInt8] = [0x27, 0, channel, 0, 0x40, 0, 0x40, 0, 5, 0]
            _ = frame([0x14, channel, 10, 0] + request, on: 5, isFromHost: true)
            let response: [UInt8] = [channel, 0, 0x40, 0, 0x40, 0, 5, 0, 0, 0]
            _ = frame([0x15, channel, 10, 0] + response, on: 5, isFromHost: false)
        }
        #expect(frame([3, 0, 0x0A, 9, 0], on: 0x40, isFromHost: true).codes.attribute == nil)
        #expect(frame([3, 0, 0x0A, 9, 0], on: 0xFF, isFromHost: true).codes.attribute?.wire == 0x0A)
    }

    @Test("The beginning of a truncated packet is shown with its headers, and is not malformed")
    mutating func cut() {
        let whole: [[UInt8]] = [
            [1, 3, 0x0C, 0], [4, 0x3E, 4, 2, 1, 2, 3], [4, 0x0E, 4, 1, 3, 0x0C, 0],
            [2, 0x40, 0x20, 7, 0, 3, 0, 4, 0, 0x0B, 1, 2], [2, 0x40, 0x10, 2, 0, 1, 2], [5, 0, 0, 1, 0, 9], [9, 9],
        ]
        for octets in whole {
            for count in 0..<octets.count {
                let packet = trace.dissect(
                    h4: Array(octets[..<count]),
                    isFromHost: false,
                    missing: octets.count - count
                )
                #expect(packet.isCut && !packet.isMalformed && packet.completed == [], "\(octets[..<count])")
                #expect(packet.layers.reduce(0) { $0 + $1.size } == count)
                #expect(packet.codes.type?.wire == octets[..<count].first)
            }
        }
        let event = trace.dissect(h4: [4, 0x3E, 30, 2, 1], isFromHost: false, missing: 28)
        #expect(event.layers.map(\.name) == ["HCI Event LE Meta", "cut"] && event.codes.subevent?.wire == 2)
        let data = trace.dissect(h4: [2, 0x40, 0x20, 27, 0, 23, 0, 4, 0, 0x1B, 3, 0], isFromHost: false, missing: 20)
        #expect(data.layers.map(\.name) == ["ACL Data", "L2CAP", "cut"] && data.codes.attribute?.wire == 0x1B)
    }

    @Test("A packet with a truncated fragment is never completed")
    mutating func cutFragments() {
        _ = data([7, 0, 4, 0, 0x0B], isFromHost: false)
        _ = trace.dissect(h4: [2, 0x40, 0x10, 4, 0, 1], isFromHost: false, missing: 3)
        #expect(data([5, 6], isFromHost: false, isFirst: false).completed == [])
        open(0x80)
        _ = trace.dissect(h4: [2, 0x40, 0x20, 24, 0, 20, 0, 0x40, 0, 30, 0], isFromHost: false, missing: 18)
        let next = frame([1, 2, 3, 4], on: 0x40, isFromHost: false)
        #expect(next.layers.map(\.name) == ["ACL Data", "L2CAP", "L2CAP Payload"])
        #expect(frame([2, 0, 7, 7], on: 0x51, isFromHost: true).layers.last?.name == "SDU")
    }
}
