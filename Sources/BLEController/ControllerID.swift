/// The identifier of a controller on an ``Air``; controllers are numbered from 0 in the order in which they are added.
package struct ControllerID: Hashable, Comparable, Sendable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }
    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// An unordered pair of controllers.
package struct ControllerPair: Hashable, Sendable {
    package let lower: ControllerID
    package let upper: ControllerID

    package init(_ a: ControllerID, _ b: ControllerID) {
        lower = min(a, b)
        upper = max(a, b)
    }
}
