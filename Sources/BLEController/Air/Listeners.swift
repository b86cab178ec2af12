/// The controllers that scan or initiate, and which of them are near enough to receive a packet.
///
/// A world of many places would otherwise look at every listener for every packet, although most are out of range.
/// The listeners are kept in squares of the ground, whose sides are the range of a packet that was sent with 0 dBm. A
/// packet is offered to the listeners in the squares around its sender, a superset of those that receive it, in the
/// order of their numbers.
struct Listeners: Sendable {
    private struct Square: Hashable {
        var x: Int32
        var y: Int32
    }

    /// The side of a square, in metres.
    ///
    /// A packet sent with 0 dBm is lost beyond 200 m.
    private static let side = 256.0
    /// Fewer listeners than this are all looked at, which costs less than to look up the squares.
    private static let mostUnsorted = 12
    /// A packet that reaches across more squares in one direction is offered to all listeners.
    private static let mostRings = 8

    /// All listeners, in order.
    private(set) var all: [Int] = []
    private var squares: [Square: [Int]] = [:]
    /// Where each listener is, in the order of ``all``; `nil` at a place that is not finite, where nothing arrives.
    private var places: [Square?] = []

    mutating func insert(_ controller: Int, at position: Position) {
        guard index(of: controller) == nil else { return }
        let index = all.insertionIndex(of: controller)
        let place = Self.square(of: position)
        all.insert(controller, at: index)
        places.insert(place, at: index)
        if let place { squares[place, default: []].insertInOrder(controller) }
    }

    mutating func remove(_ controller: Int) {
        guard let index = index(of: controller) else { return }
        all.remove(at: index)
        guard let place = places.remove(at: index) else { return }
        leave(place, controller)
    }

    /// Records that a listener is at another position; does nothing for a controller that does not listen.
    mutating func move(_ controller: Int, to position: Position) {
        guard let index = index(of: controller) else { return }
        let place = Self.square(of: position)
        guard place != places[index] else { return }
        if let before = places[index] { leave(before, controller) }
        places[index] = place
        if let place { squares[place, default: []].insertInOrder(controller) }
    }

    /// Finds the listeners that a packet may reach.
    ///
    /// - Parameters:
    ///   - position: Where the packet is sent.
    ///   - power: The transmit power, in dBm.
    /// - Returns: Their numbers, in order.
    func near(_ position: Position, power: Int) -> [Int] {
        guard all.count > Self.mostUnsorted else { return all }
        guard let center = Self.square(of: position) else { return [] }
        guard let rings = Self.rings(power: power) else { return all }
        var found: [Int] = []
        for y in Self.span(around: center.y, rings) {
            for x in Self.span(around: center.x, rings) {
                if let listeners = squares[Square(x: x, y: y)] { found += listeners }
            }
        }
        found.sort()
        return found
    }

    private mutating func leave(_ place: Square, _ controller: Int) {
        squares[place]?.removeAll { $0 == controller }
        if squares[place]?.isEmpty == true { squares[place] = nil }
    }

    private func index(of controller: Int) -> Int? {
        let index = all.insertionIndex(of: controller)
        return index < all.count && all[index] == controller ? index : nil
    }

    /// The squares that a packet reaches in each direction; `nil` if they are too many.
    private static func rings(power: Int) -> Int32? {
        guard power <= 60 else { return nil }
        // The log-distance model: each decibel more reaches 10^(1/25) times as far.
        var range = 200.0
        for _ in 0..<max(0, power) { range *= 1.096_478_196_143_185 }
        let rings = (range / side).rounded(.up)
        return rings <= Double(mostRings) ? Int32(rings) : nil
    }

    private static func span(around center: Int32, _ rings: Int32) -> ClosedRange<Int32> {
        let first = center.subtractingReportingOverflow(rings), last = center.addingReportingOverflow(rings)
        return (first.overflow ? .min : first.partialValue)...(last.overflow ? .max : last.partialValue)
    }

    private static func square(of position: Position) -> Square? {
        guard position.x.isFinite, position.y.isFinite, position.z.isFinite else { return nil }
        return Square(x: number(position.x), y: number(position.y))
    }

    /// The row or column of a coordinate.
    ///
    /// Places too far out share the last one.
    private static func number(_ coordinate: Double) -> Int32 {
        let number = (coordinate / side).rounded(.down)
        return number <= Double(Int32.min) ? .min : number >= Double(Int32.max) ? .max : Int32(number)
    }
}

extension [Int] {
    /// The index at which a number stands or belongs in an array in order.
    fileprivate func insertionIndex(of number: Int) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low
    }

    fileprivate mutating func insertInOrder(_ number: Int) { insert(number, at: insertionIndex(of: number)) }
}
