/// A first-in, first-out queue that neither moves its elements on removal nor releases its storage.
///
/// It is inlinable, so that other modules specialize it. Otherwise it would request the types of its elements on each
/// use: seven thousand instructions per element.
@usableFromInline package struct Fifo<Element> {
    @usableFromInline var elements: [Element?] = []
    @usableFromInline var head = 0

    @inlinable package init() {}

    @inlinable package var isEmpty: Bool { head == elements.count }
    @inlinable package var count: Int { elements.count - head }

    /// The element after `position` others; `nil` if there are not that many.
    @inlinable package subscript(position: Int) -> Element? {
        0..<count ~= position ? elements[head + position] : nil
    }

    /// The next element.
    @inlinable package var first: Element? { isEmpty ? nil : elements[head] }

    /// Changes the element after `position` others; does nothing if there are not that many.
    mutating func update(_ position: Int, _ body: (inout Element) -> Void) {
        guard 0..<count ~= position, var element = elements[head + position].take() else { return }
        body(&element)
        elements[head + position] = element
    }

    func contains(where fits: (Element) -> Bool) -> Bool {
        elements[head...].contains { $0.map(fits) ?? false }
    }

    @inlinable package mutating func append(_ element: Element) { elements.append(element) }

    @inlinable package mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        let element = elements[head].take()
        head += 1
        if head == elements.count {
            // Cheaper than to replace a range, and no more than what was appended.
            while elements.popLast() != nil {}
            head = 0
        } else if head >= 64, head * 2 >= elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }

    mutating func removeAll(where isUnwanted: (Element) -> Bool) {
        elements = elements[head...].filter { $0.map { !isUnwanted($0) } ?? false }
        head = 0
    }

    @inlinable package mutating func removeAll() {
        elements.removeAll(keepingCapacity: true)
        head = 0
    }
}

extension Fifo: Sendable where Element: Sendable {}
