public import Foundation

// Key-value observing by key path, under the names that Foundation has for it on Apple's systems. Without the
// Objective-C runtime, properties cannot be observed by name, and types of other modules cannot be observed.

/// The values that the handler of an observation receives, and the times at which it is called.
public struct NSKeyValueObservingOptions: OptionSet, Sendable {
    /// One bit for each option.
    public let rawValue: UInt

    /// Creates options from their bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Pass the value after the change to the handler.
    public static var new: Self { Self(rawValue: 1 << 0) }
    /// Pass the value before the change to the handler.
    public static var old: Self { Self(rawValue: 1 << 1) }
    /// Call the handler immediately, with the current value.
    public static var initial: Self { Self(rawValue: 1 << 2) }
    /// Call the handler before each change as well.
    ///
    /// Accepted, but has no effect.
    public static var prior: Self { Self(rawValue: 1 << 3) }
}

/// The kind of change of an observed property.
public enum NSKeyValueChange: UInt, Sendable {
    /// The value was set. Every reported change is of this kind.
    case setting = 1
    /// An element was inserted into a collection.
    case insertion = 2
    /// An element was removed from a collection.
    case removal = 3
    /// An element of a collection was replaced.
    case replacement = 4
}

/// A change of an observed property.
public struct NSKeyValueObservedChange<Value> {
    /// The kind of change.
    public typealias Kind = NSKeyValueChange

    /// The kind of change: always ``NSKeyValueChange/setting``.
    public let kind: Kind
    /// The value after the change, if requested.
    public let newValue: Value?
    /// The value before the change, if requested.
    public let oldValue: Value?
    /// The indexes of the changed elements of a collection; always `nil`.
    public let indexes: IndexSet?
    /// True if the change is about to happen; always `false`.
    public let isPrior: Bool

    /// Creates a change from the values that were requested.
    ///
    /// For the modules of `ble toolset --compat`.
    @_spi(Compatibility)
    public init(new: Value?, old: Value?) {
        kind = .setting
        newValue = new
        oldValue = old
        indexes = nil
        isPrior = false
    }
}

/// An observation, which lasts as long as this object is retained.
public final class NSKeyValueObservation: NSObject {
    private let end: @Sendable () -> Void

    /// Creates an observation that calls `end` when it is released or invalidated, possibly more than once.
    ///
    /// For the modules of `ble toolset --compat`.
    @_spi(Compatibility)
    public init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }

    /// Ends the observation.
    public func invalidate() { end() }
}

/// An object with observable properties: a manager or a peripheral.
public protocol _KeyValueCodingAndObserving: NSObject {}

/// An object that reports changes of its properties to observers.
protocol Observed: _KeyValueCodingAndObserving {
    /// The observers of the object.
    var watchers: PropertyObservers { get }
    /// Starts reporting changes of the object's properties to observers.
    func startReportingChanges()
}

extension _KeyValueCodingAndObserving {
    /// Calls `changeHandler` after each change of the property at `keyPath`.
    ///
    /// The handler runs on the thread that made the change, or on another thread that is calling handlers of this
    /// object at that time. If a host event causes the change, the handler is called before the delegate.
    ///
    /// - Returns: The observation, which lasts until it is released.
    @preconcurrency
    public func observe<Value>(
        _ keyPath: KeyPath<Self, Value>,
        options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping @Sendable (Self, NSKeyValueObservedChange<Value>) -> Void
    ) -> NSKeyValueObservation {
        guard let observed = self as? any Observed else {
            preconditionFailure("only managers and peripherals can be observed")
        }
        let watchers = observed.watchers
        observed.startReportingChanges()
        let watch = Watch(self, keyPath, options, changeHandler)
        let id = watchers.add { watch.compareValue() }
        if options.contains(.initial) { watch.callHandler(old: nil, new: self[keyPath: keyPath]) }
        return NSKeyValueObservation { [weak watchers] in watchers?.remove(id) }
    }
}
