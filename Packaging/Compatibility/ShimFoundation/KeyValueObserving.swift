public import CoreBluetooth
public import Foundation

/// A change of a property of an object that another object holds.
public struct NestedChange<Value> {
    /// The value after the change, if requested.
    public let newValue: Value?
    /// The value before the change, if requested.
    public let oldValue: Value?
    /// True if the change is about to happen; always `false`.
    public let isPrior = false
}

extension NSObjectProtocol where Self: NSObject {
    /// Calls `changeHandler` after each change of a property of a manager or a peripheral that this object holds.
    ///
    /// `ble toolset --objc` replaces `observe(\.manager?.isScanning)` with a call of this method. The observed manager is
    /// the one that the object holds now; without one, there are no changes.
    @preconcurrency
    public func observe<Object: _KeyValueCodingAndObserving, Value>(
        _ object: Object?,
        _ keyPath: KeyPath<Object, Value>,
        options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping @Sendable (Self, NestedChange<Value?>) -> Void
    ) -> NSKeyValueObservation? {
        nonisolated(unsafe) weak let observer = self
        return object?.observe(keyPath, options: options) { _, change in
            guard let self = observer else { return }
            changeHandler(
                self,
                NestedChange(newValue: change.newValue.map(Value?.some), oldValue: change.oldValue.map(Value?.some))
            )
        }
    }
}
