/// Names one controller of an ``Air``: the first is 0, the next 1, in the order in which they were added.
package struct ControllerID: Hashable, Comparable, Sendable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }
    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// Two controllers, whichever comes first.
package struct ControllerPair: Hashable, Sendable {
    package let lower: ControllerID
    package let upper: ControllerID

    package init(_ a: ControllerID, _ b: ControllerID) {
        lower = min(a, b)
        upper = max(a, b)
    }
}
