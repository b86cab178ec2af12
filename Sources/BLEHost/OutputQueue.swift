/// What a value wants done, in order, until its owner takes it: one by one, or all that there is at once.
struct OutputQueue<Output> {
    private var outputs: [Output] = []
    private var taken = 0

    var isEmpty: Bool { outputs.isEmpty }

    mutating func append(_ output: Output) { outputs.append(output) }

    /// Hands out what is next; `nil` if there is nothing.
    mutating func next() -> Output? {
        guard taken < outputs.count else { return nil }
        let output = outputs[taken]
        taken += 1
        if taken == outputs.count {
            outputs.removeAll(keepingCapacity: true)
            taken = 0
        }
        return output
    }

    /// Hands out all that there is in exchange for an array that is empty, whose storage is used from now on.
    mutating func takeAll(into empty: inout [Output]) {
        precondition(empty.isEmpty, "what was taken before has been dealt with")
        if taken > 0 {
            outputs.removeFirst(taken)
            taken = 0
        }
        swap(&outputs, &empty)
    }
}

extension OutputQueue: Sendable where Output: Sendable {}
