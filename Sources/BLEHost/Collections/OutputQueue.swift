/// The queue of a core's outputs, in order.
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
