import BLEWire

/// The outputs of a state machine or layer, in order, until its owner takes them.
struct OutputQueue<Output> {
    private var incoming: [Output] = []
    /// The next outputs in reverse order, so that the first one can be removed from the end without a copy.
    private var outgoing: [Output] = []

    var isEmpty: Bool { incoming.isEmpty && outgoing.isEmpty }

    mutating func append(_ output: Output) { incoming.append(output) }

    /// Returns the next output; `nil` if there is none.
    mutating func next() -> Output? {
        if outgoing.isEmpty {
            guard !incoming.isEmpty else { return nil }
            swap(&incoming, &outgoing)
            if outgoing.count > 1 { outgoing.reverse() }
        }
        return outgoing.popLast()
    }
}

extension OutputQueue: Sendable where Output: Sendable {}

/// A reusable buffer for copying the octets of spans into arrays.
///
/// The octets of a span can only be appended to an array one at a time, and each time the capacity is checked. Copying
/// into this buffer needs no such checks, and a slice of it is copied into an array of the exact size in one step.
struct CopyBuffer {
    private var octets = [UInt8](repeating: 0, count: 512)

    /// Returns a copy of the octets in `span`.
    mutating func copy(_ span: Span<UInt8>) -> [UInt8] {
        let count = span.count
        guard count <= octets.count else { return [UInt8](copying: span) }
        for index in 0..<count { octets[index] = span[index] }
        return [UInt8](octets[..<count])
    }
}
