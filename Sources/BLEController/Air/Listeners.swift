/// The controllers that scan or initiate, with an index by position for finding those that are near enough to receive a
/// packet.
///
/// Without the index, the air would check every listener for every packet, although in a large simulation most
/// listeners are out of range. The index divides the ground into squares with sides a little longer than the range of a
/// packet sent at 0 dBm. A packet is offered to the listeners in the squares around its sender, in ascending order of
/// their numbers. These squares contain all listeners that can receive the packet.
struct Listeners: Sendable {
    private struct Square: Hashable {
        var x: Int32
        var y: Int32
    }

    /// The side of a square, in metres.
    ///
    /// A packet sent at 0 dBm is lost beyond 200 m.
    private static let side = 256.0
    /// The number of listeners up to which every packet is offered to all of them.
    ///
    /// Checking so few listeners costs less than looking up squares.
    private static let mostUnsorted = 12
    /// The maximum range, in squares, of a packet whose listeners are looked up by square; a packet with a longer range
    /// is offered to all listeners.
    private static let mostRings = 8

    /// The numbers of all listeners, in ascending order.
    private(set) var all: [Int] = []
    private var squares: [Square: [Int]] = [:]
    /// The square of each listener, in the order of ``all``; `nil` if a coordinate is not finite, in which case no
    /// packet reaches the listener.
    private var listenerSquares: [Square?] = []

    mutating func insert(_ controller: Int, at position: Position) {
        guard index(of: controller) == nil else { return }
        let index = all.insertionIndex(of: controller)
        let place = Self.square(of: position)
        all.insert(controller, at: index)
        listenerSquares.insert(place, at: index)
        if let place { squares[place, default: []].insertInOrder(controller) }
    }

    mutating func remove(_ controller: Int) {
        guard let index = index(of: controller) else { return }
        all.remove(at: index)
        guard let place = listenerSquares.remove(at: index) else { return }
        removeFromSquare(place, controller)
    }

    /// Records a listener's new position; has no effect for a controller that does not listen.
    mutating func move(_ controller: Int, to position: Position) {
        guard let index = index(of: controller) else { return }
        let place = Self.square(of: position)
        guard place != listenerSquares[index] else { return }
        if let before = listenerSquares[index] { removeFromSquare(before, controller) }
        listenerSquares[index] = place
        if let place { squares[place, default: []].insertInOrder(controller) }
    }

    /// Returns the listeners that a packet may reach.
    ///
    /// - Parameters:
    ///   - position: The position of the sender.
    ///   - power: The transmit power, in dBm.
    /// - Returns: The numbers of the listeners, in ascending order.
    func listeners(near position: Position, power: Int) -> [Int] {
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

    private mutating func removeFromSquare(_ place: Square, _ controller: Int) {
        squares[place]?.removeAll { $0 == controller }
        if squares[place]?.isEmpty == true { squares[place] = nil }
    }

    private func index(of controller: Int) -> Int? {
        let index = all.insertionIndex(of: controller)
        return index < all.count && all[index] == controller ? index : nil
    }

    /// Returns the number of squares that a packet sent at `power` dBm reaches in each direction; `nil` if there are
    /// more than ``mostRings``.
    private static func rings(power: Int) -> Int32? {
        guard power <= 60 else { return nil }
        // In the log-distance model, each additional decibel extends the range by a factor of 10^(1/25).
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

    /// Returns the index of the row or column of squares that contains a coordinate.
    ///
    /// Coordinates outside the grid are clamped to the first or last row or column.
    private static func number(_ coordinate: Double) -> Int32 {
        let number = (coordinate / side).rounded(.down)
        return number <= Double(Int32.min) ? .min : number >= Double(Int32.max) ? .max : Int32(number)
    }
}

extension [Int] {
    /// Returns the index of a number in a sorted array, or the index at which to insert it.
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
