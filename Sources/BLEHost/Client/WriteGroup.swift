/// Writes that a client of the local database takes all or none of: mostly one.
package struct WriteGroup: Equatable, Sendable, RandomAccessCollection {
    private var only: WritePart?
    /// All of them, unless there is one alone, which needs no array.
    private var several: [WritePart] = []

    package init(_ part: WritePart) { only = part }

    package init(_ parts: [WritePart]) {
        if parts.count == 1 { only = parts[0] } else { several = parts }
    }

    package var startIndex: Int { 0 }
    package var endIndex: Int { only == nil ? several.count : 1 }

    package subscript(position: Int) -> WritePart {
        guard let only else { return several[position] }
        precondition(position == 0, "there is one write")
        return only
    }
}

extension WriteGroup: ExpressibleByArrayLiteral {
    package init(arrayLiteral parts: WritePart...) { self.init(parts) }
}
