public import Foundation

// Key-value observing by key path, under the names that Foundation has for it on Apple's systems. Without the
// Objective-C runtime nothing can be observed by name, nor what others declare.

/// What an observer wants to be told of a change.
public struct NSKeyValueObservingOptions: OptionSet, Sendable {
    /// One bit for each option.
    public let rawValue: UInt

    /// Creates options from their bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The value after the change.
    public static var new: Self { Self(rawValue: 1 << 0) }
    /// The value before the change.
    public static var old: Self { Self(rawValue: 1 << 1) }
    /// To be called at once, with the value as it is.
    public static var initial: Self { Self(rawValue: 1 << 2) }
    /// To be called before each change, too; accepted, and not done here.
    public static var prior: Self { Self(rawValue: 1 << 3) }
}

/// How a value changed.
public enum NSKeyValueChange: UInt, Sendable {
    /// It was set; all that happens here.
    case setting = 1
    /// Something was put into a collection.
    case insertion = 2
    /// Something was taken out of a collection.
    case removal = 3
    /// Something in a collection was replaced.
    case replacement = 4
}

/// What an observer is told.
public struct NSKeyValueObservedChange<Value> {
    /// How the value changed.
    public typealias Kind = NSKeyValueChange

    /// How the value changed.
    public let kind: Kind
    /// The value after the change, for those who asked for it.
    public let newValue: Value?
    /// The value before the change, for those who asked for it.
    public let oldValue: Value?
    /// Which elements of a collection changed; always `nil`.
    public let indexes: IndexSet?
    /// Whether the change is about to come; always `false`.
    public let isPrior: Bool

    init(new: Value?, old: Value?) {
        kind = .setting
        newValue = new
        oldValue = old
        indexes = nil
        isPrior = false
    }
}

/// Observes as long as somebody keeps it.
public final class NSKeyValueObservation: NSObject {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }

    /// Observes no longer.
    public func invalidate() { end() }
}

/// An object whose properties can be observed: a manager or a peripheral.
public protocol _KeyValueCodingAndObserving: NSObject {}

/// What such an object has.
protocol Observed: _KeyValueCodingAndObserving {
    /// Who observes it.
    var watchers: Watchers { get }
    /// Has what the object knows of itself tell them, from now on.
    func beWatched()
}

extension _KeyValueCodingAndObserving {
    /// Calls `changeHandler` after each change of a property, on the thread that made it, before the delegate hears of
    /// what else it means.
    ///
    /// - Returns: What must be kept for as long as the property shall be observed.
    @preconcurrency
    public func observe<Value>(
        _ keyPath: KeyPath<Self, Value>,
        options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping @Sendable (Self, NSKeyValueObservedChange<Value>) -> Void
    ) -> NSKeyValueObservation {
        guard let observed = self as? any Observed else {
            preconditionFailure("managers and peripherals can be observed, and nothing else")
        }
        let watchers = observed.watchers
        observed.beWatched()
        let watch = Watch(self, keyPath, options, changeHandler)
        let id = watchers.add { watch.look() }
        if options.contains(.initial) { watch.tell(old: nil, new: self[keyPath: keyPath]) }
        return NSKeyValueObservation { [weak watchers] in watchers?.remove(id) }
    }
}
