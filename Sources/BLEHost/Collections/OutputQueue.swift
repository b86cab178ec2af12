/// The outputs of a core, in order, until its owner takes them.
struct OutputQueue<Output> {
    private var incoming: [Output] = []
    /// In reverse order, so that the first can be moved out.
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
