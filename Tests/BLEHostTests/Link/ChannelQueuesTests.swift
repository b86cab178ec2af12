import BLEWire
import Testing

@testable import BLEHost

@Suite("Channel turns")
struct ChannelQueuesTests {
    static func drain(_ lanes: inout ChannelQueues<String>) -> [String] {
        var elements: [String] = []
        while let element = lanes.next() { elements.append(element) }
        return elements
    }

    static let channels = (UInt16(0x40)...0x42).map { ChannelIdentifier(wire: $0) }

    @Test("Channels take turns, and each keeps its order")
    func turns() {
        var lanes = ChannelQueues<String>()
        for number in 0..<3 { lanes.append("a\(number)", on: Self.channels[0]) }
        for number in 0..<2 { lanes.append("b\(number)", on: Self.channels[1]) }
        lanes.append("att", on: .attribute)
        #expect(Self.drain(&lanes) == ["att", "a0", "b0", "a1", "b1", "a2"])
        #expect(lanes.isEmpty)
    }

    @Test("Signals go first, without taking a turn from other channels")
    func signals() {
        var lanes = ChannelQueues<String>()
        for number in 0..<4 {
            lanes.append("signal", on: .leSignaling)
            lanes.append("att", on: .attribute)
            lanes.append("a\(number)", on: Self.channels[0])
        }
        #expect(
            Self.drain(&lanes) == [String](repeating: "signal", count: 4) + [
                "att", "a0", "att", "a1", "att", "a2", "att", "a3",
            ]
        )
        var order: [String] = []
        for _ in 0..<4 {
            lanes.append("signal", on: .leSignaling)
            lanes.append("att", on: .attribute)
            lanes.append("a", on: Self.channels[0])
            for _ in 0..<2 { if let next = lanes.next() { order.append(next) } }
        }
        #expect(order == ["signal", "att", "signal", "a", "signal", "att", "signal", "a"])
    }

    @Test("Dropped packets are not sent")
    func removed() {
        var lanes = ChannelQueues<String>()
        for channel in Self.channels { for number in 0..<2 { lanes.append("\(channel.wire) \(number)", on: channel) } }
        _ = lanes.next()
        lanes.remove(Self.channels[1])
        lanes.remove(Self.channels[1])
        #expect(lanes.count(on: Self.channels[1]) == 0)
        #expect(Self.drain(&lanes) == ["66 0", "64 1", "66 1"])
        #expect(lanes.isEmpty)
    }
}
