import Foundation
import Testing

@testable import CoreBluetooth

@Suite("Octet queue")
struct OctetQueueTests {
    @Test("Octets come out as they went in, in pieces of any size", arguments: 1...9)
    func pieces(length: Int) {
        var queue = OctetQueue()
        var out: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: length)
        for size in 0..<20 as Range<UInt8> {
            queue.append((0..<size).map { size &* 16 &+ $0 })
            let moved = piece.withUnsafeMutableBufferPointer { queue.move(to: $0) }
            out += piece[..<moved]
        }
        while !queue.isEmpty {
            let count = queue.count
            let moved = piece.withUnsafeMutableBufferPointer { queue.move(to: $0) }
            #expect(moved == min(count, length))
            #expect(queue.count == count - moved)
            out += piece[..<moved]
        }
        #expect(out == (0..<20 as Range<UInt8>).flatMap { size in (0..<size).map { size &* 16 &+ $0 } })
        #expect(piece.withUnsafeMutableBufferPointer { queue.move(to: $0) } == 0)
    }
}
