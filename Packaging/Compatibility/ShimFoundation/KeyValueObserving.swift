@_spi(Compatibility) public import CoreBluetooth
public import Foundation

@_exported public import enum CoreBluetooth.NSKeyValueChange
@_exported public import class CoreBluetooth.NSKeyValueObservation
@_exported public import struct CoreBluetooth.NSKeyValueObservedChange
@_exported public import struct CoreBluetooth.NSKeyValueObservingOptions

/// A change of a property of an object that another object holds.
public struct NestedChange<Value> {
    /// The value after the change, if requested.
    public let newValue: Value?
    /// The value before the change, if requested.
    public let oldValue: Value?
    /// True if the change is about to happen; always `false`.
    public let isPrior = false
}

/// The name of a property whose changes are reported to observers.
///
/// `ble toolset --objc` adds a property of this type to a class for each property that is `dynamic`.
public struct _ObservableKey: Sendable {
    fileprivate let name: String
    public init(_ name: String) { self.name = name }
}

/// Calls the observers of a property after its change.
///
/// `ble toolset --objc` adds a call to each property that is `dynamic`.
public func _keyValueDidChange<Value>(_ object: AnyObject, _ name: String, _ old: Value) {
    ObservedProperties.report(object, name, old)
}

extension NSObjectProtocol where Self: NSObject {
    /// Calls `changeHandler` after each change of a property of a manager or a peripheral that this object holds.
    ///
    /// `ble toolset --objc` replaces `observe(\.manager?.isScanning)` with a call of this method. The observed manager is
    /// the one that the object holds now; without one, there are no changes.
    @preconcurrency
    public func observe<Object: _KeyValueCodingAndObserving, Value>(
        _ object: Object?,
        _ key: KeyPath<Object, _ObservableKey>,
        _ keyPath: KeyPath<Object, Value>,
        options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping @Sendable (Self, NestedChange<Value?>) -> Void
    ) -> NSKeyValueObservation? { object?.observe(keyPath, options: options, changeHandler: nested(changeHandler)) }

    /// Calls `changeHandler` after each change of a property that is `dynamic` of an object that this object holds now.
    @preconcurrency
    public func observe<Object: NSObject, Value>(
        _ object: Object?,
        _ key: KeyPath<Object, _ObservableKey>,
        _ keyPath: KeyPath<Object, Value>,
        options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping @Sendable (Self, NestedChange<Value?>) -> Void
    ) -> NSKeyValueObservation? { object?.observe(key, keyPath, options: options, changeHandler: nested(changeHandler)) }

    /// Returns a handler of changes in another object that calls the handler of this object while it exists.
    private func nested<Object, Value>(
        _ changeHandler: @escaping @Sendable (Self, NestedChange<Value?>) -> Void
    ) -> @Sendable (Object, NSKeyValueObservedChange<Value>) -> Void {
        nonisolated(unsafe) weak let observer = self
        return { _, change in
            guard let self = observer else { return }
            changeHandler(
                self,
                NestedChange(newValue: change.newValue.map(Value?.some), oldValue: change.oldValue.map(Value?.some))
            )
        }
    }

    /// Calls `changeHandler` after each change of a property that is `dynamic`, on the thread that made the change.
    ///
    /// `ble toolset --objc` replaces `observe(\.isOn)` with a call of this method.
    @preconcurrency
    public func observe<Value>(
        _ key: KeyPath<Self, _ObservableKey>,
        _ keyPath: KeyPath<Self, Value>,
        options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping @Sendable (Self, NSKeyValueObservedChange<Value>) -> Void
    ) -> NSKeyValueObservation {
        nonisolated(unsafe) weak let object = self
        nonisolated(unsafe) let path = keyPath
        @Sendable func call(old: Value?) {
            guard let object else { return }
            let new = options.contains(.new) ? object[keyPath: path] : nil
            changeHandler(object, NSKeyValueObservedChange(new: new, old: options.contains(.old) ? old : nil))
        }
        if options.contains(.initial) { call(old: nil) }
        let id = ObservedProperties.add(self, self[keyPath: key].name) { call(old: $0 as? Value) }
        let address = ObjectIdentifier(self)
        return NSKeyValueObservation { ObservedProperties.remove(id, of: address) }
    }
}

extension NSObject {
    /// Has no effect: observers are called after a change.
    @_disfavoredOverload
    public func willChangeValue(forKey key: String) {}

    /// Calls the observers of a property. They receive no old value.
    @_disfavoredOverload
    public func didChangeValue(forKey key: String) { ObservedProperties.report(self, key, ()) }
}

extension _KeyValueCodingAndObserving {
    public var _key_ancsAuthorized: _ObservableKey { _ObservableKey("ancsAuthorized") }
    public var _key_authorization: _ObservableKey { _ObservableKey("authorization") }
    public var _key_canSendWriteWithoutResponse: _ObservableKey { _ObservableKey("canSendWriteWithoutResponse") }
    public var _key_isAdvertising: _ObservableKey { _ObservableKey("isAdvertising") }
    public var _key_isScanning: _ObservableKey { _ObservableKey("isScanning") }
    public var _key_name: _ObservableKey { _ObservableKey("name") }
    public var _key_services: _ObservableKey { _ObservableKey("services") }
    public var _key_state: _ObservableKey { _ObservableKey("state") }

    /// Observes a property of a manager or a peripheral, as ``observe(_:options:changeHandler:)`` does.
    @preconcurrency
    public func observe<Value>(
        _ key: KeyPath<Self, _ObservableKey>,
        _ keyPath: KeyPath<Self, Value>,
        options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping @Sendable (Self, NSKeyValueObservedChange<Value>) -> Void
    ) -> NSKeyValueObservation { observe(keyPath, options: options, changeHandler: changeHandler) }
}

/// The observers of properties that are `dynamic`.
///
/// An observer is stored by the address of its object, and holds that object weakly. So a change during the
/// deinitialization of an object calls no observer, and neither does another object at the same address.
private enum ObservedProperties {
    private struct Observer {
        let id: Int
        let name: String
        let call: @Sendable (Any) -> Void
    }

    private static let mutex = NSLock()
    nonisolated(unsafe) private static var observers: [ObjectIdentifier: [Observer]] = [:]
    nonisolated(unsafe) private static var next = 0

    static func add(_ object: AnyObject, _ name: String, _ call: @escaping @Sendable (Any) -> Void) -> Int {
        mutex.withLock {
            next += 1
            observers[ObjectIdentifier(object), default: []].append(Observer(id: next, name: name, call: call))
            return next
        }
    }

    static func remove(_ id: Int, of object: ObjectIdentifier) {
        // The observer is released after the lock, because its destructor may remove another one.
        let removed = mutex.withLock { () -> [Observer]? in
            let all = observers[object]
            let others = all?.filter { $0.id != id } ?? []
            observers[object] = others.isEmpty ? nil : others
            return all
        }
        withExtendedLifetime(removed) {}
    }

    static func report(_ object: AnyObject, _ name: String, _ old: Any) {
        let all = mutex.withLock { observers[ObjectIdentifier(object)] } ?? []
        for observer in all where observer.name == name { observer.call(old) }
    }
}
