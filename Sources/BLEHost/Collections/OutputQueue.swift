/// What a value wants done, in order, until its owner takes it.
struct OutputQueue<Output> {
    private var incoming: [Output] = []
    /// What came in first is last, so that it can be moved out.
    private var outgoing: [Output] = []

    var isEmpty: Bool { incoming.isEmpty && outgoing.isEmpty }

    mutating func append(_ output: Output) { incoming.append(output) }

    /// Hands out what is next; `nil` if there is nothing.
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
