/// What a value wants done, in order, until its owner takes it: one by one, or all that there is at once.
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

    /// Hands out all that there is in exchange for an array that is empty, whose storage is used from now on.
    mutating func takeAll(into empty: inout [Output]) {
        precondition(empty.isEmpty, "what was taken before has been dealt with")
        while let output = outgoing.popLast() { empty.append(output) }
        guard !empty.isEmpty else { return swap(&incoming, &empty) }
        empty += incoming
        incoming.removeAll(keepingCapacity: true)
    }
}

extension OutputQueue: Sendable where Output: Sendable {}
