import Foundation

@_exported public import func CoreBluetooth.autoreleasepool
@_exported public import class Foundation.NSObject
@_exported public import protocol Foundation.NSObjectProtocol

// The functions of the Objective-C runtime that work without it.

/// The way in which an object holds an associated value. Every value is held strongly.
public struct objc_AssociationPolicy: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    public static let OBJC_ASSOCIATION_ASSIGN = objc_AssociationPolicy(rawValue: 0)
    public static let OBJC_ASSOCIATION_RETAIN_NONATOMIC = objc_AssociationPolicy(rawValue: 1)
    public static let OBJC_ASSOCIATION_COPY_NONATOMIC = objc_AssociationPolicy(rawValue: 3)
    public static let OBJC_ASSOCIATION_RETAIN = objc_AssociationPolicy(rawValue: 0x301)
    public static let OBJC_ASSOCIATION_COPY = objc_AssociationPolicy(rawValue: 0x303)
}

/// Returns the value that is associated with an object under a key; `nil` if there is none.
public func objc_getAssociatedObject(_ object: Any, _ key: UnsafeRawPointer) -> Any? {
    ObjectStates.update(object as AnyObject) { $0.values[key] }
}

/// Associates a value with an object under a key.
///
/// The value lives as long as the object. After that, it is released when another value is associated with some object.
public func objc_setAssociatedObject(
    _ object: Any,
    _ key: UnsafeRawPointer,
    _ value: Any?,
    _ policy: objc_AssociationPolicy
) {
    ObjectStates.update(object as AnyObject) { $0.values[key] = value }
}

/// Removes all values that are associated with an object.
public func objc_removeAssociatedObjects(_ object: Any) { ObjectStates.update(object as AnyObject) { $0.values = [:] } }

/// Waits until no other thread holds the lock of an object, and takes it; a thread can take it repeatedly.
@discardableResult @_disfavoredOverload
public func objc_sync_enter(_ object: Any) -> Int32 {
    ObjectStates.update(object as AnyObject) { state in
        state.lockCount += 1
        return state.lock
    }.lock()
    return 0
}

/// Releases the lock of an object.
@discardableResult @_disfavoredOverload
public func objc_sync_exit(_ object: Any) -> Int32 {
    ObjectStates.update(object as AnyObject) { state in
        state.lockCount -= 1
        return state.lock
    }.unlock()
    return 0
}

/// The values and locks of objects.
private enum ObjectStates {
    struct State {
        weak var object: AnyObject?
        let lock = NSRecursiveLock()
        var lockCount = 0
        var values: [UnsafeRawPointer: Any] = [:]
        var isNeeded: Bool { object != nil && (lockCount > 0 || !values.isEmpty) }
    }

    private static let mutex = NSLock()
    nonisolated(unsafe) private static var states: [ObjectIdentifier: State] = [:]
    /// The number of states at which those that are not needed are removed.
    nonisolated(unsafe) private static var limit = 64

    /// Changes the state of an object.
    ///
    /// Values are released after the lock, because their destructors may call the functions above.
    static func update<Result>(_ object: AnyObject, _ change: (inout State) -> Result) -> Result {
        var released: [State] = []
        let result = mutex.withLock {
            let key = ObjectIdentifier(object)
            var state = State(object: object)
            if let previous = states[key] {
                // The address may be that of another object, which exists no more.
                if previous.object === object { state = previous }
                released.append(previous)
            }
            let result = change(&state)
            states[key] = state.isNeeded ? state : nil
            if states.count > limit {
                released += states.values.filter { !$0.isNeeded }
                states = states.filter { $0.value.isNeeded }
                limit = max(64, states.count * 2)
            }
            return result
        }
        return withExtendedLifetime(released) { result }
    }
}
