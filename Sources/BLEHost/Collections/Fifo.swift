/// A first-in, first-out queue.
///
/// Removing an element usually moves no others, and the storage is kept for further elements.
///
/// It is inlinable, so that other modules specialize it. Otherwise, each use would look up the type metadata of the
/// elements, which takes seven thousand instructions per element.
@usableFromInline package struct Fifo<Element> {
    @usableFromInline var elements: [Element?] = []
    @usableFromInline var head = 0

    @inlinable package init() {}

    @inlinable package var isEmpty: Bool { head == elements.count }
    @inlinable package var count: Int { elements.count - head }

    /// The element at `position`, where 0 is the oldest; `nil` if there are fewer elements.
    @inlinable package subscript(position: Int) -> Element? {
        0..<count ~= position ? elements[head + position] : nil
    }

    /// The oldest element; `nil` if the queue is empty.
    @inlinable package var first: Element? { isEmpty ? nil : elements[head] }

    /// Changes the element at `position`, where 0 is the oldest.
    ///
    /// Has no effect if there are fewer elements.
    mutating func update(_ position: Int, _ body: (inout Element) -> Void) {
        guard 0..<count ~= position, var element = elements[head + position].take() else { return }
        body(&element)
        elements[head + position] = element
    }

    func contains(where fits: (Element) -> Bool) -> Bool {
        elements[head...].contains { $0.map(fits) ?? false }
    }

    func count(where fits: (Element) -> Bool) -> Int {
        elements[head...].count { $0.map(fits) ?? false }
    }

    @inlinable package mutating func append(_ element: Element) { elements.append(element) }

    @inlinable package mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        let element = elements[head].take()
        head += 1
        if head == elements.count {
            // This is cheaper than replacing a range, and takes no more steps than appending the elements did.
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
