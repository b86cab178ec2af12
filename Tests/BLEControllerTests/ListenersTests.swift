import BLEWire
import Testing

@testable import BLEController

@Suite("Listeners in range of a packet")
struct ListenersTests {
    private static func position(_ random: inout SeededGenerator, within metres: Int64) -> Position {
        func coordinate() -> Double { Double(random.below(2 * metres * 10) - metres * 10) / 10 }
        return Position(x: coordinate(), y: coordinate(), z: coordinate() / 100)
    }

    @Test("Listeners in range are returned in order after any moves", arguments: 0..<16 as Range<UInt64>)
    func near(seed: UInt64) {
        var random = SeededGenerator(seed: seed), listeners = Listeners(), positions: [Int: Position] = [:]
        for _ in 0..<600 {
            let controller = Int(random.below(120)), position = Self.position(&random, within: 3_000)
            switch random.below(4) {
            case 0:
                listeners.remove(controller)
                positions[controller] = nil
            case 1:
                listeners.move(controller, to: position)
                if positions[controller] != nil { positions[controller] = position }
            default:
                guard positions[controller] == nil else { continue }
                listeners.insert(controller, at: position)
                positions[controller] = position
            }
        }
        #expect(listeners.all == positions.keys.sorted())
        for power in [-40, -20, 0, 3, 4, 10, 20, 127] {
            let sender = Self.position(&random, within: 3_000), near = listeners.listeners(near: sender, power: power)
            #expect(near == near.sorted() && Set(near).count == near.count)
            let receivers = listeners.all.filter { listener in
                guard let place = positions[listener] else { return false }
                let strength = PathLoss.strength(power: power, distance: place.distance(to: sender))
                return strength + PathLoss.noise >= PathLoss.sensitivity
            }
            #expect(Set(near).isSuperset(of: receivers), "\(power) dBm")
        }
    }

    @Test("Listeners far away are not returned")
    func far() {
        var listeners = Listeners()
        for town in 0..<100 { listeners.insert(town, at: Position(x: Double(town) * 2_000)) }
        #expect(listeners.listeners(near: Position(x: 10_000), power: 0) == [5])
        #expect(listeners.listeners(near: Position(x: 11_000), power: 0) == [])
    }

    @Test("Listeners at the edge of the world are returned, and none at a position that is not finite")
    func edges() {
        var listeners = Listeners()
        for number in 0..<50 { listeners.insert(number, at: Position(x: 1e300, y: -1e300)) }
        listeners.insert(50, at: Position(x: .infinity))
        listeners.insert(51, at: Position(y: .nan))
        #expect(listeners.listeners(near: Position(x: 1e300, y: -1e300), power: 0) == Array(0..<50))
        #expect(listeners.listeners(near: Position(x: .infinity), power: 0) == [])
        #expect(listeners.listeners(near: Position(), power: 200).count == 52)
        listeners.move(50, to: Position())
        #expect(listeners.listeners(near: Position(), power: 0) == [50])
    }
}
