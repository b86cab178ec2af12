/// An atomic group of writes, usually just one.
package struct WriteGroup: Equatable, Sendable, RandomAccessCollection {
    private enum Parts: Equatable, Sendable {
        /// A single write, which needs no array.
        case one(WritePart)
        case several([WritePart])
    }

    private let parts: Parts

    package init(_ part: WritePart) { parts = .one(part) }

    package init(_ parts: [WritePart]) { self.parts = parts.count == 1 ? .one(parts[0]) : .several(parts) }

    package var startIndex: Int { 0 }

    package var endIndex: Int {
        switch parts {
        case .one: 1
        case .several(let parts): parts.count
        }
    }

    package subscript(position: Int) -> WritePart {
        switch parts {
        case .one(let part):
            precondition(position == 0, "a single write has no further positions")
            return part
        case .several(let parts): return parts[position]
        }
    }
}

extension WriteGroup: ExpressibleByArrayLiteral {
    package init(arrayLiteral parts: WritePart...) { self.init(parts) }
}
